"""Goal: a library's headers are read by the one file that wraps it: two cores stay enough to build
on, and a library can be exchanged by rewriting one file.

Method: every <...> include that is neither the standard's nor the system's must stand in the table.
"""

from __future__ import annotations

import itertools

import tree

# The product: each library has one home, which is no header.
HOMES = {
    "boost/asio": "src/net/beside.cc",
    "openssl/": "src/net/tls.cc",
    "hiredis/": "src/adapter/redis/resp.cc",
    "nats/": "src/adapter/nats/nats_connection.cc",
    "spdlog/": "src/log/sink.cc",
    "fmt/": "src/log/sink.cc",
    "CLI/": "src/cli/app.cc",
    "yaml-cpp/": "src/config/load.cc",
    "prometheus/": "src/metrics/metrics.cc",
    "cctz/": "src/adapter/system/system_zones.cc",
    "sqlite3.h": "src/adapter/sqlite/database.cc",
    "curl/": "src/adapter/curl/curl_http_client.cc",
    "pybind11/": "src/python/module_main.cc",
}
TESTS = {
    "gtest/": tree.TEST_FILES,
    "gmock/": tree.TEST_FILES,
    "rapidcheck": tree.TEST_FILES,
    "benchmark/": ("*_bench.cc",),
    "rocksdb/": ("bench/rocksdb_bench.cc",),
    # A second parser, to compare with.
    "boost/beast": ("src/core/http/*_test.cc",),
    # That a secret cannot be formatted either.
    "fmt/": ("tests/compile_fail/*.cc",),
}


def places_of(name: str) -> list[str]:
    """Where the header may be included; none when nobody knows it."""
    homes = [home for prefix, home in HOMES.items() if name.startswith(prefix)]
    tests = [places for prefix, places in TESTS.items() if name.startswith(prefix)]
    return [*homes, *itertools.chain.from_iterable(tests)]


def wrong_libraries(path: str, text: str) -> list[str]:
    findings = []
    for include in tree.includes(text):
        name = include.name
        known = tree.is_standard(name) or tree.is_system(name) or name.startswith("pawl/")
        if include.quoted or known:
            continue
        where = f"{path}:{include.line}: {include}"
        places = places_of(name)
        if not places:
            findings.append(
                f"{where} is no header this tree knows: write it with the standard library, or add"
                " the library to tools/packages and a row to tests/house/test_third_party.py"
            )
        elif not tree.matches(path, places):
            findings.append(
                f"{where} may stand in {', '.join(places)} only: put what you need behind a header"
                " of ours that is free of the library, and call that"
            )
    return findings


def test_libraries_are_included_where_the_table_says():
    findings = [
        found
        for path in tree.files(*tree.SOURCES)
        for found in wrong_libraries(path, tree.read(path))
    ]
    assert not findings, tree.listed(findings)


def test_every_home_stands_and_is_no_header():
    for library, home in HOMES.items():
        stands = home in tree.files("src/*.cc")
        assert stands, f"{home} is not there: name the one .cc that includes <{library}...>"


def test_the_rule_reports_a_library_in_the_wrong_file():
    for path, header in (
        ("src/net/beside.h", "boost/asio.hpp"),
        ("src/gateway/a.cc", "boost/asio/io_context.hpp"),
        ("src/net/tls_test.cc", "openssl/ssl.h"),
        ("src/adapter/redis/redis_client.cc", "hiredis/hiredis.h"),
        ("src/adapter/nats/nats_event_sink.cc", "nats/nats.h"),
        ("src/core/http/a.cc", "boost/beast/http.hpp"),
        ("src/gateway/a.cc", "boost/json.hpp"),
        ("src/log/logger.cc", "spdlog/spdlog.h"),
        ("src/cli/serve.cc", "CLI/CLI.hpp"),
        ("src/config/load.h", "yaml-cpp/yaml.h"),
        ("src/metrics/a_test.cc", "prometheus/registry.h"),
        ("src/base/a.cc", "gtest/gtest.h"),
        ("src/base/a_test.cc", "benchmark/benchmark.h"),
        ("src/base/a.cc", "nonesuch.h"),
    ):
        findings = wrong_libraries(path, f"\n#include <{header}>\n")
        assert len(findings) == 1 and f"{path}:2: <{header}>" in findings[0], (path, header)


def test_the_rule_lets_a_library_stand_in_its_home():
    for path, header in (
        ("src/net/beside.cc", "boost/asio/io_context.hpp"),
        ("src/core/http/head_test.cc", "boost/beast/http/parser.hpp"),
        ("src/base/a_test.cc", "rapidcheck/gtest.h"),
        ("src/base/a_test.cc", "rapidcheck.h"),
        ("src/port/clock_conformance.h", "gtest/gtest.h"),
        ("src/adapter/file/a.cc", "sys/file.h"),
        ("src/base/a.cc", "string_view"),
        ("src/cli/a.cc", "pawl/pawl.h"),
    ):
        assert wrong_libraries(path, f"#include <{header}>") == [], (path, header)
