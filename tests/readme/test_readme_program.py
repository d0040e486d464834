"""Goal: the C++ that the README shows compiles against the public headers.

Method: each block becomes the body of a function, in a file that declares what the reader brings.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))

import tree  # noqa: E402

READERS_OWN = """
struct Quote {};
struct Hash { std::uint64_t high, low; };
struct Response { int status; pawl::Duration retry_after; std::string body; };
Response call(std::string_view input);
void tell(std::string_view what);
void send();
pawl::Result<std::string> charge(int card, pawl::Duration timeout);
pawl::Result<std::string> charge(const std::string& order, pawl::Duration timeout);
void begin_charge(const pawl::Attempt& attempt, pawl::Executor::Done done);
pawl::Result<Quote> fetch(std::string_view symbol);
void from_the_readme(int card, std::string order_id, Hash hash, pawl::OkxAccount account,
                     pawl::Queue* queue, pawl::Worker& worker) {
"""
STRICT = ("-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused")


def blocks() -> list[str]:
    return re.findall(r"```cpp\n(.*?)```", tree.read(tree.ROOT / "README.md"), re.DOTALL)


def compiled(block: str) -> str:
    """What the compiler has against it."""
    body = block.replace("#include <pawl/pawl.h>\n", "")
    text = f"#include <pawl/pawl.h>\n{READERS_OWN}{{\n{body}}}}}\n"
    command = ("g++", *STRICT, f"-I{tree.ROOT}/include", "-x", "c++", "-")
    result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    return result.stderr if result.returncode else ""


def test_there_is_something_to_compile():
    assert len(blocks()) >= 2


@pytest.mark.parametrize("block", blocks())
def test_a_block_compiles(block: str):
    assert compiled(block) == ""


def test_a_block_that_does_not_compile_is_reported():
    assert "no_such_member" in compiled("pawl::no_such_member();\n")
