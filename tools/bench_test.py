"""Goal: `make bench` cannot rot, and judges its figures truly.

Method: one short round with the real programs, whose figures are not looked at; made-up figures for
what is reckoned from them.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parent / "bench"


def load() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("bench_tool", str(TOOL))
    spec = importlib.util.spec_from_loader("bench_tool", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    keeps_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = keeps_bytecode
    return module


bench = load()

import limits_table  # noqa: E402  # the tool says where it is
import tables  # noqa: E402
from programs import BenchError  # noqa: E402


@pytest.mark.parametrize("name", bench.TABLES)
def test_a_quick_round_fills_every_row(name: str) -> None:
    ran = subprocess.run(
        [sys.executable, TOOL, "--quick", name], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    rows = bench.TABLES[name].ROWS
    assert len(lines) == 2 + len(rows)
    for row, line in zip(rows, lines[2:], strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[0] == row.what and cells[2] == row.peer
        assert cells[1], line
        assert bool(cells[3]) == bool(cells[4]) == bool(row.peer), line
        assert (cells[6] in ("yes", "MISSED")) == (row.target is not None), line
    assert " targets met" in ran.stdout and "Medians of 1 rounds" in ran.stdout


def test_figures_of_a_quick_round_are_not_written_down() -> None:
    ran = subprocess.run(
        [sys.executable, TOOL, "--quick", "--write"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 2 and "mean nothing" in ran.stderr


def test_a_table_that_is_not_known_is_refused() -> None:
    ran = subprocess.run(
        [sys.executable, TOOL, "--quick", "queue"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 2 and "queue" in ran.stderr and not ran.stdout


def judged(row: object, own: float, theirs: float) -> tuple[str, str, str]:
    *_, ratio, target, met = row.cells({"own": own, "theirs": theirs})  # type: ignore[attr-defined]
    return ratio, target, met


def test_less_time_is_better_and_the_target_is_a_ceiling() -> None:
    row = tables.Row("hot", tables.NS, "own", "peer", "theirs", 25)
    assert judged(row, 25, 50) == ("2.00×", "≤ 25 ns", "yes")
    assert judged(row, 25.1, 5.02) == ("0.20×", "≤ 25 ns", "MISSED")


def test_more_from_a_second_thread_is_better_and_the_target_is_a_floor() -> None:
    row = tables.Row("threads", tables.TIMES, "own", "peer", "theirs", 1.8)
    assert judged(row, 1.8, 0.9) == ("2.00×", "≥ 1.8×", "yes")
    assert judged(row, 1.79, 0.9)[2] == "MISSED"


def test_a_target_for_the_ratio_does_not_look_at_the_figure() -> None:
    row = tables.Row("Redis", tables.RATE, "own", "peer", "theirs", 0.9, target_is_ratio=True)
    assert judged(row, 90, 100) == ("0.90×", "≥ 0.9×", "yes")
    assert judged(row, 8_900, 10_000) == ("0.89×", "≥ 0.9×", "MISSED")


def test_a_row_without_a_target_is_not_judged() -> None:
    row = tables.Row("hot", tables.NS, "own", "peer", "theirs")
    assert judged(row, 1, 1_000) == ("1,000×", "", "")


def test_the_summary_names_what_was_missed() -> None:
    rows = (
        tables.Row("hot", tables.NS, "own", target=25),
        tables.Row("many", tables.NS, "theirs", target=60),
        tables.Row("beside", tables.NS, "own", "peer", "theirs"),
    )
    figures = {"own": 20.0, "theirs": 61.0}
    assert tables.summary(rows, figures) == "1 of 2 targets met; missed: many (≤ 60 ns)."
    assert tables.summary(rows[:1], figures) == "1 of 1 targets met."


def test_the_summary_counts_a_figure_once_for_each_peer() -> None:
    rows = [
        tables.Row("CPU", tables.NS, "own", peer, peer, 2, target_is_ratio=True)
        for peer in ("one", "other")
    ]
    figures = {"own": 10.0, "one": 20.0, "other": 19.0}
    assert tables.summary(rows, figures) == "1 of 2 targets met; missed: CPU (≥ 2× other)."


def test_a_large_target_is_written_out() -> None:
    row = tables.Row("replay", tables.RATE, "own", target=5_000_000)
    assert row.target_text() == "≥ 5,000,000 /s"


def test_the_table_replaces_what_stood_between_its_marks() -> None:
    begin, end = tables.begin_mark("limits"), tables.end_mark("limits")
    other = f"{tables.begin_mark('engine')}\nother\n{tables.end_mark('engine')}\n"
    document = f"a\n{other}{begin}\nold\n{end}\nz\n"
    once = tables.written(document, "limits", "new")
    assert once == f"a\n{other}{begin}\n\nnew\n\n{end}\nz\n"
    assert tables.written(once, "limits", "new") == once
    for broken in ("a\n", begin, end, other):
        with pytest.raises(ValueError, match="limits"):
            tables.written(broken, "limits", "new")


@pytest.mark.parametrize("name", bench.TABLES)
def test_the_document_has_a_place_for_every_table(name: str) -> None:
    tables.written(bench.rounds.DOCUMENT.read_text(encoding="utf-8"), name, "new")


def test_the_command_heard_on_the_wire_is_sent_for_any_key() -> None:
    heard = r'1.5 [0 127.0.0.1:1] "EVALSHA" "ab" "1" "rate:{t:000000000042}:b" "" "1" "a\"\n"'
    words = limits_table.words_of(heard)
    assert words == ("EVALSHA", "ab", "1", "rate:{t:000000000042}:b", "", "1", 'a"\n')
    assert limits_table.any_key(words)[3:] == ("rate:{t:__rand_int__}:b", "", "1", 'a"\n')
    for other in (
        ("EVAL", "text", "1", "000000000042"),
        ("EVALSHA", "ab", "2", "000000000042", "k"),
        ("EVALSHA", "ab", "1", "no digits"),
    ):
        with pytest.raises(BenchError):
            limits_table.any_key(other)
