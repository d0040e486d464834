"""Goal: the table of docs/emulators.md is what happens.

Method: the script that makes it is run, and its rows are looked for in the document.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import table  # noqa: E402


def test_the_document_holds_what_the_script_gives(pawl: Path) -> None:
    told = table.DOCUMENT.read_text().splitlines()
    missing = [row for row in table.rows(pawl) if row not in told]
    assert not missing, "run tests/emulator/table.py --write; missing are\n" + "\n".join(missing)
