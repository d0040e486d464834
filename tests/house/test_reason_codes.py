"""Goal: whoever reads a reason in an audit record finds it explained.

Method: the table of docs/audit-events.md has a row for every name of the enumeration in the code,
in its order, and no other.
"""

from __future__ import annotations

import re

import tree

CODE = "src/core/retry/decide.cc"
DOCUMENT = "docs/audit-events.md"


def names_in_code(text: str) -> list[str]:
    found = re.search(r"all_reason_names = \{(.*?)\};", text, re.DOTALL)
    return re.findall(r'"(\w+)"', found[1]) if found else []


def names_in_document(text: str) -> list[str]:
    found = re.search(r"^\| `reason` \|.*?(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return re.findall(r"^\| `(\w+)` \|", found[0], re.MULTILINE)[1:] if found else []


def test_every_reason_is_documented():
    names = names_in_code(tree.read(CODE))
    assert names, f"no reasons found in {CODE}: the rule checked nothing"
    assert names_in_document(tree.read(DOCUMENT)) == names, (
        f"the table of reasons in {DOCUMENT} and the names in {CODE} differ: every name has a row"
    )


def test_the_rule_sees_a_difference():
    code = 'constexpr X all_reason_names = {\n    "done",\n    "late",\n};'
    document = "\n| `reason` | why |\n| --- | --- |\n| `done` | x |\n| `late` | y |\n\n| `z` | |\n"
    assert names_in_code(code) == names_in_document(document) == ["done", "late"]
    assert names_in_document(document.replace("late", "slow")) == ["done", "slow"]
    assert names_in_document("") == names_in_code("") == []
