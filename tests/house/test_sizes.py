"""Goal: every file can be read in one sitting, on half a screen.

Method: lines are counted and measured in characters.
"""

from __future__ import annotations

import tree

LINES_MAX = 500
TEST_LINES_MAX = 900
COLUMNS_MAX = 100


def too_large(path: str, text: str) -> list[str]:
    lines = text.splitlines()
    most = TEST_LINES_MAX if tree.is_test(path) else LINES_MAX
    findings = [
        f"{path}:{number}: {len(line)} columns: break the line at {COLUMNS_MAX}"
        for number, line in enumerate(lines, 1)
        if len(line) > COLUMNS_MAX
    ]
    if len(lines) > most:
        findings.append(f"{path}: {len(lines)} lines, {most} at most: split it by concept")
    return findings


def test_files_and_lines_are_short():
    findings = [
        found
        for path in tree.files(*tree.SOURCES, "*.py")
        for found in too_large(path, tree.read(path))
    ]
    assert not findings, tree.listed(findings)


def test_files_of_the_panel_are_short():
    findings = [
        found
        for kind in ("*.ts", "*.tsx", "*.css", "*.mjs", "*.js")
        for folder in ("panel/", "tests/panel/")
        for path in tree.files(kind)
        if path.startswith(folder)
        for found in too_large(path, tree.read(path))
    ]
    assert not findings, tree.listed(findings)


def test_the_rule_reports_what_is_too_large():
    assert too_large("src/a.cc", "x" * 101) == ["src/a.cc:1: 101 columns: break the line at 100"]
    assert too_large("src/a.cc", "é" * 100) == []
    assert "501 lines, 500 at most" in too_large("src/a.cc", "x\n" * 501)[0]
    assert too_large("src/a.cc", "x\n" * 500) == []
    assert too_large("src/a_test.cc", "x\n" * 900) == []
    assert too_large("src/a_test.cc", "x\n" * 901)
