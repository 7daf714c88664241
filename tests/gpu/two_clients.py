"""Two client processes submit batches on CUDA tensors; then status must show how the worker lived.

dedicated: one launch for all of them. elastic: the worker left when it was idle and came back.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python_client"))

import gpuos  # noqa: E402

ELEMENTS = 1000


def counters() -> dict[str, int]:
    return gpuos.status()["devices"][0]["counters"]


def client(batches: int, step: float) -> int:
    """Adds `step` to a tensor `batches` times; every sum must be there."""
    with gpuos.connect(client_name=f"adds {step}") as session:
        total = session.share(torch.zeros(ELEMENTS, device="cuda"))
        amount = session.share(torch.full((ELEMENTS,), step, device="cuda"))
        with session.program(total=total) as program:
            program.add(total, amount, out=total)
        for i in range(batches):
            program.run(wait=i % 50 == 49 or i == batches - 1)
        values = total.torch().unique().tolist()
        print(f"{batches} batches of +{step}: {values}", flush=True)
        sys.stdin.read()  # The session stays open until the counters were read.
    return 0 if values == [batches * step] else 1


def rendezvous() -> bool:
    """Two tasks that wait for each other's flag: both see it only if they run at once."""
    with gpuos.connect(client_name="rendezvous") as session:
        flags = session.share(torch.zeros(2, dtype=torch.int64, device="cuda"))
        met = [session.share(torch.zeros(1, dtype=torch.bool, device="cuda")) for _ in range(2)]
        with session.batch() as batch:
            for mine in range(2):
                attributes = {"mine": mine, "other": 1 - mine, "timeout_ms": 2000}
                batch.call("test.rendezvous", [met[mine], flags], attributes=attributes)
        return all(bool(each.torch().item()) for each in met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=5000)
    parser.add_argument("--expect", choices=("dedicated", "elastic"), default="dedicated")
    parser.add_argument("--child", type=float)
    options = parser.parse_args()
    if options.child is not None:
        return client(options.batches, options.child)
    before = counters()
    command = [sys.executable, __file__, f"--batches={options.batches}"]
    children = [
        subprocess.Popen(
            [*command, f"--child={step}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for step in (1.0, 2.0)
    ]
    for child in children:
        assert child.stdout is not None
        print(child.stdout.readline().strip())
    after = counters()
    print(f"before: {before}\nafter: {after}")
    for child in children:
        child.communicate(timeout=60)
    done = int(after["batches_completed"]) - int(before["batches_completed"])
    launches = int(after["worker_launches"])
    print(f"{done} batches, {launches} launches, {after['worker_parks']} parks")
    ok = done == 2 * options.batches and all(child.returncode == 0 for child in children)
    if options.expect == "dedicated":
        ok = ok and launches == 1 and bool(after["worker_resident"])
    else:
        time.sleep(0.5)
        idle = counters()
        print(f"resident after half a second without work: {idle['worker_resident']}")
        ok = ok and launches > 1 and not idle["worker_resident"]
    met = rendezvous()
    print(f"two tasks that wait for each other's flag met: {met}")
    ok = ok and met
    print("ok" if ok else "WRONG")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
