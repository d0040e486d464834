"""What the house rules share: the files of the tree, their #include lines, and the built archives.

A rule is a function from text to findings, each a line that says where, what, and what to do
instead. The rule's own test feeds it a bad example; another walks the tree. Every walk goes through
the functions here, which fail when they find nothing: a rule over no files proves nothing.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SOURCES = ("*.cc", "*.h")
TEST_FILES = ("*_test.cc", "*_fuzz.cc", "*_bench.cc", "*_fixture.h", "*_conformance.h", "tests/*")

STANDARD_HEADERS = frozenset(
    """
    algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex
    concepts condition_variable coroutine deque exception execution expected filesystem format
    forward_list fstream functional future generator initializer_list iomanip ios iosfwd
    iostream istream iterator latch limits list locale map mdspan memory memory_resource mutex
    new numbers numeric optional ostream print queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span spanstream sstream stack stacktrace
    stdexcept stdfloat stop_token streambuf string string_view strstream syncstream system_error
    thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
    variant vector version
    cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg
    cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype
    """.split()
)

# The operating system's and the compiler's own.
SYSTEM_HEADERS = (
    *("sys/*", "net/*", "netinet/*", "arpa/*", "linux/*", "bits/*", "asm/*"),
    *("dirent.h", "dlfcn.h", "errno.h", "execinfo.h", "fcntl.h", "getopt.h", "grp.h", "ifaddrs.h"),
    *("malloc.h", "netdb.h", "poll.h", "pthread.h", "pwd.h", "sched.h", "signal.h", "spawn.h"),
    *("stdio.h", "stdlib.h", "string.h", "syslog.h", "termios.h", "time.h", "ucontext.h"),
    *("unistd.h",),
)
COMPILER_HEADERS = ("immintrin.h", "cpuid.h", "arm_neon.h", "cxxabi.h")


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def is_test(path: str) -> bool:
    return matches(path, TEST_FILES)


@functools.cache
def all_files() -> tuple[str, ...]:
    """Every file that is tracked, or would be: paths from the root, with slashes."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    return tuple(sorted({path for path in listed if path and (ROOT / path).is_file()}))


def files(*patterns: str) -> list[str]:
    found = [path for path in all_files() if matches(path, patterns)]
    assert found, f"no file matches {patterns}: the rule checked nothing; correct its patterns"
    return found


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Include:
    line: int
    quoted: bool
    name: str

    def __str__(self) -> str:
        return f'"{self.name}"' if self.quoted else f"<{self.name}>"


def includes(text: str) -> Iterator[Include]:
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield Include(number, found[1] == '"', found[2])


def is_standard(name: str) -> bool:
    return name in STANDARD_HEADERS or matches(name, COMPILER_HEADERS)


def is_system(name: str) -> bool:
    return matches(name, SYSTEM_HEADERS)


def resolve(include: Include, path: str, present: Iterable[str]) -> str | None:
    """The file of the tree that the include names, looked for as the compiler does."""
    folders = ("src", "include", "")
    beside = (os.path.dirname(path),) if include.quoted else ()
    for folder in (*beside, *folders):
        candidate = os.path.normpath(os.path.join(folder, include.name))
        if candidate in present:
            return candidate
    return None


def build_folder() -> Path:
    """PAWL_BUILD, else the release build, else the dev build."""
    if "PAWL_BUILD" in os.environ:
        return (ROOT / os.environ["PAWL_BUILD"]).absolute()
    release = ROOT / "build" / "release"
    return release if release.is_dir() else ROOT / "build" / "dev"


def archives(*names: str) -> list[Path]:
    """The rooms' archives of those names; with none named, all there are."""
    folder = build_folder()
    if not names:
        found = sorted(folder.glob("libpawl_*.a"))
        assert found, f"{folder} holds no libpawl_*.a: build first, or name a build in PAWL_BUILD"
        return found
    for name in names:
        assert (folder / name).is_file(), (
            f"{folder / name} is missing: build first, or name a build in PAWL_BUILD"
        )
    return [folder / name for name in names]


@dataclass(frozen=True)
class Symbol:
    member: str  # the object file
    name: str
    section: str  # *UND* when it is looked for elsewhere


def symbols(binary: Path) -> list[Symbol]:
    """The symbols of an archive or object file, as nm prints them."""
    printed = subprocess.run(
        ["nm", "-C", "-f", "sysv", binary], check=True, capture_output=True, text=True
    ).stdout
    member = binary.name
    found = []
    for line in printed.splitlines():
        if heading := re.match(r"(?:Undefined s|S)ymbols from (.*):$", line):
            member = re.split(r"[/\[]", heading[1].rstrip("]"))[-1]
        # Name|Value|Class|Type|Size|Line|Section, where a demangled name may itself hold a bar.
        fields = line.rsplit("|", 6)
        if len(fields) == 7 and fields[6].strip() != ".group":
            found.append(Symbol(member, fields[0].strip(), fields[6].strip()))
    assert found, f"nm found no symbols in {binary}: the rule checked nothing"
    return found


def compile_object(source: str, folder: Path) -> Path:
    """For a rule's bad example: the object file of a few lines of C++."""
    (folder / "example.cc").write_text(source, encoding="utf-8")
    made = folder / "example.o"
    subprocess.run(
        ["g++", "-std=c++23", "-O1", "-fPIC", "-c", folder / "example.cc", "-o", made],
        check=True,
        timeout=60,
    )
    return made


def listed(findings: list[str]) -> str:
    return f"{len(findings)} to put right:\n" + "\n".join(findings)
