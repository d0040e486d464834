"""Goal: `make compare` cannot rot, and judges its figures truly.

Method: one short round with the real servers, whose figures are not looked at; made-up figures for
what is reckoned from them, and made-up words of wrk's.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent / "compare"


sys.path[:0] = [str(TOOL.parents[1] / "tests" / "services"), str(TOOL.parents[1] / "bench")]

import gateway_table  # noqa: E402
import plots  # noqa: E402
import proxies  # noqa: E402
import queue_loads  # noqa: E402
import queue_table  # noqa: E402
import rounds  # noqa: E402
import tables  # noqa: E402
from programs import BenchError  # noqa: E402

OWN = gateway_table.PAWLS["disk"]
WRK = """    Req/Sec    21.70k     6.58k   31.14k    70.99%
  Latency Distribution
     50%    0.90ms
     99%    1.20s
  1000 requests in 1.00s, 0.2MB read
{more}Requests/sec:   1000.50
"""


def test_a_quick_round_of_the_gateway_fills_every_row() -> None:
    ran = subprocess.run(
        [sys.executable, TOOL, "gateway", "--quick", "--audit", "disk"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [line.strip("|").split("|") for line in ran.stdout.splitlines() if line[:1] == "|"]
    judged = gateway_table.rows([OWN])
    read, table = lines[: -len(judged) - 2], lines[-len(judged) :]
    loads = 3 * len(gateway_table.CONNECTIONS) + 3 + 3 + len(gateway_table.STORES)
    assert len(read) == 2 + loads
    assert all(float(cells[5].replace(",", "")) > 0 for cells in read[2:])
    assert [cells[0].strip() for cells in table] == [row.what for row in judged]
    assert all(cells[6].strip() in ("yes", "MISSED") for cells in table)
    assert " targets met" in ran.stdout and "Medians of 1 rounds" in ran.stdout


def test_a_quick_round_of_the_queue_fills_every_row() -> None:
    ran = subprocess.run(
        [sys.executable, TOOL, "queue", "--quick"], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [line.strip("|").split("|") for line in ran.stdout.splitlines() if line[:1] == "|"]
    rows = queue_table.rows(queue_table.QUICK)
    assert [cells[0].strip() for cells in lines[2:]] == [row.what for row in rows]
    for row, cells in zip(rows, lines[2:], strict=True):
        assert cells[1].strip(), cells
        assert (cells[6].strip() in ("yes", "MISSED")) == (row.target is not None), cells
    assert " targets met" in ran.stdout and "Load average when the run began" in ran.stdout


def test_figures_of_a_quick_round_are_not_written_down() -> None:
    ran = subprocess.run(
        [sys.executable, TOOL, "--quick", "--write"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 2 and "mean nothing" in ran.stderr


@pytest.mark.parametrize("name", ["gateway", "queue"])
def test_the_document_has_a_place_for_the_table(name: str) -> None:
    tables.written(rounds.DOCUMENT.read_text(encoding="utf-8"), name, "new")


def judged(what: str, own: float, theirs: float = 0.0) -> str:
    row = next(row for row in gateway_table.rows([OWN]) if row.what == f"{OWN}: {what}")
    return row.cells({row.own: own, row.theirs: theirs})[-1]


def test_each_figure_is_held_against_its_target() -> None:
    for what, own, theirs in (
        ("CPU", 8.4, 10),
        ("user CPU", 2.0, 4.0),
        ("requests", 100, 100),
        ("p99", 1.5, 1.5),
        ("CPU of a refusal", 8.9, 10),
        ("writes, memory", 15_000, 1_000),
        ("writes, SQLite", 5_000, 0),
        ("writes, Redis", 20_000, 0),
    ):
        assert judged(what, own, theirs) == "yes", what
        worse = own * 0.97 if what.startswith(("req", "writes")) else own * 1.03
        assert judged(what, worse, theirs) == "MISSED", what


def test_memory_is_held_against_its_target() -> None:
    row = gateway_table.rows([OWN])[-1]
    assert row.what == "memory a tenant"
    assert [row.is_met({row.own: size}) for size in (128, 129)] == [True, False]


def test_pawl_with_each_log_is_judged_alike() -> None:
    both = gateway_table.rows([*gateway_table.PAWLS.values()])[:-1]
    of_each = [
        [(row.what.partition(": ")[2], row.peer, row.target) for row in both
         if row.what.startswith(f"{name}: ")]
        for name in gateway_table.PAWLS.values()
    ]  # fmt: skip
    assert of_each[0] == of_each[1] and len(both) == 2 * len(of_each[0])


@pytest.mark.parametrize(
    ("others", "refused", "is_right"),
    [(0, False, True), (1, False, False), (1000, False, False), (1000, True, True),
     (995, True, True), (980, True, False), (0, True, False)],
)  # fmt: skip
def test_a_load_that_was_answered_otherwise_is_no_figure(
    others: int, refused: bool, is_right: bool
) -> None:
    text = WRK.format(more=f"  Non-2xx or 3xx responses: {others}\n" if others else "")
    if is_right:
        assert proxies.answered(text, refused) == 1000
        return
    with pytest.raises(BenchError, match="did not answer as it should"):
        proxies.answered(text, refused)


def test_lost_connections_and_silence_are_no_figure() -> None:
    lost = WRK.format(more="  Socket errors: connect 0, read 1, write 0, timeout 0\n")
    with pytest.raises(BenchError):
        proxies.answered(lost, False)
    with pytest.raises(BenchError, match="said nothing"):
        proxies.answered("", False)


def test_what_a_load_took_is_reckoned_for_a_request() -> None:
    found = proxies.reading(WRK.format(more=""), False, (0.004, 0.011))
    assert (found.rate, found.p50, found.p99) == (1000.5, 0.9, 1200.0)
    assert found.figures("n")["n cpu"] == pytest.approx(15) and found.user == pytest.approx(4)


def test_latency_is_read_in_every_unit() -> None:
    assert [proxies.to_ms(text) for text in ("250us", "1.5ms", "1.20s")] == [0.25, 1.5, 1200.0]


def test_every_queue_has_the_same_load() -> None:
    for load in queue_table.loads(queue_table.FULL):
        parts = [*load.roles()]
        assert len(parts) == load.processes
        submit = [part for role, part in parts if role in ("both", "submit")]
        work = [part for role, part in parts if role in ("both", "work")]
        assert sum(part.tasks for part in submit) == load.tasks
        assert sum(part.submitters for part in submit) == load.submitters
        assert sum(part.concurrency for part in work) == load.concurrency


def test_a_load_lasts_from_the_first_submission_to_the_last_completion() -> None:
    told = [
        {"began": 10.0, "submitted": 12.0, "completed": 0.0},
        {"began": 10.5, "ended": 14.0, "completed": 30.0},
        {"began": 10.5, "ended": 13.0, "completed": 10.0},
    ]
    assert queue_loads.rate(told) == 10.0


def test_a_process_that_fails_gives_no_figure() -> None:
    failing = [sys.executable, "-c", "print('ready'); input(); raise SystemExit('no disk')"]
    with pytest.raises(BenchError, match="no disk"):
        queue_loads.through([failing], {}, 10)
    with pytest.raises(BenchError, match="no disk"):
        queue_loads.alone(failing)
    with pytest.raises(BenchError, match="make setup build"):
        queue_loads.alone(["no-such-program"])


def test_a_process_is_stopped_when_all_tasks_are_completed() -> None:
    half = "print('ready'); input(); print('completed 5', flush=True); input(); print('{\"n\": 1}')"
    told = queue_loads.through([[sys.executable, "-uc", half]] * 2, {}, 10)
    assert told == [{"n": 1.0}] * 2


def test_requests_are_held_against_the_tasks() -> None:
    rows = {row.what: row for row in queue_table.rows(queue_table.FULL)}
    more = rows["S3, 100 times the tasks"]
    assert [more.is_met({more.own: times}) for times in (100, 100.1)] == [True, False]
    lists = rows["S3, 1,000 tasks/s: LIST a task"]
    assert [lists.is_met({lists.own: number}) for number in (0, 0.0001)] == [True, False]


def test_a_plot_has_its_points_and_their_figures() -> None:
    text = plots.log_log(
        "a & b", ("x", "y"), {"one": [(10, 20), (1000, 2000)], "other": [(10, 1), (1000, 9)]}
    )
    assert text.startswith("<svg ") and "a &amp; b" in text
    assert text.count("<circle") == 2 and ">2,000</text>" in text
    assert [x for x in ("10", "100", "1,000") if f">{x}</text>" in text] == ["10", "100", "1,000"]
