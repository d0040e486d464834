"""Goal: a reader who follows a path or a link in a document arrives.

Method: relative links, and words in `code` that look like a path of the tree, must name what is
there.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Collection

import tree

DOCUMENTS = (
    *("README.md", "ARCHITECTURE.md", "GUARANTEES.md"),
    *("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"),
)
FOLDERS = ("src", "tests", "tools", "docs", "include", "sim", "bench", "cmake", "packaging")

LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?[^)]*\)")
CODE = re.compile(r"(`+)(.+?)\1")
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/\S*")


def lines_outside_fences(text: str) -> list[tuple[int, str]]:
    kept = []
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            kept.append((number, line))
    return kept


def alternatives(path: str) -> list[str]:
    """src/x.{h,cc} names two files."""
    found = re.match(r"(.*?)\{([^{}]*)\}(.*)", path)
    if not found:
        return [path]
    return list(
        itertools.chain.from_iterable(
            alternatives(found[1] + middle + found[3]) for middle in found[2].split(",")
        )
    )


def stands(path: str, present: Collection[str]) -> bool:
    """A file, a folder that holds one, or a pattern with * that matches one."""
    path = os.path.normpath(path)
    folders = {parent for name in present for parent in parents(name)}
    return path == "." or any(tree.matches(name, [path]) for name in (*present, *folders))


def parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def missing_names(document: str, text: str, present: Collection[str]) -> list[str]:
    findings = []
    for number, line in lines_outside_fences(text):
        where = f"{document}:{number}"
        for target in LINK.findall(CODE.sub("", line)):
            path = target.split("#")[0]
            if not path or re.match(r"[a-z]+:", path):
                continue
            if not stands(os.path.join(os.path.dirname(document), path), present):
                findings.append(f"{where}: the link to {target} leads nowhere: correct it")
        for _, code in CODE.findall(line):
            for word in code.split():
                word = re.sub(r":\d+$", "", word.rstrip(".,;:)"))
                if PATH.fullmatch(word) and not all(
                    stands(path, present) for path in alternatives(word)
                ):
                    findings.append(f"{where}: there is no {word}: name what is there")
    return findings


def test_the_documents_are_there():
    missing = [name for name in DOCUMENTS if name not in tree.all_files()]
    assert not missing, f"write {', '.join(missing)}: a stranger looks for them in the root"


def test_documents_name_only_what_exists():
    present = tree.all_files()
    findings = [
        found
        for path in tree.files(*DOCUMENTS, "docs/*.md")
        for found in missing_names(path, tree.read(path), present)
    ]
    assert not findings, tree.listed(findings)


PRESENT = ("README.md", "docs/audit.md", "src/base/json.h", "src/base/json.cc", "src/base/id.h")


def test_the_rule_reports_names_of_nothing():
    for text in (
        "see [there](docs/gone.md)",
        "see [there](gone.md#part)",
        "see `src/base/gone.h`",
        "see `src/gone/`",
        "see ``cat src/base/json.h tests/gone``",
        "see `src/base/{json,gone}.h`",
        "see `src/base/*.py`",
        "see `src/base/gone.cc:12`.",
    ):
        findings = missing_names("README.md", f"\n{text}", PRESENT)
        assert len(findings) == 1 and findings[0].startswith("README.md:2: "), text
    assert missing_names("docs/audit.md", "[up](README.md)", PRESENT)


def test_the_rule_lets_names_of_something_be():
    for text in (
        "[there](docs/audit.md#chain) [out](https://example.org/x.md) [here](#part) [d](docs/)",
        "`src/base/json.h` `src/base/` `src/base` `src/base/json.{h,cc}` `src/base/*.h`",
        "`src/base/json.cc:12`, `build/pawl`, `core/limit`, `GET /v1/src/x`",
        "```\nsrc/gone.cc [x](gone.md)\n```",
    ):
        assert missing_names("README.md", text, PRESENT) == [], text
    assert missing_names("docs/audit.md", "[up](../README.md)", PRESENT) == []
