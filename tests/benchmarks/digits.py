"""The digits job through gpuosd, PyTorch eager and a CUDA Graph, in one run on one GPU.

    python3 tests/benchmarks/digits.py --target T --output digits.csv [--repeats 3]

Each system classifies the 1,797 images one at a time, each row finished before the next one starts,
`repeats` times, the systems taking turns. Outputs of every row are checked against PyTorch in double
precision on the CPU. Prints medians and p99 of the time a row; writes one line a figure in long form,
and every single time to OUTPUT with `-raw` in its name.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import statistics
import sys
import time
from typing import Callable

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python_client"), str(ROOT / "python_client" / "examples")]

import digits  # noqa: E402
import gpuos  # noqa: E402

TASKS = digits.TASKS_A_ROW
Outputs = tuple[torch.Tensor, torch.Tensor]
#: Classifies every row and returns (probabilities, labels, nanoseconds of each row).
System = Callable[[], tuple[torch.Tensor, torch.Tensor, list[int]]]


def poisoned(count: int, device: str) -> Outputs:
    return (
        torch.full((count, digits.PROBABILITIES_PITCH), float("nan"), device=device),
        torch.full((count, digits.LABELS_PITCH), -1, dtype=torch.int64, device=device),
    )


def timed(count: int, step: Callable[[int], None]) -> list[int]:
    times = []
    for i in range(count):
        start = time.perf_counter_ns()
        step(i)
        times.append(time.perf_counter_ns() - start)
    return times


def eager(network: digits.Network, images: torch.Tensor) -> System:
    def run() -> tuple[torch.Tensor, torch.Tensor, list[int]]:
        probabilities, labels = poisoned(len(images), str(images.device))

        def step(i: int) -> None:
            logits = network.logits(images[i : i + 1])
            torch.softmax(logits, -1, out=probabilities[i : i + 1, : digits.CLASSES])
            torch.argmax(logits, -1, out=labels[i, :1])
            torch.cuda.synchronize()

        times = timed(len(images), step)
        return probabilities[:, : digits.CLASSES].cpu(), labels[:, 0].cpu(), times

    return run


def cuda_graph(network: digits.Network, images: torch.Tensor) -> System:
    x = images[:1].clone()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            logits = network.logits(x)
            logits.softmax(-1), logits.argmax(-1)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits = network.logits(x)
        out, label = logits.softmax(-1), logits.argmax(-1)

    def run() -> tuple[torch.Tensor, torch.Tensor, list[int]]:
        probabilities, labels = poisoned(len(images), str(images.device))

        def step(i: int) -> None:
            x.copy_(images[i : i + 1])
            graph.replay()
            probabilities[i, : digits.CLASSES].copy_(out[0])
            labels[i, :1].copy_(label)
            torch.cuda.synchronize()

        times = timed(len(images), step)
        return probabilities[:, : digits.CLASSES].cpu(), labels[:, 0].cpu(), times

    return run


def through_gpuosd(
    session: gpuos.Session, network: digits.Network, images: torch.Tensor
) -> System:
    x = session.share(images)

    def run() -> tuple[torch.Tensor, torch.Tensor, list[int]]:
        outputs = poisoned(len(images), str(images.device))
        torch.cuda.synchronize()
        probabilities, labels = (session.share(each) for each in outputs)

        def row(i: int) -> dict[str, gpuos.Tensor]:
            return {
                "x": x[i : i + 1],
                "probabilities": probabilities[i : i + 1, : digits.CLASSES],
                "label": labels[i, :1],
            }

        program = digits.record(session, network, **row(0))
        times = timed(len(images), lambda i: program.run(**row(i)))
        return outputs[0][:, : digits.CLASSES].cpu(), outputs[1][:, 0].cpu(), times

    return run


def check(name: str, probabilities: torch.Tensor, labels: torch.Tensor, want: Outputs) -> None:
    difference = (probabilities.double() - want[0]).abs().nan_to_num(nan=float("inf")).max().item()
    wrong = int((labels != want[1]).sum())
    if wrong or difference > digits.TOLERANCE:
        raise SystemExit(f"{name}: {wrong} wrong rows, largest difference {difference:.2e}")
    print(f"{name}: all {len(labels)} rows right, largest difference {difference:.1e}")


def reference(network: digits.Network, images: torch.Tensor) -> Outputs:
    double = digits.Network(*(each.double() for each in vars(network).values()))
    logits = double.logits(images.double())
    return logits.softmax(-1), logits.argmax(-1)


def percentile(values: list[float], fraction: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * fraction))]


def measure(options: argparse.Namespace) -> list[list[object]]:
    images, truth = digits.load()
    network = digits.train(images, truth)
    want = reference(network, images)
    session = gpuos.connect(options.target, None, "digits benchmark")
    device = str(session.torch_device)
    on_gpu = digits.Network(*(each.to(device) for each in vars(network).values()))
    rows = images.to(device)
    systems = {
        "eager": eager(on_gpu, rows),
        "cuda_graph": cuda_graph(on_gpu, rows),
        "gpuosd": through_gpuosd(session, on_gpu, rows),
    }
    raw: list[list[object]] = []
    with torch.no_grad():
        for system in systems.values():
            system()  # Warm.
        for repeat in range(options.repeats):
            for name, system in systems.items():
                probabilities, labels, times = system()
                check(name, probabilities, labels, want)
                raw += [[repeat, name, i, ns] for i, ns in enumerate(times)]
    session.close()
    return raw


def summarise(raw: list[list[object]], options: argparse.Namespace) -> list[list[object]]:
    lines: list[list[object]] = []
    for name in ("eager", "cuda_graph", "gpuosd"):
        for repeat in range(options.repeats):
            us = [float(r[3]) / 1000 for r in raw if r[0] == repeat and r[1] == name]
            for metric, value in (
                ("us_per_row_p50", statistics.median(us)),
                ("us_per_row_p99", percentile(us, 0.99)),
                ("us_per_op_p50", statistics.median(us) / TASKS),
            ):
                lines.append([repeat, options.workload, name, metric, f"{value:.3f}", "us", "yes"])
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workload", default="digits", help="name of the row, with its mode")
    options = parser.parse_args()
    raw = measure(options)
    lines = summarise(raw, options)
    with options.output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["run", "workload", "system", "metric", "value", "unit", "checked"])
        writer.writerows(lines)
    with options.output.with_name(f"{options.output.stem}-raw.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["run", "system", "row", "ns"])
        writer.writerows(raw)
    for line in lines:
        print(f"run {line[0]}  {line[2]:<11}{line[3]:<16}{line[4]:>10} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
