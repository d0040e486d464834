"""Goal: what `make install` and `make deb` hand out works for somebody who has nothing else of us.

Method: the release build is installed below a folder that is then moved, and an outside project
finds and links it there. The Debian package is unpacked into an empty root and looked at as dpkg
and systemd would.
"""

from __future__ import annotations

import configparser
import gzip
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from emulation import emulator  # noqa: E402

ROOT = HERE.parents[1]
PYTHON = f"lib/python3.{sys.version_info.minor}/dist-packages/pawl"
PYTHON_FILES = sorted(
    path.name
    for path in (ROOT / "python" / "pawl").iterdir()
    if path.suffix in (".py", ".pyi", ".typed")
)
HEADERS = sorted(path.name for path in (ROOT / "include" / "pawl").iterdir())
STRICT = "-std=c++23 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split()

COMMON_FILES = {
    "bin/pawl",
    *(f"include/pawl/{name}" for name in HEADERS),
    "lib/libpawl.a",
    "lib/cmake/pawl/pawlConfig.cmake",
    "lib/cmake/pawl/pawlConfigVersion.cmake",
    "lib/cmake/pawl/pawlTargets.cmake",
    "lib/cmake/pawl/pawlTargets-release.cmake",
    "lib/systemd/system/pawl.service",
    *(f"{PYTHON}/{name}" for name in PYTHON_FILES),
    f"{PYTHON}/_pawl{sysconfig.get_config_var('EXT_SUFFIX')}",
    "share/bash-completion/completions/pawl",
    "share/doc/pawl/README.md",
    "share/doc/pawl/copyright",
    "share/doc/pawl/examples/durable_operation.cc",
    "share/doc/pawl/examples/durable_sleep.cc",
    "share/doc/pawl/examples/durable_sleep.py",
    "share/doc/pawl/examples/executor.cc",
    "share/doc/pawl/examples/limiter.cc",
    "share/doc/pawl/examples/orders.cc",
    "share/doc/pawl/examples/pawl.yaml",
    "share/doc/pawl/examples/queue.cc",
    "share/fish/vendor_completions.d/pawl.fish",
    "share/zsh/vendor-completions/_pawl",
}
INSTALLED_FILES = COMMON_FILES | {"share/man/man1/pawl.1"}
DEB_FILES = {f"usr/{name}" for name in COMMON_FILES} | {
    "usr/share/doc/pawl/changelog.gz",
    "usr/share/man/man1/pawl.1.gz",
    "etc/pawl/pawl.yaml",
}


def run(*command: object, **options) -> str:
    """Standard output; a failure of the command is one of the test, with all it said."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=300, **options
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"{shlex.join(map(str, command))}: {done.returncode}\n{said}"
    return done.stdout


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="session")
def build() -> Path:
    """The release build: PAWL_BUILD, else build/release."""
    folder = (ROOT / os.environ.get("PAWL_BUILD", "build/release")).absolute()
    if not (folder / "CPackConfig.cmake").is_file():
        pytest.fail(f"{folder} is no release build; make one with `make build`, or set PAWL_BUILD")
    return folder


@pytest.fixture(scope="session")
def installed(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed tree, moved after it was installed: nothing in it may know where it was."""
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", build, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture(scope="session")
def deb(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make deb` makes."""
    folder = tmp_path_factory.mktemp("deb")
    run("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder)
    made = list(folder.glob("*.deb"))
    assert len(made) == 1, made
    return made[0]


@pytest.fixture(scope="session")
def unpacked(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root")
    run("dpkg-deb", "-x", deb, folder)
    return folder


@pytest.fixture(scope="session")
def control(deb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("control")
    run("dpkg-deb", "-e", deb, folder)
    return folder


@pytest.fixture(scope="session")
def unit(unpacked: Path) -> dict[str, str]:
    """The [Service] section of the unit."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment]
    parser.read(unpacked / "usr/lib/systemd/system/pawl.service")
    return dict(parser["Service"])


def test_the_installed_tree_holds_what_users_need_and_no_more(installed: Path):
    assert files_below(installed) == INSTALLED_FILES


def test_an_outside_project_finds_and_uses_the_library(installed: Path, tmp_path: Path):
    version = run(installed / "bin/pawl", "--version").split()[-1]
    where = ("-S", HERE / "outside", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "-G", "Ninja", *where)
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "outside") == f"pawl {version}\n10\n"


def built_example(installed: Path, name: str, tmp_path: Path) -> Path:
    example = installed / f"share/doc/pawl/examples/{name}.cc"
    program = tmp_path / name
    stands_on = ("-lsqlite3", "-lhiredis", "-lnats", "-lcurl", "-lssl", "-lcrypto", "-lcctz")
    library = (f"-L{installed}/lib", "-lpawl", *stands_on, "-pthread")
    run("g++", *STRICT, f"-I{installed}/include", example, *library, "-o", program)
    return program


def test_the_limiter_example_runs_against_the_installed_library(installed: Path, tmp_path: Path):
    assert run(built_example(installed, "limiter", tmp_path)).splitlines() == [
        "acme: go, 1 left",
        "acme: go, 0 left",
        "acme: wait 200ms",
        "globex: go, 1 left",
        "acme: go, 0 left",
    ]


def test_the_executor_example_charges_once_whatever_is_run_again(installed: Path, tmp_path: Path):
    program = built_example(installed, "executor", tmp_path)
    store = f"sqlite:{tmp_path}/intents.db"
    first = run(program, store).splitlines()
    assert first == [
        "attempt 1: connection refused",
        "attempt 2: connection refused",
        "attempt 3: charged",
        "answer: charge-17",
        "answer: charge-17",
    ]
    assert run(program, store).splitlines() == ["answer: charge-17"] * 2


def test_the_orders_example_places_once_on_the_emulated_venue(
    installed: Path, pawl: Path, tmp_path: Path
):
    program = built_example(installed, "orders", tmp_path)
    with emulator(pawl, "okx", tmp_path) as market:
        first = run(program, market.url, cwd=tmp_path).splitlines()
        order_id = first[0].split()[-1]
        assert first == [
            f"confirmed {order_id}",
            f"confirmed {order_id} (nothing was sent)",
            "1/5 orders this week",
        ]
        assert run(program, market.url, cwd=tmp_path).splitlines()[0] == first[1]
        assert market.accepted("example1") == 1


def test_the_queue_example_sleeps_and_goes_on(installed: Path, tmp_path: Path):
    program = built_example(installed, "queue", tmp_path)
    for _ in range(2):  # a queue that is there already is used as it is
        assert run(program, f"dir:{tmp_path}/tasks").splitlines() == [
            "1 completed, 1 failed",
            "Version 1: pending (created)",
            "Version 2: running (claimed by worker-1)",
            "Version 3: pending (rescheduled, available_at: +0s, count: 1)",
            "Version 4: running (claimed by worker-1)",
            "Version 5: completed",
            "failed: that is no address",
        ]


def test_the_durable_operation_example_goes_on_after_an_hour(installed: Path, tmp_path: Path):
    assert run(built_example(installed, "durable_operation", tmp_path)).splitlines() == [
        'attempt 1 of {"order":17}: not now',
        "sleeps until 09:00:00",
        'attempt 2 of {"order":17}: charged',
        'completed: "charge-17"',
        "asked again: charge-17",
    ]


def test_the_five_reasons_to_sleep_run_against_the_installed_library(
    installed: Path, tmp_path: Path
):
    assert run(built_example(installed, "durable_sleep", tmp_path)).splitlines() == [
        "api_call: completed at 08:00:00, rescheduled 0, retried 0",
        "api_call: completed at 08:00:10, rescheduled 1, retried 0",
        "external_call: completed at 08:00:33, rescheduled 1, retried 2",
        "market_order: completed at 09:30:00, rescheduled 1, retried 0",
        "process_order: completed at 08:10:00, rescheduled 2, retried 0",
        "send_email: completed at 08:00:00, rescheduled 0, retried 0",
        "send_email: completed at 08:00:30, rescheduled 1, retried 0",
    ]


def test_the_installed_python_package_is_found_and_works(installed: Path, tmp_path: Path):
    folder = installed / PYTHON.removesuffix("/pawl")
    where = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    example = installed / "share/doc/pawl/examples/durable_sleep.py"
    lines = run("/usr/bin/python3", example, env=where, cwd=tmp_path).splitlines()
    assert lines == run(built_example(installed, "durable_sleep", tmp_path)).splitlines()
    version = run(installed / "bin/pawl", "--version").split()[-1]
    assert run("/usr/bin/python3", "-c", "import pawl; print(pawl.__version__)", env=where) == (
        f"{version}\n"
    )


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("header", HEADERS)
def test_a_public_header_compiles_alone(installed: Path, header: str, compiler: str):
    command = (compiler, *STRICT, "-fsyntax-only", f"-I{installed}/include", "-x", "c++", "-")
    run(*command, input=f"#include <pawl/{header}>\n")


def test_the_umbrella_header_includes_every_other(installed: Path):
    umbrella = (installed / "include/pawl/pawl.h").read_text()
    included = set(re.findall(r'#include "pawl/(.+)"', umbrella))
    assert included == {name for name in HEADERS if name != "pawl.h"}


def test_the_unit_starts_the_binary_it_was_installed_with(build: Path, tmp_path: Path):
    run("cmake", "--install", build, "--prefix", tmp_path)
    text = (tmp_path / "lib/systemd/system/pawl.service").read_text()
    assert f"\nExecStart={tmp_path}/bin/pawl serve " in text


def test_the_package_holds_what_users_need_and_no_more(unpacked: Path):
    assert files_below(unpacked) == DEB_FILES


def test_everything_in_the_package_is_roots_and_readable_by_all(deb: Path, tmp_path: Path):
    archive = tmp_path / "data.tar"
    archive.write_bytes(
        subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], check=True, capture_output=True).stdout
    )
    with tarfile.open(archive) as members:
        for member in members:
            mode = 0o755 if member.isdir() or member.name == "./usr/bin/pawl" else 0o644
            assert (member.uid, member.gid, member.mode) == (0, 0, mode), member.name


def test_the_package_says_what_it_is(deb: Path, pawl: Path):
    version = run(pawl, "--version").split()[-1]
    architecture = run("dpkg", "--print-architecture").strip()
    assert deb.name == f"pawl_{version}_{architecture}.deb"
    fields = {
        name: run("dpkg-deb", "-f", deb, name).strip()
        for name in ("Package", "Version", "Architecture", "Maintainer", "Section", "Priority")
    }
    assert fields == {
        "Package": "pawl",
        "Version": version,
        "Architecture": architecture,
        "Maintainer": "pawl maintainers",
        "Section": "net",
        "Priority": "optional",
    }
    summary, *more = run("dpkg-deb", "-f", deb, "Description").splitlines()
    assert 20 < len(summary) < 80 and len(more) > 3


def test_the_binary_of_the_package_runs(unpacked: Path, pawl: Path):
    assert run(unpacked / "usr/bin/pawl", "--version") == run(pawl, "--version")


def package_of(library: Path) -> str:
    """Which Debian package a library belongs to; /lib and /usr/lib are one folder."""
    for path in (library, Path("/usr") / library.relative_to("/"), library.resolve()):
        found = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise AssertionError(f"{library} belongs to no package")


def names_of(package: str) -> set[str]:
    """The package's own name, and those that it provides."""
    provided = run("dpkg-query", "-W", "-f", "${Provides}", package)
    return {package, *package_names(provided)}


def package_names(dependencies: str) -> list[str]:
    """"libc6 (>= 2.34), a | b" names libc6, a and b."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9+.-]+)", dependencies)


def test_the_package_depends_on_every_library_the_binary_needs(deb: Path, unpacked: Path):
    binary = unpacked / "usr/bin/pawl"
    needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", binary))
    found = {Path(path).name: Path(path) for path in re.findall(r"(/\S+) \(", run("ldd", binary))}
    assert "libc.so.6" in needed
    depends = run("dpkg-deb", "-f", deb, "Depends")
    named = set(package_names(depends))
    missing = {name for name in needed if not names_of(package_of(found[name])) & named}
    assert not missing, f"{missing} is needed, and Depends is {depends}"
    assert "libc6 (>= " in depends


def test_the_manual_page_is_that_of_the_binary(unpacked: Path):
    page = gzip.decompress((unpacked / "usr/share/man/man1/pawl.1.gz").read_bytes()).decode()
    assert page == run(unpacked / "usr/bin/pawl", "man")
    assert "serve" in page


@pytest.mark.parametrize(
    ("shell", "path"),
    [
        ("bash", "bash-completion/completions/pawl"),
        ("zsh", "zsh/vendor-completions/_pawl"),
        ("fish", "fish/vendor_completions.d/pawl.fish"),
    ],
)
def test_the_completions_are_those_of_the_binary(unpacked: Path, shell: str, path: str):
    script = unpacked / "usr/share" / path
    assert script.read_text() == run(unpacked / "usr/bin/pawl", "completions", shell)
    assert "serve" in script.read_text()
    run(shell, "-n", script)


def test_the_configuration_is_a_conffile_that_pawl_accepts(unpacked: Path, control: Path):
    assert (control / "conffiles").read_text() == "/etc/pawl/pawl.yaml\n"
    run(unpacked / "usr/bin/pawl", "config", "check", unpacked / "etc/pawl/pawl.yaml")


def test_the_unit_starts_and_configures_what_is_in_the_package(
    unpacked: Path, unit: dict[str, str]
):
    program, verb, option, config = shlex.split(unit["ExecStart"])
    assert os.access(unpacked / program.lstrip("/"), os.X_OK)
    assert (verb, option) == ("serve", "--config")
    assert (unpacked / config.lstrip("/")).is_file()


def test_the_unit_gives_requests_in_flight_the_time_to_end(unit: dict[str, str]):
    bounds = (ROOT / "src/base/bounds.h").read_text()
    drain = re.search(r"drain_deadline = Duration::seconds\((\d+)\)", bounds)
    stop = re.fullmatch(r"(\d+)s", unit["TimeoutStopSec"])
    assert drain and stop and int(stop[1]) > int(drain[1])


def test_the_unit_allows_more_files_than_connections(unit: dict[str, str]):
    bounds = (ROOT / "src/base/bounds.h").read_text()
    connections = re.search(r"connections_max = ([\d']+)", bounds)
    assert connections
    assert int(unit["LimitNOFILE"]) > 2 * int(connections[1].replace("'", ""))


def test_the_unit_runs_without_rights(unit: dict[str, str]):
    for name, value in {
        "DynamicUser": "yes",
        "CapabilityBoundingSet": "",
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "PrivateDevices": "yes",
        "MemoryDenyWriteExecute": "yes",
        "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
        "WorkingDirectory": "/var/lib/pawl",
        "StateDirectory": "pawl",
    }.items():
        assert unit.get(name) == value, name


@pytest.mark.parametrize("script", ["postinst", "prerm"])
def test_a_script_of_the_package_is_sound_shell(control: Path, script: str):
    run("sh", "-n", control / script)
    assert os.access(control / script, os.X_OK)


def test_nothing_in_the_package_names_the_folder_it_was_built_in(unpacked: Path, build: Path):
    for name in sorted(files_below(unpacked)):
        content = (unpacked / name).read_bytes()
        for folder in (ROOT, build):
            assert os.fsencode(folder) not in content, f"{name} holds {folder}"
