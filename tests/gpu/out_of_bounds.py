"""Plants a write three bytes past the end of an allocation, for a memory checker to find.

Needs gpuosd with gpuos-executor-test. What the batch answers depends on the checker; only the
checker's report counts.
"""

from __future__ import annotations

import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python_client"))

import gpuos  # noqa: E402

# Larger than what PyTorch's allocator cuts from a shared block, so its end is the allocation's end.
ELEMENTS = 8 << 20


def main() -> int:
    with gpuos.connect(client_name="planted write") as session:
        out = session.share(torch.zeros(ELEMENTS, device="cuda"))
        batch = session.batch()
        batch.call("test.out_of_bounds", out, attributes={"bytes": 3})
        try:
            batch.submit(wait=True)
            print("the batch with the planted write finished")
        except gpuos.GpuosError as error:
            print(f"the batch with the planted write was refused: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
