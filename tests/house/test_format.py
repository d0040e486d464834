"""Goal: nobody has to think about layout, in a review or while writing.

Method: clang-format over every C++ file of the tree must have nothing to change.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import tree


def misformatted(paths: Iterable[str | Path]) -> str:
    """What clang-format would change, in its own words; empty when nothing."""
    style = f"--style=file:{tree.ROOT / '.clang-format'}"
    run = subprocess.run(
        ["clang-format-19", style, "--dry-run", "-Werror", *paths],
        cwd=tree.ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return "" if run.returncode == 0 else run.stderr or f"clang-format ended with {run.returncode}"


def test_every_file_is_formatted():
    changes = misformatted(tree.files(*tree.SOURCES))
    named = sorted({line.split(":")[0] for line in changes.splitlines() if ": error:" in line})
    assert not changes, f"run `make format`; it will change {', '.join(named) or changes}"


def test_the_rule_reports_a_file_that_is_not(tmp_path: Path):
    example = tmp_path / "example.cc"
    example.write_text("int  f( ){return 1 ;}\n")
    assert "example.cc:1" in misformatted([example])
    example.write_text("int f() {\n  return 1;\n}\n")
    assert misformatted([example]) == ""
