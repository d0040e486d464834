"""Goal: that base and core do no IO, read no clock, start no thread and know no environment is
proved on what the compiler made of them, not promised.

Method: every symbol their archives look for elsewhere must be defined in one of the two, or stand
in the allow-list. Bad examples are compiled here and must be reported.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tree

PURE_ARCHIVES = ("libpawl_base.a", "libpawl_core.a", "libpawl_emulator_core.a")

STRING = r"std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> >"

ALLOWED = [
    # Memory.
    r"(memcpy|memmove|memset|memcmp|memchr|bcmp|strlen)",
    r"__(memcpy|memmove|memset)_chk",
    r"operator (new|delete)(\[\])?\(.*\)",
    # Containers and text of the standard library that are compiled into it.
    rf"{STRING}::.*",
    r"std::allocator<char>::~?allocator\(.*\)",
    r"std::_Rb_tree_(increment|decrement|insert_and_rebalance|rebalance_for_erase)\(.*\)",
    r"std::__detail::_List_node_base::.*",
    r"std::(from_chars|to_chars)\(.*\)",
    # How a broken promise ends: assertions, and what the library calls instead of throwing.
    r"std::__throw_\w+\(.*\)",
    r"std::(terminate|__glibcxx_assert_fail)\(.*\)",
    r"(__assert_fail|__stack_chk_fail|abort)",
    # What the compiler emits by itself.
    r"__cxa_\w+",
    r"(_Unwind_Resume|__gxx_personality_v0|__dso_handle|_GLOBAL_OFFSET_TABLE_)",
    r"__u?(div|mod|divmod)ti[34]",
    r"(vtable|typeinfo) for (__cxxabiv1::.*|std::(exception|bad_\w+))",
    r"std::(exception|bad_\w+)::.*",
    # Which instructions the processor has (base/sha256_block.cc); the result is the same.
    r"__cpu_(model|features2|indicator_init)",
    # How a shared_ptr counts its owners (core/audit/backlog.cc); the result is the same.
    r"__libc_single_threaded",
]


def worldly_symbols(symbols: list[tree.Symbol]) -> list[str]:
    """What the symbols need from outside of themselves that is not allowed."""
    defined = {symbol.name for symbol in symbols if symbol.section != "*UND*"}
    needed = {
        (symbol.member, symbol.name)
        for symbol in symbols
        if symbol.section == "*UND*" and symbol.name not in defined
    }
    return [
        f"{member}: needs {name}: base and core may not reach the world. Take the value as an"
        " argument or return it as an effect; if the symbol is pure, add it to ALLOWED in"
        " tests/house/test_symbols.py"
        for member, name in sorted(needed)
        if not any(re.fullmatch(pattern, name) for pattern in ALLOWED)
    ]


def test_base_and_core_need_nothing_of_the_world():
    symbols = [found for path in tree.archives(*PURE_ARCHIVES) for found in tree.symbols(path)]
    findings = worldly_symbols(symbols)
    assert not findings, tree.listed(findings)


# The symbol that must be reported, and code that needs it.
WORLDLY = {
    "time": "#include <ctime>\nlong f() { return time(nullptr); }",
    "getenv": '#include <cstdlib>\nchar* f() { return getenv("HOME"); }',
    "rand": "#include <cstdlib>\nint f() { return rand(); }",
    "read": "#include <unistd.h>\nlong f(char* b) { return read(0, b, 1); }",
    "printf": '#include <cstdio>\nvoid f(int i) { printf("%d", i); }',
    "pthread_mutex_lock": (
        "#include <pthread.h>\nvoid f(pthread_mutex_t* m) { pthread_mutex_lock(m); }"
    ),
    "std::chrono::_V2::system_clock::now()": (
        "#include <chrono>\nauto f() { return std::chrono::system_clock::now(); }"
    ),
    "std::random_device::_M_getval()": (
        "#include <random>\nunsigned f() { return std::random_device()(); }"
    ),
    "std::cout": "#include <iostream>\nvoid f() { std::cout << 1; }",
    "pawl::of_another_room()": (
        "namespace pawl { int of_another_room(); }\nint f() { return pawl::of_another_room(); }"
    ),
}


@pytest.mark.parametrize("symbol", WORLDLY)
def test_the_rule_reports(symbol: str, tmp_path: Path):
    findings = worldly_symbols(tree.symbols(tree.compile_object(WORLDLY[symbol], tmp_path)))
    reported = [found for found in findings if found.startswith(f"example.o: needs {symbol}: ")]
    assert reported, f"{symbol} was let through; reported were {findings}"


def test_the_rule_lets_values_through(tmp_path: Path):
    code = """
    #include <charconv>
    #include <map>
    #include <string>
    #include <vector>
    std::string f(std::map<std::string, std::vector<int>>& m) {
      m["a"].push_back(1);
      std::string s = "the sum of " + std::to_string(m.size());
      char digits[32];
      const auto end = std::to_chars(digits, digits + 32, 1.5).ptr;
      return s.append(digits, end);
    }
    """
    assert worldly_symbols(tree.symbols(tree.compile_object(code, tmp_path))) == []
