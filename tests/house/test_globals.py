"""Goal: no state outside of objects: two engines in one process must not know of each other.

Method: nm over the rooms' archives. A variable in a section that can be written while the program
runs is a finding; constants lie in sections that cannot.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tree

# .data.rel.ro is written by the loader alone.
WRITABLE = r"\.(data(?!\.rel\.ro)|bss|tdata|tbss).*"

# Statics that come in with the headers of libraries, and the compiler's own.
NOT_OURS = (
    r"(std|boost|fmt|spdlog|YAML|CLI|prometheus|__gnu_cxx)::.*",
    r"guard variable for .*",  # the variable itself is a finding
    r"DW\.ref\..*",
)

# Ours, each with its reason.
ALLOWED = {
    "pawl::config::api_key_fields()::fields": "const; made at the first use",
    "pawl::config::bucket_fields()::fields": "const; made at the first use",
    "pawl::config::config_fields()::fields": "const; made at the first use",
    "pawl::config::match_fields()::fields": "const; made at the first use",
    "pawl::config::okx_fields()::fields": "const; made at the first use",
    "pawl::config::queue_limit_fields()::fields": "const; made at the first use",
    "pawl::config::saxo_fields()::fields": "const; made at the first use",
    "pawl::config::venues_fields()::fields": "const; made at the first use",
    "pawl::cli::all_verbs()::all": "const; made at the first use",
    "pawl::config::retry_policy_fields()::fields": "const; made at the first use",
    "pawl::config::retry_row_fields()::fields": "const; made at the first use",
    "pawl::config::webhook_fields()::fields": "const; made at the first use",
}


def mutable_globals(symbols: list[tree.Symbol]) -> list[str]:
    found = {
        (symbol.member, symbol.name)
        for symbol in symbols
        if re.fullmatch(WRITABLE, symbol.section) and not symbol.name.startswith(".")
    }
    return [
        f"{member}: {name} can be written while the program runs: make it constexpr, or a member of"
        " the object that needs it. If it is constexpr, give its type in full or use std::to_array:"
        " g++ 12 puts a constant whose template arguments are deduced into writable memory"
        for member, name in sorted(found)
        if name not in ALLOWED and not any(re.fullmatch(known, name) for known in NOT_OURS)
    ]


def test_no_room_keeps_state_outside_of_objects():
    findings = [
        f"{path.name}: {found}"
        for path in tree.archives()
        for found in mutable_globals(tree.symbols(path))
    ]
    assert not findings, tree.listed(findings)


@pytest.mark.parametrize(
    "code",
    [
        "namespace pawl { int counter; int f() { return ++counter; } }",
        "namespace pawl { int counter = 7; int f() { return ++counter; } }",
        "namespace pawl { inline int counter; int f() { return ++counter; } }",
        "namespace { int counter = 7; } int f() { return ++counter; }",
        "static int counter; int f() { return ++counter; }",
        "int f() { static int counter = 7; return ++counter; }",
        "thread_local int counter; int f() { return ++counter; }",
        "#include <string>\nstd::string counter; void f() { counter += 'a'; }",
        "#include <string>\nvoid f() { static std::string counter; counter += 'a'; }",
    ],
)
def test_the_rule_reports(code: str, tmp_path: Path):
    findings = mutable_globals(tree.symbols(tree.compile_object(code, tmp_path)))
    assert any("counter" in found for found in findings), findings


def test_the_rule_lets_constants_be(tmp_path: Path):
    code = """
    #include <iostream>
    #include <string_view>
    namespace pawl {
    constexpr int limit = 7;
    constexpr std::string_view names[] = {"a", "b"};
    struct Shape { virtual ~Shape(); virtual int sides() const { return limit; } };
    Shape::~Shape() { std::cout << names[0]; }
    const Shape* shape(const std::string_view** n) { *n = names; return new Shape; }
    }
    """
    assert mutable_globals(tree.symbols(tree.compile_object(code, tmp_path))) == []
