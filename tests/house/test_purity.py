"""Goal: base and core cannot reach the world: no clock, thread, file, socket, randomness, locale.

Method: they may not even include the headers. test_symbols.py proves the same on the object code;
this rule names the line.
"""

from __future__ import annotations

from collections.abc import Callable

import tree

PURE = ("src/base/*", "src/core/*", "src/emulator/core/*")

ADVICE = {
    "threads": (
        "a pure machine has one owner; locks and threads belong to runtime or an adapter",
        "thread mutex shared_mutex atomic future condition_variable semaphore latch barrier"
        " stop_token",
    ),
    "time": ("take the time as an argument (pawl/time.h, base/calendar.h)", "ctime chrono time.h"),
    "chance": ("take randomness as an argument (see base/id.h)", "random"),
    "files": (
        "return text and let the caller write it",
        "iostream fstream filesystem cstdio stdio.h istream ostream sstream iomanip streambuf"
        " syncstream spanstream",
    ),
    "locale": ("use std::from_chars and std::to_chars: they know none", "locale clocale regex"),
}
BANNED = {name: advice for advice, names in ADVICE.values() for name in names.split()}

# A test may compare with the library's way of doing the same, and read vectors from a file.
TESTS_MAY = ("chrono", "cstdio", "sstream", "fstream", "ostream", "arpa/inet.h")
# Secret forbids its own printing, and must name the stream to do so.
EXCEPTIONS = {("src/base/secret.h", "ostream")}

UNORDERED = ("unordered_map", "unordered_set")
ORDERED_ROOMS = (*PURE, "src/runtime/*")


def impure_includes(path: str, text: str) -> list[str]:
    findings = []
    for include in tree.includes(text):
        name = include.name
        advice = BANNED.get(name)
        if advice is None and tree.is_system(name):
            advice = "calls to the system belong behind a port, in an adapter"
        excepted = (path, name) in EXCEPTIONS or (tree.is_test(path) and name in TESTS_MAY)
        if advice and not excepted:
            findings.append(f"{path}:{include.line}: {include} is not for base and core: {advice}")
    return findings


def unordered_includes(path: str, text: str) -> list[str]:
    return [
        f"{path}:{include.line}: {include} has no order, so walking it would decide differently"
        " from run to run: use std::map, std::set or a sorted vector"
        for include in tree.includes(text)
        if include.name in UNORDERED
    ]


def walk(rooms: tuple[str, ...], rule: Callable[[str, str], list[str]]) -> list[str]:
    return [
        found
        for room in rooms
        for path in tree.files(f"{room}.cc", f"{room}.h")
        for found in rule(path, tree.read(path))
    ]


def test_base_and_core_include_nothing_of_the_world():
    findings = walk(PURE, impure_includes)
    assert not findings, tree.listed(findings)


def test_decisions_know_no_unordered_containers():
    findings = walk(ORDERED_ROOMS, unordered_includes)
    assert not findings, tree.listed(findings)


def test_the_rule_reports_every_banned_header():
    for name in (*BANNED, "unistd.h", "sys/socket.h", "sys/types.h", "pthread.h", "netdb.h"):
        findings = impure_includes("src/core/limit/a.cc", f"\n#include <{name}>")
        assert len(findings) == 1 and f"a.cc:2: <{name}>" in findings[0], name
    for name in ("thread", "mutex", "random", "ctime", "unistd.h"):
        assert impure_includes("src/core/limit/a_test.cc", f"#include <{name}>"), name
    assert impure_includes("src/base/other.h", "#include <ostream>")
    for name in UNORDERED:
        assert unordered_includes("src/runtime/a.h", f"#include <{name}>")


def test_the_rule_lets_values_in():
    for name in ("string", "vector", "map", "charconv", "array", "immintrin.h"):
        assert impure_includes("src/core/limit/a.cc", f"#include <{name}>") == []
    assert impure_includes("src/base/secret.h", "#include <ostream>") == []
    assert impure_includes("src/base/calendar_test.cc", "#include <chrono>") == []
