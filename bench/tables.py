"""Figures beside figures: units, rows, and the table they make. bench/*_table.py have the rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Unit:
    name: str
    digits: int
    more_is_better: bool

    def text(self, figure: float) -> str:
        return self.after(f"{figure:,.{self.digits}f}")

    def after(self, number: str) -> str:
        return number + ("" if self.name == "×" else " ") + self.name


NS = Unit("ns", 1, False)
US = Unit("µs", 1, False)
MS = Unit("ms", 2, False)
BYTES = Unit("bytes", 0, False)
RATE = Unit("/s", 0, True)
TIMES = Unit("×", 2, True)


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure of pawl's beside a peer's. The target is for pawl's figure, or for the ratio."""

    what: str
    unit: Unit
    own: str  # names of figures
    peer: str = ""
    theirs: str = ""
    target: float | None = None
    target_is_ratio: bool = False

    def ratio(self, figures: Mapping[str, float]) -> float | None:
        """So many times better is pawl."""
        if not self.theirs:
            return None
        own, theirs = figures[self.own], figures[self.theirs]
        return own / theirs if self.unit.more_is_better else theirs / own

    def is_met(self, figures: Mapping[str, float]) -> bool | None:
        if self.target is None:
            return None
        if self.target_is_ratio:
            return (self.ratio(figures) or 0.0) >= self.target
        own = figures[self.own]
        return own >= self.target if self.unit.more_is_better else own <= self.target

    def target_text(self) -> str:
        if self.target is None:
            return ""
        if self.target_is_ratio:
            return f"≥ {self.target:g}×"
        sign = "≥" if self.unit.more_is_better else "≤"
        return f"{sign} {self.unit.after(f'{self.target:,.10g}')}"

    def wanted(self) -> str:
        """The target, and whose figure it is a ratio of."""
        return f"{self.target_text()} {self.peer}" if self.target_is_ratio else self.target_text()

    def cells(self, figures: Mapping[str, float]) -> tuple[str, ...]:
        ratio, met = self.ratio(figures), self.is_met(figures)
        return (
            self.what,
            self.unit.text(figures[self.own]),
            self.peer,
            self.unit.text(figures[self.theirs]) if self.theirs else "",
            "" if ratio is None else f"{ratio:.2f}×" if ratio < 100 else f"{ratio:,.0f}×",
            self.target_text(),
            "" if met is None else "yes" if met else "MISSED",
        )


def table(rows: Sequence[Row], figures: Mapping[str, float]) -> str:
    head = ("what", "pawl", "peer", "peer's", "pawl is", "target", "met")
    return aligned([head, *(row.cells(figures) for row in rows)], right=(1, 3, 4, 5))


def aligned(lines: Sequence[Sequence[str]], right: Collection[int]) -> str:
    """Markdown that is aligned as it stands; the first line is the head."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rule = ["-" * (width - 1) + ("-:"[i in right]) for i, width in enumerate(widths)]
    shown = [
        [cell.rjust(width) if i in right else cell.ljust(width)
         for i, (cell, width) in enumerate(zip(line, widths, strict=True))]
        for line in lines
    ]  # fmt: skip
    return "\n".join("| " + " | ".join(line) + " |" for line in (shown[0], rule, *shown[1:]))


def summary(rows: Sequence[Row], figures: Mapping[str, float]) -> str:
    judged = [row for row in rows if row.target is not None]
    missed = [f"{row.what} ({row.wanted()})" for row in judged if not row.is_met(figures)]
    text = f"{len(judged) - len(missed)} of {len(judged)} targets met"
    return f"{text}; missed: {', '.join(missed)}." if missed else f"{text}."


def begin_mark(name: str) -> str:
    return f"<!-- {name}: begin -->"


def end_mark(name: str) -> str:
    return f"<!-- {name}: end -->"


def written(document: str, name: str, text: str) -> str:
    """The document with the text between the marks of that name; ValueError where it has none."""
    before, begin, rest = document.partition(begin_mark(name))
    _, end, after = rest.partition(end_mark(name))
    if not begin or not end:
        raise ValueError(f"there is no {begin_mark(name)} … {end_mark(name)} to write between")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"
