"""Goal: the tree speaks of itself alone, leaves nothing for later, and runs every test it has.

Method: words that must not stand in any text file. They are put together here from halves, so that
this file does not hold them.
"""

from __future__ import annotations

import re

import tree

MACHINE = "a path of one machine: make it relative, or take it from the environment"
HOST = "the host of a package registry: name the package, its tool knows where to find it"
LATER = "work left for later: do it now, or take it out"
BOTH = "asked whole, both sides of it, even where the first one decides: put it into parentheses"
SKIPPED = "a test that may not run: make it fail with what is missing, or remove it"

BANNED = [
    (r"(?<![\w.])/" + r"(work|root|home|Users)/", MACHINE),
    (r"\b(deb|security|snapshot)\.de" + r"bian\.org\b", HOST),
    (r"\b(pypi|pythonhosted)\.o" + r"rg\b", HOST),
    (r"\bnpm" + r"js\.(org|com)\b", HOST),
    (r"\barti" + r"factory\b", HOST),
    (r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b", LATER),
    (r"\bGTEST_" + r"SKIP\b", SKIPPED),
    (r"\bDIS" + r"ABLED_\w", SKIPPED),
    (r"\bpytest\.(mark\.)?(sk" + r"ip|xf" + r"ail|importorsk" + r"ip)", SKIPPED),
    (r"\bunittest\.sk" + r"ip", SKIPPED),
    (r"\btest\.(sk" + r"ip|to" + r"do)\b", SKIPPED),
    (r"\bsk" + r"ip: *true\b", SKIPPED),
    (r"\bRC_ASS" + r"ERT\(!(\w+) \|\| \*?\1\b", BOTH),
    (r"\bRC_ASS" + r"ERT\((\w+)\.has_value\(\) \|\| \1\b", BOTH),
]


# The runner's own test feeds it tests that are skipped, to see it turn red.
EXCEPTIONS = {("tools/test_test.py", SKIPPED)}


def banned_words(path: str, text: str) -> list[str]:
    return [
        f"{path}:{number}: '{found[0]}' is {why}"
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, why in BANNED
        if (path, why) not in EXCEPTIONS
        for found in re.finditer(pattern, line)
    ]


def texts() -> dict[str, str]:
    found = {}
    for path in tree.files("*"):
        content = (tree.ROOT / path).read_bytes()
        if b"\0" not in content:
            found[path] = content.decode("utf-8", errors="replace")
    return found


def test_no_file_holds_a_banned_word():
    found = texts()
    assert found, "no text files: the rule checked nothing"
    findings = [line for path, text in found.items() for line in banned_words(path, text)]
    assert not findings, tree.listed(findings)


def test_the_rule_reports_every_banned_word():
    for bad in (
        "open('/" + "work/main')",
        "cd /" + "root/x",
        "see https://deb.de" + "bian.org/x",
        "https://registry.npm" + "js.org",
        "https://py" + "pi.org/simple",
        "// TO" + "DO: later",
        "# FIX" + "ME",
        "XX" + "X",
        "GTEST_" + "SKIP() << 1;",
        "TEST(A, DIS" + "ABLED_B)",
        "@pytest.mark.sk" + "ipif(x)",
        "pytest.sk" + "ip('no')",
        "pytest.xf" + "ail()",
        "@unittest.sk" + "ip",
        "test.sk" + "ip('no', () => {})",
        "{ sk" + "ip: true }",
        "RC_ASS" + "ERT(!one || one->two == 3);",
        "RC_ASS" + "ERT(!one || *one > 2);",
        "RC_ASS" + "ERT(one.has_value() || one.error().code == two);",
    ):
        findings = banned_words("a", f"\n{bad}")
        assert len(findings) == 1 and findings[0].startswith("a:2: "), bad
    assert banned_words("tools/test_test.py", "# FIX" + "ME")


def test_the_rule_lets_other_words_be():
    for good in (
        "mktemp /tmp/x.XX" + "XXXX",
        "src/work/x",
        "networks/",
        "WORKER_DIS" + "ABLED_BY",
        "RC_ASSERT((!one || *one > 2));",
        "RC_ASSERT(!one || two);",
    ):
        assert banned_words("a", good) == [], good
