"""Rounds of measurement, and what is told of them: shared by tools/bench and tools/compare."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from programs import ROOT, BenchError, Steps, run
from tables import Row, summary, table, written

DOCUMENT = ROOT / "docs" / "performance.md"
BUSY = 0.3  # load from which others disturb what is measured


def measure(steps: Steps, rounds: int, say: Callable[[str], None]) -> dict[str, float]:
    """Every step once a round, in turn; the median of each figure."""
    found: dict[str, list[float]] = {}
    for number in range(rounds):
        for place, (name, step) in enumerate(steps.items(), 1):
            for figure, value in step().items():
                found.setdefault(figure, []).append(value)
            progress = f"round {number + 1} of {rounds}, {place} of {len(steps)}"
            say(f"{progress}: {name} {found[name][-1]:,.1f}")
    return {name: median(values) for name, values in found.items()}


def report(
    rows: Sequence[Row], figures: Mapping[str, float], rounds: int, made_with: Sequence[str]
) -> str:
    """The table, what of it is reached, and where the figures come from."""
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    parts = (
        f"{processor[1] if processor else 'unknown processor'}, {os.cpu_count()} cores",
        run(("g++", "--version")).splitlines()[0],
        *made_with,
    )
    origin = f"Medians of {rounds} rounds. {'; '.join(parts)}."
    return "\n\n".join((table(rows, figures), summary(rows, figures), origin))


def write_down(name: str, text: str) -> None:
    """Between the marks of that name in the document."""
    try:
        DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8"), name, text), "utf-8")
    except ValueError as error:
        raise BenchError(f"{DOCUMENT.name}: {error}") from error


def warn_if_busy(say: Callable[[str], None]) -> None:
    load = os.getloadavg()[0]
    if load > BUSY:
        say(f"this machine is busy (load {load:.1f}): the figures will not be worth much")
