"""Goal: a room uses only the rooms below it: the walls stay where ARCHITECTURE.md draws them.

Method: every #include line of the tree is resolved to a room and looked up in the one table here.
"""

from __future__ import annotations

from collections.abc import Collection

import tree

EVERYTHING = None

# The public headers are three rooms: words for everybody, the clock for those outside core, and the
# doors for programs that link pawl.
VOCABULARY = (
    *("include/pawl/durability.h", "include/pawl/duration.h"),
    *("include/pawl/result.h", "include/pawl/time.h"),
)
CLOCK = "include/pawl/clock.h"

# Who may include whom, beside itself and the vocabulary. An adapter is a room of its own.
MAY_INCLUDE: dict[str, Collection[str] | None] = {
    "vocabulary": (),
    "clock": (),
    "api": ("clock",),
    "base": (),
    "core": ("base",),
    "port": ("clock", "base", "core"),
    "runtime": ("clock", "base", "core", "port"),
    "config": ("base", "core"),
    "log": ("clock", "base", "core", "port", "runtime"),
    "metrics": ("base",),
    "net": ("base",),
    "server": ("clock", "base", "core", "port", "net"),
    "admin": ("clock", "base", "core", "port", "runtime", "server", "metrics"),
    "venue": ("clock", "base", "core", "port", "net"),
    "emulator/core": ("base",),
    "emulator": ("clock", "base", "core", "port", "net", "server", "emulator/core"),
    "adapter/directory": ("clock", "base", "core", "port", "adapter/file"),
    "adapter/process": ("clock", "base", "core", "port", "adapter/file"),
    "adapter/redis": ("clock", "base", "core", "port", "net"),
    "adapter/*": ("clock", "base", "core", "port"),
    "gateway": (
        *("clock", "base", "core", "port", "runtime"),
        *("net", "server", "admin", "config", "log", "metrics"),
    ),
    "assembly": (
        *("clock", "base", "core", "port", "runtime", "venue"),
        *("adapter/system", "adapter/memory", "adapter/file", "adapter/sqlite"),
        *("adapter/redis", "adapter/nats", "adapter/curl", "adapter/directory", "adapter/s3"),
    ),
    "library": (
        *("api", "clock", "base", "core", "port", "runtime", "venue", "assembly"),
        *("adapter/memory", "adapter/system"),
    ),
    "python": ("api", "clock"),
    "cli": EVERYTHING,
    "sim": ("clock", "base", "core", "port", "runtime"),
    "bench": EVERYTHING,
    "examples": ("api", "clock"),
    "tests": EVERYTHING,
}

# What files beside the code that only test or measure it may use as well.
TESTS_MAY_INCLUDE = ("src/port/*_conformance.h", "src/runtime/manual_clock.h", "tests/*")
ROOM_TESTS_MAY_INCLUDE = {
    "admin": ("src/adapter/memory/*", "src/net/fake.h"),
    "adapter/curl": ("src/net/certificates_fixture.h",),
    "adapter/directory": ("src/adapter/system/system_clock.h",),
    "adapter/memory": ("src/adapter/system/system_clock.h",),
    "adapter/nats": ("src/net/certificates_fixture.h",),
    "adapter/s3": ("src/adapter/curl/*", "src/adapter/system/*", "src/runtime/*"),
    "gateway": ("src/adapter/memory/*",),
    "runtime": ("src/adapter/memory/*",),
    "venue": ("src/adapter/memory/*", "src/runtime/*"),
}


def room_of(path: str) -> str:
    parts = path.split("/")
    if path.startswith("include/pawl/"):
        return "vocabulary" if path in VOCABULARY else "clock" if path == CLOCK else "api"
    if path.startswith(("src/adapter/", "src/emulator/core/")):
        return "/".join(parts[1:3])
    return parts[1] if parts[0] == "src" else parts[0]


def row_of(room: str) -> str | None:
    return next((row for row in MAY_INCLUDE if tree.matches(room, [row])), None)


def wrong_includes(path: str, text: str, present: Collection[str]) -> list[str]:
    room = room_of(path)
    row = row_of(room)
    if row is None:
        return [
            f"{path}: {room} has no row in MAY_INCLUDE: add a row in tests/house/test_includes.py"
            " that says whom it may include, and draw the room in ARCHITECTURE.md"
        ]
    allowed = MAY_INCLUDE[row]
    findings = []
    for include in tree.includes(text):
        where = f"{path}:{include.line}: {include}"
        target = tree.resolve(include, path, present)
        if target is None and include.quoted:
            findings.append(
                f"{where} is not in the tree: name it from src/, include/ or the root; the header"
                " of a library goes in <>"
            )
        if target is None or allowed is EVERYTHING:
            continue
        used = room_of(target)
        if used in (room, "vocabulary", *allowed):
            continue
        for_tests = (*TESTS_MAY_INCLUDE, *ROOM_TESTS_MAY_INCLUDE.get(room, ()))
        if tree.is_test(path) and tree.matches(target, for_tests):
            continue
        may = ", ".join(allowed) or "nothing but the standard library"
        findings.append(
            f"{where} belongs to {used}, and {room} may include {may}: hand the value in as an"
            " argument, put a port between, or move the shared part down"
        )
    return findings


def test_every_include_goes_down_the_house():
    present = set(tree.all_files())
    findings = [
        found
        for path in tree.files(*tree.SOURCES)
        for found in wrong_includes(path, tree.read(path), present)
    ]
    assert not findings, tree.listed(findings)


def test_every_folder_of_src_has_a_row():
    rooms = {room_of(path) for path in tree.files("src/*/*")}
    missing = sorted(room for room in rooms if row_of(room) is None)
    assert not missing, f"add a row to MAY_INCLUDE in tests/house for: {', '.join(missing)}"


def check(path: str, line: str, *present: str) -> list[str]:
    return wrong_includes(path, line, {path, *present})


def test_the_rule_reports_an_include_that_goes_up():
    for path, target in (
        ("src/base/a.cc", "src/core/limit/gcra.h"),
        ("src/core/limit/a.cc", "include/pawl/clock.h"),
        ("src/gateway/a.cc", "include/pawl/limiter.h"),
        ("src/core/limit/a.cc", "src/runtime/manual_clock.h"),
        ("src/port/a.h", "src/runtime/engine.h"),
        ("src/runtime/a.cc", "src/adapter/memory/b.h"),
        ("src/adapter/file/a.cc", "src/adapter/memory/b.h"),
        ("src/adapter/file/a_test.cc", "src/adapter/memory/b.h"),
        ("src/adapter/file/a.cc", "src/net/loop.h"),
        ("src/adapter/redis/a.cc", "src/adapter/memory/b.h"),
        ("src/gateway/a.cc", "src/adapter/memory/b.h"),
        ("src/gateway/a_test.cc", "src/adapter/file/b.h"),
        ("src/library/a.cc", "src/gateway/b.h"),
        ("src/metrics/a.cc", "src/core/limit/gcra.h"),
        ("src/runtime/a.cc", "tests/fault_proxy/fault_proxy.h"),
    ):
        name = target.removeprefix("src/")
        for line in (f'#include "{name}"', f"#  include <{name}>"):
            findings = check(path, line, target)
            assert len(findings) == 1 and f"{path}:1:" in findings[0], (path, target)
    for path, target in (("include/pawl/a.h", "base/json.h"), ("sim/a.cc", "net/loop.h")):
        assert check(path, f'#include "{target}"', f"src/{target}")


def test_the_rule_lets_an_include_go_down_and_beside():
    for path, target in (
        ("src/core/limit/a.cc", "src/base/json.h"),
        ("src/core/limit/a.cc", "src/core/http/head.h"),
        ("src/adapter/file/a.cc", "src/adapter/file/b.h"),
        ("src/adapter/redis/a.cc", "src/net/loop.h"),
        ("src/library/a.cc", "src/adapter/memory/b.h"),
        ("src/library/a.cc", "src/assembly/b.h"),
        ("src/assembly/a.cc", "src/adapter/nats/b.h"),
        ("src/cli/a.cc", "src/adapter/file/b.h"),
        ("src/core/limit/a_test.cc", "src/runtime/manual_clock.h"),
        ("src/net/a_test.cc", "tests/fault_proxy/fault_proxy.h"),
        ("src/gateway/a_test.cc", "src/adapter/memory/b.h"),
        ("src/runtime/a_test.cc", "src/adapter/memory/b.h"),
        ("src/base/a.cc", "include/pawl/time.h"),
    ):
        name = target.removeprefix("src/").removeprefix("include/")
        assert check(path, f'#include "{name}"', target) == [], (path, target)
    assert check("src/base/a.cc", '#include "b.h"', "src/base/b.h") == []


def test_the_rule_reports_a_room_without_a_row_and_a_file_that_is_not_there():
    assert "add a row" in check("src/attic/a.cc", "")[0]
    assert "not in the tree" in check("src/base/a.cc", '#include "base/gone.h"')[0]
