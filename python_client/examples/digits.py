"""Classifies scanned digits, one at a time, by small operations that gpuosd runs.

    python3 python_client/examples/digits.py [--target T] [--device D] [--limit N] [--json]

Trains a small network on scikit-learn's 1,797 digits with PyTorch on the CPU, then runs every image
through gpuosd as a batch of seven tasks (matmul, add, relu, matmul, add, softmax, argmax), and
compares row by row with PyTorch. On a GPU the tensors are PyTorch's own, shared by CUDA IPC; on a
host device they lie in sealed memory files. Exits with 1 if a row differs, with 2 if gpuosd
refuses.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import gpuos  # noqa: E402

TOLERANCE = 1e-5
HIDDEN = 32
CLASSES = 10
TASKS_A_ROW = 7
#: Rows of outputs start at multiples of 16 bytes, so that one program serves all of them.
PROBABILITIES_PITCH = 12
LABELS_PITCH = 2


@dataclass
class Network:
    """A trained multi-layer perceptron: relu(x w1 + b1) w2 + b2."""

    w1: torch.Tensor
    b1: torch.Tensor
    w2: torch.Tensor
    b2: torch.Tensor

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.w1 + self.b1) @ self.w2 + self.b2


@dataclass
class Report:
    """What happened."""

    device: str
    rows: int
    accuracy: float
    wrong_rows: int
    largest_difference: float
    tasks_executed: int
    microseconds_a_row: float
    microseconds_a_task: float

    @property
    def ok(self) -> bool:
        return (
            self.wrong_rows == 0
            and self.largest_difference <= TOLERANCE
            and self.tasks_executed >= self.rows * TASKS_A_ROW
        )


def load() -> tuple[torch.Tensor, torch.Tensor]:
    """1,797 images of 8 x 8 as rows of 64 numbers in [0, 1], and their digits."""
    digits = load_digits()
    images = torch.from_numpy((digits.data / 16.0).astype(np.float32))
    return images, torch.from_numpy(digits.target.astype(np.int64))


def train(images: torch.Tensor, labels: torch.Tensor) -> Network:
    """The same network on every run of one machine."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # For matrices this small more threads only get in each other's way.
    model = torch.nn.Sequential(
        torch.nn.Linear(images.shape[1], HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, CLASSES),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    first, last = model[0], model[2]
    return Network(
        first.weight.detach().T, first.bias.detach(), last.weight.detach().T, last.bias.detach()
    )


def shared(session: gpuos.Session, tensor: torch.Tensor) -> gpuos.Tensor:
    """On a GPU a PyTorch CUDA tensor shared in place; on a host device a sealed memory file."""
    return session.share(tensor.to(session.torch_device))


def record(
    session: gpuos.Session,
    network: Network,
    x: gpuos.Tensor,
    probabilities: gpuos.Tensor,
    label: gpuos.Tensor,
) -> gpuos.Program:
    """The network for one image, as a program whose image and outputs are bound at each run."""
    w1, b1, w2, b2 = (
        shared(session, each) for each in (network.w1, network.b1, network.w2, network.b2)
    )
    with session.program(x=x, probabilities=probabilities, label=label) as p:
        hidden = p.relu(p.add(p.matmul(x, w1), b1))
        logits = p.add(p.matmul(hidden, w2), b2)
        p.softmax(logits, out=probabilities)
        p.argmax(logits, out=label)
    return p


def classify(
    session: gpuos.Session, network: Network, images: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Probabilities and labels of all images, and the seconds that their batches took."""
    count = len(images)
    x = shared(session, images)
    # Poisoned, so that an output that no task wrote cannot pass.
    probabilities = shared(session, torch.full((count, PROBABILITIES_PITCH), float("nan")))
    labels = shared(session, torch.full((count, LABELS_PITCH), -1, dtype=torch.int64))

    def row(i: int) -> dict[str, gpuos.Tensor]:
        return {
            "x": x[i : i + 1],
            "probabilities": probabilities[i : i + 1, :CLASSES],
            "label": labels[i, :1],
        }

    program = record(session, network, **row(0))
    start = time.perf_counter()
    for i in range(count):
        program.run(**row(i))
    seconds = time.perf_counter() - start
    return (
        probabilities.torch()[:, :CLASSES].cpu().clone(),
        labels.torch()[:, 0].cpu().clone(),
        seconds,
    )


def tasks_completed(target: str | None, device: str) -> int:
    for status in gpuos.status(target)["devices"]:
        if status["device"]["name"] == device:
            return int(status["counters"]["tasks_completed"])
    raise SystemExit(f"the status of gpuosd does not list {device}")


def run(options: argparse.Namespace) -> Report:
    images, truth = load()
    network = train(images, truth)
    images, truth = images[: options.limit], truth[: options.limit]
    with torch.no_grad():
        reference = torch.cat([network.logits(row[None]) for row in images])
    with gpuos.connect(options.target, options.device, "digits") as session:
        before = tasks_completed(options.target, session.device)
        probabilities, labels, seconds = classify(session, network, images)
        executed = tasks_completed(options.target, session.device) - before
        device = session.device
    difference = (probabilities - reference.softmax(-1)).abs().nan_to_num(nan=float("inf"))
    return Report(
        device=device,
        rows=len(images),
        accuracy=(labels == truth).double().mean().item(),
        wrong_rows=int((labels != reference.argmax(-1)).sum()),
        largest_difference=difference.max().item(),
        tasks_executed=executed,
        microseconds_a_row=seconds * 1e6 / len(images),
        microseconds_a_task=seconds * 1e6 / (len(images) * TASKS_A_ROW),
    )


def show(report: Report) -> None:
    lines: list[tuple[str, Any]] = [
        ("device", report.device),
        ("rows classified", f"{report.rows:,}"),
        ("accuracy", f"{report.accuracy:.2%}"),
        ("rows that differ from PyTorch", report.wrong_rows),
        ("largest difference", f"{report.largest_difference:.2e} (at most {TOLERANCE:.0e})"),
        ("tasks executed", f"{report.tasks_executed:,}"),
        (
            "time",
            f"{report.microseconds_a_task:.1f} us a task, {report.microseconds_a_row:.0f} us a row",
        ),
    ]
    for name, value in lines:
        print(f"{name + ':':32}{value}")
    print("every row agrees with PyTorch" if report.ok else "MISMATCH with PyTorch")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not 1 or more")
    return value


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", help="address of gpuosd (default $GPUOS_TARGET)")
    parser.add_argument("--device", help="such as host:0 or cuda:0 (default: gpuosd's first)")
    parser.add_argument("--limit", type=positive, help="classify only the first LIMIT images")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        report = run(options)
    except gpuos.GpuosError as error:
        print(f"digits: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({**asdict(report), "ok": report.ok}))
    else:
        show(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
