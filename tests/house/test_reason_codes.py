"""Goal: whoever reads a reason in an audit record finds it explained.

Method: each table of docs/audit-events.md has a row for every name of its enumeration in the code,
in its order, and no other.
"""

from __future__ import annotations

import re

import tree

DOCUMENT = "docs/audit-events.md"
# The head of the table, the names in the code, and where they stand.
TABLES = [
    ("reason", "all_reason_names", "src/core/retry/decide.cc"),
    ("decision.reason", "order_reason_names", "src/core/order/decision.cc"),
]


def names_in_code(text: str, variable: str) -> list[str]:
    found = re.search(variable + r" = \{(.*?)\};", text, re.DOTALL)
    return re.findall(r'"(\w+)"', found[1]) if found else []


def names_in_document(text: str, head: str) -> list[str]:
    pattern = r"^\| `" + re.escape(head) + r"` \|.*?(?:\n\n|\Z)"
    found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    return re.findall(r"^\| `([\w.]+)` \|", found[0], re.MULTILINE)[1:] if found else []


def test_every_reason_is_documented():
    for head, variable, code in TABLES:
        names = names_in_code(tree.read(code), variable)
        assert names, f"no reasons found in {code}: the rule checked nothing"
        assert names_in_document(tree.read(DOCUMENT), head) == names, (
            f"the table of `{head}` in {DOCUMENT} and the names in {code} differ:"
            " every name has a row"
        )


def test_the_rule_sees_a_difference():
    code = 'constexpr X some_names = {\n    "done",\n    "late",\n};'
    document = "\n| `a.b` | why |\n| --- | --- |\n| `done` | x |\n| `late` | y |\n\n| `z` | |\n"
    names = names_in_code(code, "some_names")
    assert names == names_in_document(document, "a.b") == ["done", "late"]
    assert names_in_document(document.replace("late", "slow"), "a.b") == ["done", "slow"]
    assert names_in_document("", "a.b") == names_in_code("", "some_names") == []
