"""Plants writes past the end of an allocation, for a memory checker to find.

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
# A few bytes beyond, and far from everything that is mapped. The second is certain to be found; the
# first only if nothing else lies behind the allocation in the executor.
BEYOND = (3, 1 << 40)


def plant(beyond: int) -> None:
    with gpuos.connect(client_name="planted write") as session:
        out = session.share(torch.zeros(ELEMENTS, device="cuda"))
        batch = session.batch()
        batch.call("test.out_of_bounds", out, attributes={"bytes": beyond})
        try:
            batch.submit(wait=True)
            print(f"the batch that writes {beyond} bytes beyond finished")
        except gpuos.GpuosError as error:
            print(f"the batch that writes {beyond} bytes beyond failed: {error}")


def main() -> int:
    for beyond in BEYOND:
        plant(beyond)
    return 0


if __name__ == "__main__":
    sys.exit(main())
