#!/usr/bin/env python3
"""Prints the table of docs/emulators.md: what a naive retry loop does, and what pawl does, each on
the same fault script of an emulator of its own.

    tests/emulator/table.py build/pawl            prints it
    tests/emulator/table.py build/pawl --write    puts it into the document

The numbers are the emulator's own: orders that it accepted for the one intent, and calls that it
refused with a limit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from emulation import Emulator, emulator  # noqa: E402
from naive import Naive  # noqa: E402
from trading import Trader  # noqa: E402

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "emulators.md"
BEGIN, END = "<!-- made by tests/emulator/table.py -->", "<!-- end of it -->"
REFERENCE = "intent"
QUICK = "  settle: 300ms\n  timeout: 500ms\n"
NO_QUOTA = "{ enabled: false }"
SLOW = {"delay": "2s"}


@dataclass
class Scene:
    venue: str
    what: str
    fault: dict
    intents: int = 1


def fault(kind: str, **more: object) -> dict:
    return {"script": [{"do": kind, "when": {"call": "place"}, **more}]}


SCENES = (
    Scene("saxo", "nothing goes wrong", {}),
    Scene("saxo", "three orders, one behind the other", {}, 3),
    Scene("saxo", "the answer is lost (`drop_after_accept`)", fault("drop_after_accept")),
    Scene("saxo", "the call is lost (`drop_before_accept`)", fault("drop_before_accept")),
    Scene("saxo", "the answer is late (`delay_after_accept`)", fault("delay_after_accept", **SLOW)),
    Scene("saxo", "half an answer (`half_answer`)", fault("half_answer")),
    Scene("saxo", "a page of 502 (`html_502_after_accept`)", fault("html_502_after_accept")),
    Scene(
        "saxo",
        "`trade_not_completed`, then filled",
        fault("trade_not_completed", resolves="FinalFill", after="100ms"),
    ),
    Scene("saxo", "a 400 with a live order (`order_id_in_400`)", fault("order_id_in_400")),
    Scene("saxo", "a 200 that says no (`error_in_200`)", fault("error_in_200")),
    Scene("saxo", "429 twice (`rate_limited`)", fault("rate_limited", times=2)),
    Scene("okx", "nothing goes wrong", {}),
    Scene("okx", "the answer is lost (`drop_after_accept`)", fault("drop_after_accept")),
    Scene("okx", "the answer is late (`delay_after_accept`)", fault("delay_after_accept", **SLOW)),
    Scene("okx", "50004 and yet placed (`error_after`)", fault("error_after", code="50004")),
    Scene("okx", "51149 and yet placed (`error_after`)", fault("error_after", code="51149")),
    Scene("okx", "code 0, sCode 51008 (`s_code_in_0`)", fault("s_code_in_0", code="51008")),
    Scene("okx", "429 twice (`rate_limited`)", fault("rate_limited", times=2)),
)


def references(scene: Scene) -> list[str]:
    return [f"{REFERENCE}{number}" for number in range(1, scene.intents + 1)]


def outcome(market: Emulator, believed: list[str], scene: Scene) -> str:
    accepted = sum(1 for row in market.log() if row["accepted"])
    refused = sum(1 for row in market.log() if row["operation"] == "place" and row["status"] == 429)
    orders = f"{accepted} order{'' if accepted == 1 else 's'}"
    if accepted > scene.intents:
        orders = f"**{orders}**"
    says = ", ".join(sorted(set(believed)))
    good = "placed" if accepted else "failed"
    if says != good:
        says = f"**{says}**"
    limit = f", {refused} × 429" if refused else ""
    return f"{orders}, says {says}{limit}"


def run_naive(market: Emulator, scene: Scene, _pawl: Path) -> str:
    bot = Naive(scene.venue, market.address)
    return outcome(market, [bot.place(one) for one in references(scene)], scene)


def run_pawl(market: Emulator, scene: Scene, pawl: Path) -> str:
    trader = Trader(pawl, market.folder, scene.venue, market)
    trader.configure(NO_QUOTA, QUICK)
    words = {"confirmed": "placed", "rejected": "failed", "unresolved": "unresolved"}
    believed = [words[trader.place(one).json()["status"]] for one in references(scene)]
    return outcome(market, believed, scene)


def column(run: Callable[[Emulator, Scene, Path], str], scene: Scene, pawl: Path) -> str:
    with tempfile.TemporaryDirectory() as name:
        with emulator(pawl, scene.venue, Path(name), scene.fault) as market:
            return run(market, scene, pawl)


def rows(pawl: Path) -> Iterator[str]:
    yield "| venue | fault | a naive loop | pawl |"
    yield "| --- | --- | --- | --- |"
    for scene in SCENES:
        naive, ours = (column(run, scene, pawl) for run in (run_naive, run_pawl))
        yield f"| {scene.venue} | {scene.what} | {naive} | {ours} |"


def write(text: str) -> None:
    """In place of the table that is there."""
    before, found, _ = DOCUMENT.read_text().partition(BEGIN)
    _, end, after = DOCUMENT.read_text().partition(END)
    assert found and end, f"{DOCUMENT} has lost the marks of the table"
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pawl", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    made = []
    for row in rows(asked.pawl.absolute()):
        print(row, flush=True)
        made.append(row)
    if asked.write:
        write("\n".join(made))
