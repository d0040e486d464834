"""Plots as SVG, for documents: few points, both axes by powers of ten, on light and on dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 40, 50, 60
COLOURS = ("#2f81f7", "#8b949e", "#d29922")
GREY = "#8b949e"

Points = Sequence[tuple[float, float]]


def log_log(title: str, axes: tuple[str, str], lines: Mapping[str, Points]) -> str:
    """The first line with its figures beside it; the others are to compare with."""
    across = _Axis([x for points in lines.values() for x, _ in points], LEFT, WIDTH - RIGHT)
    upwards = _Axis([y for points in lines.values() for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [
        _text(WIDTH / 2, 24, title, "middle", 15),
        _text(WIDTH / 2, HEIGHT - 14, axes[0], "middle"),
        f'<g transform="rotate(-90 18 {HEIGHT / 2:g})">'
        f"{_text(18, HEIGHT / 2, axes[1], 'middle')}</g>",
    ]
    for power in across.powers():
        x = across.place(power)
        parts.append(_stroke([(x, TOP), (x, HEIGHT - BOTTOM)], GREY, 'stroke-opacity="0.3"'))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, f"{power:,.0f}", "middle"))
    for power in upwards.powers():
        y = upwards.place(power)
        parts.append(_stroke([(LEFT, y), (WIDTH - RIGHT, y)], GREY, 'stroke-opacity="0.3"'))
        parts.append(_text(LEFT - 8, y + 4, f"{power:,.0f}", "end"))
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        placed = [(across.place(x), upwards.place(y)) for x, y in points]
        parts.append(_stroke(placed, colour, 'stroke-dasharray="5 5"' if number else ""))
        parts.append(_text(LEFT + 14, TOP + 20 + 18 * number, name, "start", colour=colour))
        if number:
            continue
        for (x, y), (_, value) in zip(placed, points, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
            parts.append(_text(x - 8, y + 18, f"{value:,.0f}", "start", colour=colour))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    kind = 'role="img" font-family="sans-serif" fill="none"'
    begin = (f"{head} {kind}>", f"<title>{escape(title)}</title>")
    return "\n".join((*begin, *parts, "</svg>", ""))


class _Axis:
    """From one power of ten to another."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self._low = math.floor(math.log10(max(min(values), 1)))
        self._high = max(math.ceil(math.log10(max(*values, 1))), self._low + 1)
        self._begin, self._end = begin, end

    def powers(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]

    def place(self, value: float) -> float:
        part = (math.log10(max(value, 1)) - self._low) / (self._high - self._low)
        return self._begin + part * (self._end - self._begin)


def _stroke(points: Points, colour: str, more: str) -> str:
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{way}" stroke="{colour}" stroke-width="1.5" {more}/>'


def _text(
    x: float, y: float, text: str, anchor: str, size: int = 12, colour: str = GREY
) -> str:  # fmt: skip
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {where} fill="{colour}">{escape(text)}</text>'
