"""Goal: the mistakes the types exist to prevent do not compile.

Method: each .cc here holds one mistake, fenced by `#ifndef PAWL_FIXED`, and names on its first line
a part of the compiler's message. With the mistake it must fail with that message; with -DPAWL_FIXED
it must compile, so that it cannot fail for another reason.
"""

import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
COMPILE = "g++ -std=gnu++23 -Wall -Wextra -Werror -fsyntax-only -Iinclude -Isrc".split()
CASES = sorted(HERE.glob("*.cc"))
EXPECT = "// expect: "


def compile_case(case, *options):
    return subprocess.run(
        [*COMPILE, *options, str(case)],
        cwd=ROOT,
        env={**os.environ, "LC_ALL": "C"},  # plain quotes in the messages
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_there_are_cases():
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_mistake_does_not_compile(case):
    text = case.read_text()
    first_line = text.splitlines()[0]
    assert first_line.startswith(EXPECT), f"{case.name}: begin with '{EXPECT}part of the message'"
    assert text.count("#ifndef PAWL_FIXED") == 1, f"{case.name}: fence exactly one mistake"

    fixed = compile_case(case, "-DPAWL_FIXED")
    assert fixed.returncode == 0, f"{case.name} must compile without its mistake:\n{fixed.stderr}"

    broken = compile_case(case)
    assert broken.returncode != 0, f"{case.name} compiles: the type no longer prevents this"
    assert first_line.removeprefix(EXPECT) in broken.stderr, broken.stderr
