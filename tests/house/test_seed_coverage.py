"""Goal: every scenario, behaviour and criterion of the documents that orders and the queue were
built from has a test of its name.

Method: docs/seed-coverage.md maps each title to a test. The test must be in the file that the row
names, and its own name must carry the title.
"""

from __future__ import annotations

import re

import tree

DOCUMENT = "docs/seed-coverage.md"
ROW = re.compile(r"^\| (?P<title>[^|]+?) \| `(?P<path>[^`]+)` \| (?P<test>[\w.]+) \|$", re.M)
# How many titles a document has: a row that gets lost is noticed.
EXPECTED = {"Order frequency limit": 28, "Execution reliability": 11}
# The third document has no numbered scenarios, so what is held against it is named: its headings,
# the comments of its programs, the rows of its tables and its questions.
DURABLE_SLEEP = """
Updates available_at to now plus delay
Returns task to pending status
Frees worker to process other tasks
Task becomes claimable again after delay
call_api
Submit with max_reschedules
In handler
Submit with max_reschedules
Puts a task off
Submit with max reschedules
Check task reschedule count
Task fields
Reschedule flow
Reschedule vs retry
When max_reschedules exceeded
API rate limiting
Upstream backpressure
Time-based processing
Distributed rate limiting
Circuit breaker pattern
delay_seconds = 0
Very large delays
Reschedule during retry
Task timeout during reschedule wait
Task state machine update
tasks_rescheduled_total
reschedule_delay_seconds
Version history
The history of a task that slept
S3 is the only dependency
No additional S3 operations per claim
Crash-safe
Limit rate even when API does not return 429
Unlimited reschedules
Global rate limits across all workers
"""


def letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def carries(test: str, title: str) -> bool:
    return letters(title) in letters(test)


def holds(path: str, test: str) -> bool:
    text = tree.read(path)
    if path.endswith(".py"):
        return re.search(rf"^(async )?def {re.escape(test)}\(", text, re.M) is not None
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
    assert [row["title"] for row in found["Durable sleep"]] == DURABLE_SLEEP.split("\n")[1:-1]


def test_the_rule_notices_a_name_that_does_not_carry_its_title():
    assert carries("test_week_rollover_resets_count", "Week rollover resets count")
    assert carries("Quota.WeekBoundaryCalculationIsMonday", "Week boundary calculation")
    assert not carries("test_week_rollover", "Week rollover resets count")
    row = ROW.search("| A title | `src/a_test.cc` | A.Title |\n")
    assert row is not None and row["path"] == "src/a_test.cc" and row["test"] == "A.Title"
