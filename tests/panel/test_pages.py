"""Goal: each page does its job for a person.

Method: every *.test.mjs beside this file, in a browser against a real `pawl serve`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = sorted(HERE.glob("*.test.mjs"))


def test_there_are_pages_to_test():
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name.removesuffix(".test.mjs"))
def test_page(in_browser: Callable[[Path], None], file: Path):
    in_browser(file)
