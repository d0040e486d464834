"""Goal: the test runner counts truly, and whatever is not a clean pass turns the run red.

Method: the runner works in a small tree of its own, where `make` copies scripts that behave as test
programs do: write a gtest report, fail, crash, skip, hang.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


class Tree:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tools").mkdir()
        (folder / "programs").mkdir()
        shutil.copy(ROOT / "tools" / "test", folder / "tools" / "test")
        helpers = folder / "tests" / "services"
        helpers.mkdir(parents=True)
        for module in ("owned.py", "servers.py", "services.py"):
            shutil.copy(ROOT / "tests" / "services" / module, helpers)
        self.make("mkdir -p build/dev && cp -r programs/. build/dev")

    def make(self, recipe: str) -> None:
        rules = "".join(f"build-{preset}:\n\t@{recipe}\n" for preset in ("dev", "asan"))
        (self.folder / "Makefile").write_text(rules, encoding="utf-8")

    def program(self, name: str, body: str) -> None:
        path = self.folder / "programs" / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def gtest(self, name: str, *cases: dict[str, object], code: int = 0) -> None:
        """A program that says hello, reports these cases and ends with this code."""
        report = json.dumps({"testsuites": [{"name": "Suite", "testsuite": cases}]})
        write = f"cat >\"${{1#--gtest_output=json:}}\" <<'END'\n{report}\nEND"
        self.program(name, f"echo hello from {name}\n{write}\nexit {code}")

    def suite(self, text: str) -> None:
        folder = self.folder / "tests" / "house"
        folder.mkdir(exist_ok=True)
        (folder / "test_house.py").write_text(text, encoding="utf-8")

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.folder / "tools" / "test"), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, last line, all output."""
        child = self.begin(*arguments)
        output, _ = child.communicate(timeout=60)
        return child.returncode, output.splitlines()[-1], output


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


PASSED = {"name": "Passes", "status": "RUN", "result": "COMPLETED"}
FAILED = {**PASSED, "name": "Fails", "failures": [{"failure": "no", "type": ""}]}
SKIPPED = {**PASSED, "name": "Skips", "result": "SKIPPED"}
DISABLED = {"name": "DISABLED_Rests", "status": "NOTRUN", "result": "SUPPRESSED"}


def test_counts_every_program_and_suite(tree: Tree) -> None:
    tree.gtest("a_tests", PASSED, PASSED)
    tree.gtest("b_tests", PASSED)
    tree.suite("def test_one(): pass\ndef test_two(): pass\n")
    code, last, output = tree.run("dev", "fast")
    assert (code, last) == (0, "5 passed, 0 failed")
    assert "hello" not in output, "a program that passes is quiet"


def test_the_fast_steps_leave_out_programs_that_need_servers(tree: Tree) -> None:
    tree.gtest("a_tests", PASSED)
    tree.gtest("a_server_tests", PASSED)
    code, last, output = tree.run("dev")
    assert (code, last) == (0, "1 passed, 0 failed")
    assert "a_server_tests" not in output


def test_a_failure_shows_the_output_and_later_steps_still_run(tree: Tree) -> None:
    tree.gtest("a_tests", PASSED, FAILED, code=1)
    tree.suite("def test_one(): pass\ndef test_two(): assert 1 == 2\n")
    code, last, output = tree.run("dev", "fast")
    assert (code, last) == (1, "2 passed, 2 failed")
    assert "hello from a_tests" in output and "assert 1 == 2" in output
    end = output[output.rindex("---- end of") :]
    assert "failed: Suite.Fails (dev)" in end and "test_two (fast)" in end, "named at the end"


def test_a_crash_is_a_failure_with_its_last_output(tree: Tree) -> None:
    tree.program("a_tests", "echo about to fall; kill -SEGV $$")
    tree.gtest("b_tests", PASSED)
    code, last, output = tree.run("dev")
    assert (code, last) == (1, "1 passed, 1 failed")
    assert "was ended by SIGSEGV" in output and "about to fall" in output


def test_a_bad_end_after_good_tests_is_a_failure(tree: Tree) -> None:
    tree.gtest("a_tests", PASSED, code=23)
    code, last, output = tree.run("dev")
    assert (code, last) == (1, "1 passed, 1 failed")
    assert "ended with 23" in output


def test_a_torn_report_is_a_failure(tree: Tree) -> None:
    tree.program("a_tests", "printf '{\"testsu' >\"${1#--gtest_output=json:}\"")
    code, last, _ = tree.run("dev")
    assert (code, last) == (1, "0 passed, 1 failed")


def test_skipped_and_disabled_tests_turn_the_run_red(tree: Tree) -> None:
    tree.gtest("a_tests", PASSED, SKIPPED, DISABLED)
    tree.suite("import pytest\n@pytest.mark.skip\ndef test_one(): pass\n")
    code, last, output = tree.run("dev", "fast")
    assert (code, last) == (1, "1 passed, 0 failed, 3 skipped")
    assert "skipped: Suite.Skips" in output and "skipped: Suite.DISABLED_Rests" in output


def test_a_step_without_a_test_is_a_failure(tree: Tree) -> None:
    tree.gtest("a_tests", PASSED)
    code, last, output = tree.run("dev", "fast", "fuzz")
    assert (code, last) == (1, "1 passed, 2 failed")
    assert "fast ran no test" in output and "fuzz ran no test" in output


def test_a_suite_that_cannot_be_read_is_a_failure(tree: Tree) -> None:
    tree.gtest("a_tests", PASSED)
    tree.suite("def broken(:\n")
    code, last, output = tree.run("dev", "fast")
    assert (code, last) == (1, "1 passed, 1 failed")
    assert "SyntaxError" in output


def test_a_failed_build_is_a_failure_of_each_step_that_needs_it(tree: Tree) -> None:
    tree.make("echo no such header; exit 2")
    tree.suite("def test_one(): pass\n")
    code, last, output = tree.run("dev", "fast")
    assert (code, last) == (1, "0 passed, 2 failed")
    assert output.count("no such header") == 1, "built once, shown once"


def test_fuzzers_count_one_test_each(tree: Tree) -> None:
    tree.make("mkdir -p build/asan/fuzzers && cp -r programs/. build/asan/fuzzers")
    tree.program("calm_fuzz", 'echo "$@"')
    tree.program("torn_fuzz", "echo found a crash; exit 77")
    code, last, output = tree.run("--fuzz-seconds", "9", "fuzz")
    assert (code, last) == (1, "1 passed, 1 failed")
    assert "found a crash" in output
    assert "failed: torn_fuzz ended with 77 (fuzz)" in output
    log = (tree.folder / "build" / "test" / "fuzz-calm_fuzz.log").read_text(encoding="utf-8")
    assert "-max_total_time=9" in log and "corpus/calm_fuzz" in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_under_way(tree: Tree, number: int) -> None:
    told = tree.folder / "pid"
    tree.program("a_tests", f"echo $$ >{told}.new; mv {told}.new {told}; exec sleep 600")
    child = tree.begin("dev")
    deadline = time.monotonic() + 30
    while not told.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(number)
    output, _ = child.communicate(timeout=60)
    assert child.returncode == 128 + number
    assert output.splitlines()[-1] == "0 passed, 1 failed"
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text(encoding="utf-8")), 0)


def test_an_unknown_step_is_a_usage_error(tree: Tree) -> None:
    child = tree.begin("nonsense")
    child.communicate(timeout=60)
    assert child.returncode == 2
