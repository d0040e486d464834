"""Goal: no decision without its test.

Method: every x.cc of base and core has its x_test.cc beside it.
"""

from __future__ import annotations

from collections.abc import Iterable

import tree


def without_test(paths: Iterable[str]) -> list[str]:
    present = set(paths)
    code = [path for path in sorted(present) if path.endswith(".cc") and not tree.is_test(path)]
    return [
        f"{path} has no test: write {path.removesuffix('.cc')}_test.cc beside it"
        for path in code
        if f"{path.removesuffix('.cc')}_test.cc" not in present
    ]


def test_every_file_of_base_and_core_has_its_test():
    for pattern in ("src/base/*.cc", "src/core/*.cc"):
        findings = without_test(tree.files(pattern))
        assert not findings, tree.listed(findings)


def test_the_rule_reports_code_without_a_test():
    paths = ["src/core/a.cc", "src/core/a_test.cc", "src/core/b.cc", "src/base/b_test.cc"]
    assert without_test(paths) == ["src/core/b.cc has no test: write src/core/b_test.cc beside it"]
    assert without_test(["src/core/a.cc", "src/core/a_test.cc", "src/core/a_fuzz.cc"]) == []
