"""Goal: every scenario and acceptance criterion of the order documents has a test of its name.

Method: docs/seed-coverage.md maps each title to a test. The test must be in the file that the row
names, and its own name must carry the title.
"""

from __future__ import annotations

import re

import tree

DOCUMENT = "docs/seed-coverage.md"
ROW = re.compile(r"^\| (?P<title>[^|]+?) \| `(?P<path>[^`]+)` \| (?P<test>[\w.]+) \|$", re.M)
# How many titles each document has: a row that gets lost is noticed.
EXPECTED = {"Order frequency limit": 28, "Execution reliability": 11}


def letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def carries(test: str, title: str) -> bool:
    return letters(title) in letters(test)


def holds(path: str, test: str) -> bool:
    text = tree.read(path)
    if path.endswith(".py"):
        return re.search(rf"^def {re.escape(test)}\(", text, re.M) is not None
    suite, _, name = test.partition(".")
    return re.search(rf"TEST(?:_F|_P)?\(\s*{suite}\s*,\s*{name}\s*\)", text) is not None


def sections(text: str) -> dict[str, list[re.Match[str]]]:
    parts = re.split(r"^## ", text, flags=re.M)[1:]
    return {part.split("\n", 1)[0]: list(ROW.finditer(part)) for part in parts}


def test_every_title_has_a_test_of_its_name():
    found = sections(tree.read(DOCUMENT))
    findings = []
    for row in (row for rows in found.values() for row in rows):
        if not holds(row["path"], row["test"]):
            findings.append(f"{row['path']} has no {row['test']}")
        if not carries(row["test"], row["title"]):
            findings.append(f"{row['test']} does not carry the title {row['title']!r}")
    assert not findings, tree.listed(findings)
    assert {name: len(found.get(name, [])) for name in EXPECTED} == EXPECTED


def test_the_rule_notices_a_name_that_does_not_carry_its_title():
    assert carries("test_week_rollover_resets_count", "Week rollover resets count")
    assert carries("Quota.WeekBoundaryCalculationIsMonday", "Week boundary calculation")
    assert not carries("test_week_rollover", "Week rollover resets count")
    row = ROW.search("| A title | `src/a_test.cc` | A.Title |\n")
    assert row is not None and row["path"] == "src/a_test.cc" and row["test"] == "A.Title"
