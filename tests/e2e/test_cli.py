"""Goal: the binary keeps what its help and the exit codes promise, in good surroundings and in bad.

Method: the real binary as a black box, in a folder of its own, on ports that the system chooses.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROKEN = ROOT / "tests" / "config" / "broken"
TIME_LIMIT_SECONDS = 30

VERBS = (
    *("serve", "demo-upstream", "config check", "config show", "config reference"),
    *("doctor", "audit verify", "audit tail", "audit stats", "completions", "man"),
    *("retry policies", "retry classify", "replay", "sim"),
    *("idempotency list", "idempotency show", "idempotency clear", "idempotency settle"),
    *("submit", "get", "history", "why", "list", "tail", "cancel", "close", "open", "stats"),
    *("work", "cost", "limit set", "limit list", "limit remove", "export", "import"),
    *("schedule create", "schedule list", "schedule show", "schedule enable"),
    *("schedule disable", "schedule delete", "schedule trigger"),
)
# The upstream is not there, and nobody wants to hear of it.
ANY_PORTS = (
    "server:\n  listen: 127.0.0.1:0\n  admin:\n    listen: 127.0.0.1:0\n"
    "  health: {interval: 10m, unhealthy_after: 10}\n"
)

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(pawl: Path, tmp_path: Path) -> Run:
    """Runs pawl to its end in the test's folder."""

    def run_pawl(*words: str, **options) -> subprocess.CompletedProcess[str]:
        settings = {"cwd": tmp_path, "capture_output": True, "text": True, **options}
        return subprocess.run(
            [pawl, *words], stdin=subprocess.DEVNULL, timeout=TIME_LIMIT_SECONDS, **settings
        )

    return run_pawl


class Server:
    """A pawl that runs until it is ended, with the lines that it says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def line(self) -> str:
        """The next line of its standard error, or of its standard output when that is a pipe."""
        stream = self.process.stdout or self.process.stderr
        ready, _, _ = select.select([stream], [], [], TIME_LIMIT_SECONDS)
        assert ready, "it says nothing"
        return stream.readline()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(TIME_LIMIT_SECONDS)


@contextlib.contextmanager
def started(pawl: Path, folder: Path, *words: str, says: str = "stderr") -> Iterator[Server]:
    streams = {says: subprocess.PIPE}
    process = subprocess.Popen(
        [pawl, *words], cwd=folder, stdin=subprocess.DEVNULL, text=True, bufsize=1, **streams
    )
    try:
        yield Server(process)
    finally:
        process.kill()
        process.wait()
        process.stdout and process.stdout.close()
        process.stderr and process.stderr.close()


@contextlib.contextmanager
def serving(pawl: Path, folder: Path, extra: str = "") -> Iterator[tuple[Server, dict]]:
    """`pawl serve` on free ports, and its line of log that names them."""
    (folder / "pawl.yaml").write_text(ANY_PORTS + "log: {format: json}\n" + extra)
    with started(pawl, folder, "serve") as server:
        line = json.loads(server.line())
        assert line["event"] == "serving"
        yield server, line


@contextlib.contextmanager
def demo_upstream(pawl: Path, folder: Path) -> Iterator[tuple[Server, str]]:
    words = ("demo-upstream", "--listen", "127.0.0.1:0")
    with started(pawl, folder, *words, says="stdout") as server:
        yield server, server.line().strip().removeprefix("demo upstream on http://")


def get(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(address, timeout=TIME_LIMIT_SECONDS)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Somebody else's port: it accepts, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other


def address_of(listener: socket.socket) -> str:
    return "{}:{}".format(*listener.getsockname())


# ---- words


def test_the_version_is_printed(run: Run):
    project = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    number = re.search(r"^project\(pawl VERSION (\S+)", project, re.MULTILINE)[1]
    version = run("--version")
    assert (version.returncode, version.stdout, version.stderr) == (0, f"pawl {number}\n", "")
    began = time.monotonic()
    for _ in range(20):
        run("--version")
    print(f"pawl --version: {(time.monotonic() - began) / 20 * 1000:.1f} ms with its start")


def test_nothing_typed_is_told_what_there_is(run: Run):
    asked, nothing = run("--help"), run()
    assert asked.returncode == 0 and asked.stderr == ""
    assert nothing.returncode == 2 and nothing.stdout == ""
    assert nothing.stderr == asked.stdout
    assert all(f"\n  {verb} " in asked.stdout for verb in VERBS)
    group = run("config")
    assert group.returncode == 2 and "config check" in group.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(run: Run, verb: str):
    for flag in ("--help", "-h"):
        text = run(*verb.split(), flag)
        assert text.returncode == 0 and text.stderr == ""
        assert f"\nUsage: pawl {verb} " in text.stdout
        assert f"\nExamples:\n  pawl {verb}" in text.stdout
        assert "\n  --config FILE " in text.stdout


@pytest.mark.parametrize(
    "words, message, where",
    [
        (["sevre"], 'unknown verb "sevre"; did you mean "serve"?', ""),
        (["help"], 'unknown verb "help"; did you mean "--help"?', ""),
        (["version"], 'unknown verb "version"; did you mean "--version"?', ""),
        (["config", "chek"], 'unknown verb "config chek"; did you mean "config check"?', "config "),
        (["doctor", "--jsn"], 'unknown option "--jsn"; did you mean "--json"?', "doctor "),
        (["serve", "now"], 'unexpected argument "now"', "serve "),
        (["serve", "--config"], "--config needs a value: --config FILE", "serve "),
        (["completions"], "SHELL is missing", "completions "),
        (["completions", "sh"], 'SHELL is "sh"; allowed: bash, zsh, fish', "completions "),
        (["demo-upstream", "--listen=9000"], None, "demo-upstream "),
    ],
)
def test_wrong_words_end_with_2(run: Run, words: list[str], message: str | None, where: str):
    wrong = run(*words)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    first, second = wrong.stderr.splitlines()
    assert first == f"pawl: {message}" if message else first.startswith("pawl: --listen: ")
    assert second == f"Run 'pawl {where}--help'"


def test_output_that_cannot_be_written_is_an_error(run: Run):
    with open("/dev/full", "w") as full:
        failed = run("man", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert failed.returncode == 6
    assert failed.stderr.startswith("pawl: cannot write all of the output; ")


# ---- config


def broken_files() -> list[Path]:
    return sorted(BROKEN.glob("*.yaml"))


def test_there_are_broken_files():
    assert len(broken_files()) >= 30


@pytest.mark.parametrize("file", broken_files(), ids=lambda file: file.stem)
def test_config_check_names_every_problem(run: Run, file: Path):
    told = run("config", "check", file.name, cwd=BROKEN, text=False)
    assert told.returncode == 1
    assert told.stdout == b""
    assert told.stderr == file.with_suffix(".expected").read_bytes()


def test_config_check_of_a_good_file(run: Run, tmp_path: Path):
    (tmp_path / "good.yaml").write_text(ANY_PORTS)
    good = run("config", "check", "good.yaml")
    assert (good.returncode, good.stdout, good.stderr) == (0, "good.yaml: ok\n", "")
    as_json = run("config", "check", "--json", "good.yaml")
    assert json.loads(as_json.stdout) == {"file": "good.yaml", "valid": True, "problems": []}


def test_config_check_without_a_file_checks_what_would_be_in_force(run: Run, tmp_path: Path):
    assert run("config", "check").stdout == "the built-in defaults: ok\n"
    (tmp_path / "pawl.yaml").write_text("log: {level: loud}\n")
    assert run("config", "check").returncode == 1
    (tmp_path / "other.yaml").write_text("")
    assert run("config", "check", "--config", "other.yaml").stdout == "other.yaml: ok\n"


def test_config_check_gives_json_to_programs(run: Run, tmp_path: Path):
    (tmp_path / "bad.yaml").write_text("log:\n  level: loud\n")
    bad = run("config", "check", "--json", "bad.yaml")
    assert (bad.returncode, bad.stderr) == (1, "")
    problem = json.loads(bad.stdout)["problems"][0]
    assert (problem["file"], problem["line"], problem["path"]) == ("bad.yaml", 2, "log.level")


def test_a_missing_file_is_an_invalid_configuration(run: Run, tmp_path: Path):
    for words in (["config", "check", "no.yaml"], ["serve", "--config", "no.yaml"]):
        missing = run(*words)
        assert missing.returncode == 1
        assert missing.stderr.startswith("no.yaml: cannot be read (No such file or directory); ")
    (tmp_path / "pawl.yaml").symlink_to("no.yaml")
    assert run("config", "show").returncode == 1, "a link to nowhere must not mean the defaults"


def test_config_show_reads_back_as_the_same(run: Run, tmp_path: Path):
    (tmp_path / "pawl.yaml").write_text("log: {level: warn}\nserver: {threads: 3}\n")
    shown = run("config", "show")
    assert shown.returncode == 0 and "\n  threads: 3\n" in shown.stdout
    (tmp_path / "again.yaml").write_text(shown.stdout)
    assert run("config", "show", "--config", "again.yaml").stdout == shown.stdout
    as_json = json.loads(run("config", "show", "--json").stdout)
    assert as_json["server"]["threads"] == 3 and as_json["log"]["level"] == "warn"
    assert as_json["limits"]["buckets"][0]["shadow"] is False


def test_variables_come_from_the_environment_and_secrets_stay_hidden(run: Run, tmp_path: Path):
    (tmp_path / "pawl.yaml").write_text("server:\n  admin:\n    token: ${PAWL_TEST_TOKEN}\n")
    assert run("config", "show").returncode == 1
    environment = {**os.environ, "PAWL_TEST_TOKEN": "hush"}
    for words in (["config", "show"], ["config", "show", "--json"]):
        shown = run(*words, env=environment)
        assert shown.returncode == 0 and "***" in shown.stdout and "hush" not in shown.stdout


def test_config_reference_is_the_page_in_docs(run: Run):
    page = run("config", "reference")
    assert page.returncode == 0
    assert page.stdout == (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8"), (
        "run `pawl config reference > docs/configuration.md`"
    )


# ---- man page and completions


def test_the_man_page_is_clean(run: Run, tmp_path: Path):
    page = run("man")
    assert page.returncode == 0
    (tmp_path / "pawl.1").write_text(page.stdout)
    lint = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", "pawl.1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
    )
    assert (lint.returncode, lint.stdout, lint.stderr) == (0, "", "")
    text = subprocess.run(
        ["mandoc", "-T", "ascii", "pawl.1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
    )
    plain = re.sub(".\b", "", text.stdout)  # without the second strikes that make letters bold
    assert all(f"\n   pawl {verb} [OPTIONS]" in plain for verb in VERBS)


def completed(shell: list[str], script: str, folder: Path) -> list[str]:
    answer = subprocess.run(
        [*shell, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    return answer.stdout.splitlines()


CASES = [
    (["pawl", "conf"], ["config"]),
    (["pawl", "config", "ch"], ["check"]),
    (["pawl", "config", ""], ["check", "show", "reference"]),
    (["pawl", "completions", ""], ["bash", "zsh", "fish"]),
    (["pawl", "config", "show", "--js"], ["--json"]),
    (["pawl", "serve", "--config", "pa"], ["pawl.yaml"]),
    (["pawl", "config", "check", "--json", "pa"], ["pawl.yaml"]),
    (["pawl", "demo-upstream", "--lis"], ["--listen"]),
    (["pawl", "demo-upstream", "--listen", ""], []),
    (["pawl", "serve", "pa"], []),
]


@pytest.mark.parametrize("words, expected", CASES)
def test_bash_completes(run: Run, tmp_path: Path, words: list[str], expected: list[str]):
    (tmp_path / "completions").write_text(run("completions", "bash").stdout)
    (tmp_path / "pawl.yaml").touch()
    typed = " ".join(f"'{word}'" for word in words)
    script = f"""
    source ./completions
    complete -p pawl | grep -qx 'complete -F _pawl pawl' || exit 1
    COMP_WORDS=({typed})
    COMP_CWORD={len(words) - 1}
    _pawl
    [ "${{#COMPREPLY[@]}}" = 0 ] || printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    found = completed(["bash", "--norc"], script, tmp_path)
    if words[-1] == "":
        found = [word for word in found if not word.startswith("--")]
    assert sorted(found) == sorted(expected)


def test_bash_completes_after_an_equals_sign(run: Run, tmp_path: Path):
    (tmp_path / "completions").write_text(run("completions", "bash").stdout)
    (tmp_path / "pawl with blank.yaml").touch()
    for words in ("pawl serve --config = pa", "pawl serve --config ="):
        script = f"""
        source ./completions
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _pawl
        printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        assert "pawl with blank.yaml" in completed(["bash", "--norc"], script, tmp_path)


@pytest.mark.parametrize("words, expected", CASES)
def test_fish_completes(run: Run, tmp_path: Path, words: list[str], expected: list[str]):
    (tmp_path / "completions").write_text(run("completions", "fish").stdout)
    (tmp_path / "pawl.yaml").touch()
    home = f"set -x HOME {tmp_path}; set -x XDG_CONFIG_HOME {tmp_path}"
    script = f"{home}; source ./completions; complete -C '{' '.join(words)}'"
    found = [line.split("\t")[0] for line in completed(["fish", "--no-config"], script, tmp_path)]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_valid_in_their_shell(run: Run, tmp_path: Path, shell: str):
    (tmp_path / "completions").write_text(run("completions", shell).stdout)
    check = subprocess.run(
        [shell, "-n", "completions"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
    )
    assert (check.returncode, check.stdout, check.stderr) == (0, "", "")


def test_zsh_completes(run: Run, tmp_path: Path):
    """zsh completes on a terminal alone, so one is made; pawl is a function that says its words."""
    (tmp_path / "_pawl").write_text(run("completions", "zsh").stdout)
    (tmp_path / "pawl.yaml").touch()
    (tmp_path / ".zshrc").write_text(
        f"fpath=({tmp_path} $fpath); autoload -U compinit; compinit -u -D\n"
        "PS1='ready>'; pawl() { print -r -- \"<said $@>\" }\n"
    )
    zsh, terminal = pty.fork()
    if zsh == 0:
        os.chdir(tmp_path)
        environment = {"PATH": os.environ["PATH"], "ZDOTDIR": str(tmp_path), "TERM": "dumb"}
        os.execvpe("zsh", ["zsh", "-o", "NO_GLOBAL_RCS", "-i"], environment)
    try:
        heard = hear(terminal, b"ready>")
        for typed, said in (
            (b"pawl conf\tch\t--js\tpa\t\n", b"<said config check --json pawl.yaml>"),
            (b"pawl completions f\t\n", b"<said completions fish>"),
            (b"pawl serve --conf\tpa\t\n", b"<said serve --config=pawl.yaml>"),
        ):
            os.write(terminal, typed)
            heard = hear(terminal, said)
            heard = heard if b"ready>" in heard.split(said)[1] else hear(terminal, b"ready>")
    finally:
        os.kill(zsh, signal.SIGKILL)
        os.waitpid(zsh, 0)
        os.close(terminal)


def hear(terminal: int, wanted: bytes) -> bytes:
    """What the terminal shows, up to the wanted words and what came with them."""
    heard = b""
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    while wanted not in heard:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([terminal], [], [], max(0.0, left))
        assert ready, f"waited for {wanted!r} and saw {heard!r}"
        heard += os.read(terminal, 65536)
    return heard


# ---- serve, demo-upstream


def test_the_demo_upstream_answers(pawl: Path, tmp_path: Path):
    with demo_upstream(pawl, tmp_path) as (server, address):
        status, _, body = get(address, "/hello?a=b", **{"X-Tenant-Id": "acme"})
        assert status == 200
        assert json.loads(body) == {
            **{"served": 1, "method": "GET", "path": "/hello"},
            **{"tenant": "acme", "body_bytes": 0},
        }
        assert get(address, "/fail")[0] == 500
        assert server.end() == 0


def test_serve_passes_limits_and_ends_well(pawl: Path, run: Run, tmp_path: Path):
    with demo_upstream(pawl, tmp_path) as (_, upstream):
        extra = f"""
limits:
  buckets: [{{name: few, rate: 2/1h}}]
audit:
  sinks: [file:data/audit.jsonl]
"""
        settings = ANY_PORTS.replace("server:\n", f"server:\n  upstream: http://{upstream}\n")
        (tmp_path / "shop.yaml").write_text(settings + "log: {format: json}\n" + extra)
        with started(pawl, tmp_path, "serve", "--config", "shop.yaml") as server:
            line = json.loads(server.line())
            assert (line["event"], line["upstream"]) == ("serving", f"http://{upstream}")
            statuses = [get(line["guarded"], "/")[0] for _ in range(4)]
            assert statuses == [200, 200, 429, 429]
            assert get(line["admin"], "/healthz")[0] == 200
            assert server.end() == 0
    verified = run("audit", "verify", "--config", "shop.yaml")
    assert verified.returncode == 0 and "records verified, last seq " in verified.stdout


def test_serve_ends_well_on_ctrl_c(pawl: Path, tmp_path: Path):
    with serving(pawl, tmp_path) as (server, _):
        assert server.end(signal.SIGINT) == 0


def test_serve_reads_the_configuration_again_or_not_at_all(pawl: Path, tmp_path: Path):
    with serving(pawl, tmp_path) as (server, _):
        config = tmp_path / "pawl.yaml"
        good = config.read_text()
        config.write_text(good + "tenants: {missing: reject}\n")
        server.process.send_signal(signal.SIGHUP)
        line = json.loads(server.line())
        assert (line["event"], line["changed"]) == ("config_reloaded", "tenants.missing")
        config.write_text(good + "tenants: {missing: perhaps}\n")
        server.process.send_signal(signal.SIGHUP)
        line = json.loads(server.line())
        assert line["event"] == "config_reload_refused"
        assert line["problem"].startswith("pawl.yaml:7: tenants.missing: found ")
        config.unlink()
        server.process.send_signal(signal.SIGHUP)
        line = json.loads(server.line())
        assert line["event"] == "config_reload_refused" and "cannot be read" in line["problem"]
        assert server.end() == 0


def test_a_taken_address_ends_with_6(
    pawl: Path, run: Run, tmp_path: Path, listener: socket.socket
):
    taken = address_of(listener)
    for setting, text in (
        ("server.listen", f"server: {{listen: {taken}, admin: {{listen: '127.0.0.1:0'}}}}\n"),
        ("server.admin.listen", f"server: {{listen: '127.0.0.1:0', admin: {{listen: {taken}}}}}\n"),
    ):
        (tmp_path / "pawl.yaml").write_text(text)
        refused = run("serve")
        assert (refused.returncode, refused.stdout) == (6, "")
        assert refused.stderr == (
            f"pawl: another program listens on {taken};"
            f" end it, or choose another address with {setting}\n"
        )
    refused = run("demo-upstream", "--listen", taken)
    assert refused.returncode == 6 and "with --listen" in refused.stderr


def test_a_second_pawl_does_not_share_the_port_of_the_first(
    pawl: Path, run: Run, tmp_path: Path
):
    with serving(pawl, tmp_path) as (_, line):
        (tmp_path / "second.yaml").write_text(
            f"server: {{listen: {line['guarded']}, admin: {{listen: '127.0.0.1:0'}}}}\n"
        )
        second = run("serve", "--config", "second.yaml")
        assert second.returncode == 6 and "another program listens on" in second.stderr


@pytest.mark.parametrize("content", ["somebody else's file\n", None])
def test_an_audit_log_that_cannot_be_used_ends_with_6(
    run: Run, tmp_path: Path, content: str | None
):
    audit = tmp_path / "audit.jsonl"
    audit.mkdir() if content is None else audit.write_text(content)
    (tmp_path / "pawl.yaml").write_text(ANY_PORTS + "audit: {sinks: ['file:audit.jsonl']}\n")
    refused = run("serve")
    assert refused.returncode == 6
    assert refused.stderr.startswith("pawl: ") and "'audit.jsonl'" in refused.stderr
    assert ";" in refused.stderr, "it must say what to do"
    if content:
        assert audit.read_text() == content


# ---- audit verify


@pytest.fixture
def audit_log(pawl: Path, tmp_path: Path) -> Path:
    """The log of a pawl that reloaded its configuration five times."""
    extra = "audit: {sinks: ['file:audit.jsonl']}\n"
    with serving(pawl, tmp_path, extra) as (server, _):
        for _ in range(5):
            server.process.send_signal(signal.SIGHUP)
            assert json.loads(server.line())["event"] == "config_reloaded"
        assert server.end() == 0
    return tmp_path / "audit.jsonl"


def test_audit_verify_of_a_good_log(run: Run, audit_log: Path):
    last = json.loads(audit_log.read_text().splitlines()[-1])
    good = run("audit", "verify", "audit.jsonl")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == (
        f"audit.jsonl: ok, 5 records verified, last seq 5, hash {last['hash']}\n"
        "anchor: record 5 is there\n"
    )
    assert run("audit", "verify").stdout == good.stdout, "the configuration names the same file"
    assert json.loads(run("audit", "verify", "audit.jsonl", "--json").stdout) == {
        **{"file": "audit.jsonl", "files": 1, "verified": 5, "last_seq": 5},
        **{"last_hash": last["hash"], "flaw": None},
        "anchor": {"seq": 5, "hash": last["hash"]},
    }


def test_audit_verify_names_the_first_bad_record(run: Run, audit_log: Path):
    lines = audit_log.read_text().splitlines(keepends=True)
    (audit_log.parent / "audit.jsonl.anchor").unlink()  # test_audit.py looks at those
    for fault, text in (
        ("changed", "".join(lines).replace('"seq":3', '"seq":3 ')),
        ("missing", "".join(lines[:2] + lines[3:])),
        ("swapped", "".join(lines[:2] + [lines[3], lines[2], lines[4]])),
        ("cut", "".join(lines[:2]) + lines[2][:20]),
    ):
        audit_log.write_text(text)
        bad = run("audit", "verify", "audit.jsonl")
        assert (bad.returncode, bad.stdout) == (3, ""), fault
        assert bad.stderr.startswith("pawl: audit.jsonl: line 3: "), fault
        assert "record 3" in bad.stderr and "2 records verified, last seq 2" in bad.stderr
        as_json = run("audit", "verify", "audit.jsonl", "--json")
        assert as_json.returncode == 3
        assert json.loads(as_json.stdout)["flaw"]["fault"] == fault
        assert json.loads(as_json.stdout)["last_seq"] == 2


def test_audit_verify_of_nothing(run: Run, tmp_path: Path):
    for path in ("no.jsonl", "no/no.jsonl"):
        missing = run("audit", "verify", path)
        assert (missing.returncode, missing.stdout) == (5, "")
        assert missing.stderr.startswith(f"pawl: there is no audit log '{path}'; ")
    (tmp_path / "folder").mkdir()
    assert run("audit", "verify", "folder").returncode == 6
    assert run("audit", "verify", "--config", "no.yaml").returncode == 1


# ---- doctor


def findings(run: Run, *words: str) -> tuple[int, dict[str, dict[str, str]]]:
    looked = run("doctor", "--json", *words)
    report = json.loads(looked.stdout)
    checks = {each["check"]: each for each in report["checks"]}
    failed = [each for each in checks.values() if each["status"] == "fail"]
    assert report["fail"] == len(failed)
    assert all(each["advice"] for each in failed)
    return looked.returncode, checks


def write_config(folder: Path, **places: str) -> None:
    settings = {"listen": "127.0.0.1:0", "admin": "127.0.0.1:0", "audit": "audit.jsonl", **places}
    text = f"server:\n  listen: {settings['listen']}\n  admin: {{listen: '{settings['admin']}'}}\n"
    if "upstream" in settings:
        text += f"  upstream: http://{settings['upstream']}\n"
    (folder / "pawl.yaml").write_text(text + f"audit: {{sinks: ['file:{settings['audit']}']}}\n")


def test_sim_gives_the_same_run_for_a_seed_and_finds_the_bug_that_is_put_in(run: Run):
    first, again = (run("sim", "--seeds", "0..20", "--json") for _ in range(2))
    assert first.returncode == 0 and first.stdout == again.stdout
    told = json.loads(first.stdout)
    assert told["seeds"] == 21 and told["refused"] > 100 and told["violations"] == []
    broken = run("sim", "--seeds", "0..20", "--bug", "1", "--json")
    assert broken.returncode == 3
    seed = str(json.loads(broken.stdout)["violations"][0]["seed"])
    assert f"seed {seed} (" in run("sim", "--seed", seed, "--bug", "1").stdout
    for words in (("--seed", "1..2"), ("--seeds", "5"), ("--seeds", "2..1"), ("--bug", "2")):
        assert run("sim", *words).returncode == 2, words


def test_doctor_in_good_surroundings(run: Run, tmp_path: Path, listener: socket.socket):
    write_config(tmp_path, upstream=address_of(listener), audit="data/audit.jsonl")
    code, checks = findings(run)
    assert code == 0
    assert set(checks) == {
        *("configuration", "guarded address", "admin address", "upstream", "limits.store"),
        *("idempotency.store", "audit folder", "audit log", "disk space"),
        *("file descriptors", "clock", "queue.url"),
    }
    assert all(each["status"] != "fail" for each in checks.values())
    assert checks["configuration"]["found"] == "pawl.yaml is valid"
    assert not (tmp_path / "data").exists(), "doctor changes nothing"
    text = run("doctor")
    assert text.returncode == 0 and "\033" not in text.stdout
    column = text.stdout.index("configuration")
    named = [line for line in text.stdout.splitlines() if line[:4].strip() in ("ok", "warn")]
    assert len(named) == len(checks)
    assert all(line[column - 1] == " " and line[column] != " " for line in named)


def test_doctor_sees_what_is_taken_and_what_is_away(
    run: Run, tmp_path: Path, listener: socket.socket, free_port: Callable[[], int]
):
    taken, away = address_of(listener), f"127.0.0.1:{free_port()}"
    write_config(tmp_path, listen=taken, upstream=away)
    code, checks = findings(run)
    assert code == 6
    assert checks["guarded address"]["status"] == "fail"
    assert taken in checks["guarded address"]["found"]
    assert "server.listen" in checks["guarded address"]["advice"]
    assert checks["upstream"]["status"] == "fail" and away in checks["upstream"]["found"]
    assert checks["admin address"]["status"] == "ok"


def test_doctor_sees_an_audit_log_that_cannot_be_written(
    run: Run, tmp_path: Path, listener: socket.socket
):
    (tmp_path / "file").write_text("not a folder")
    write_config(tmp_path, upstream=address_of(listener), audit="file/audit.jsonl")
    code, checks = findings(run)
    assert code == 6 and checks["audit folder"]["status"] == "fail"
    write_config(tmp_path, upstream=address_of(listener), audit="file")
    code, checks = findings(run)
    assert code == 6 and checks["audit log"]["status"] == "fail"
    assert "pawl audit verify file" in checks["audit log"]["advice"]


def test_doctor_ends_with_1_for_the_configuration(run: Run, tmp_path: Path):
    (tmp_path / "pawl.yaml").write_text("log: {level: loud}\nmore: 1\n")
    code, checks = findings(run)
    assert code == 1
    assert checks["configuration"]["found"].startswith("pawl.yaml:1: log.level: found ")
    assert checks["configuration"]["found"].endswith("(and 1 more)")
    assert "upstream" not in checks and "clock" in checks


def test_doctor_knows_a_running_pawl(pawl: Path, run: Run, tmp_path: Path):
    with serving(pawl, tmp_path, "audit: {sinks: ['file:audit.jsonl']}\n") as (_, line):
        write_config(tmp_path, listen=line["guarded"], admin=line["admin"])
        _, checks = findings(run)
        for name in ("guarded address", "admin address"):
            assert checks[name]["status"] == "ok" and "a pawl is running" in checks[name]["found"]


class Teapot(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(418)

    def log_message(self, *_: object) -> None:
        pass


def test_doctor_takes_no_stranger_for_a_pawl(run: Run, tmp_path: Path):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Teapot) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        write_config(tmp_path, admin="127.0.0.1:{}".format(stranger.server_address[1]))
        code, checks = findings(run)
        stranger.shutdown()
    assert code == 6 and checks["admin address"]["status"] == "fail"


def test_doctor_warns_of_few_file_descriptors(pawl: Path, tmp_path: Path, listener: socket.socket):
    write_config(tmp_path, upstream=address_of(listener))
    limited = ["bash", "-c", 'ulimit -n 256 && exec "$0" doctor --json', str(pawl)]
    looked = subprocess.run(
        limited, cwd=tmp_path, capture_output=True, text=True, timeout=TIME_LIMIT_SECONDS
    )
    checks = {each["check"]: each for each in json.loads(looked.stdout)["checks"]}
    assert looked.returncode == 0
    assert checks["file descriptors"]["status"] == "warn"
    assert "about 128 connections" in checks["file descriptors"]["found"]


def test_doctor_uses_colour_on_a_terminal_alone(pawl: Path, tmp_path: Path):
    (tmp_path / "pawl.yaml").write_text(ANY_PORTS)
    for variables, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        terminal, side = pty.openpty()
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm", **variables}
        process = subprocess.Popen([pawl, "doctor"], cwd=tmp_path, stdout=side, env=environment)
        os.close(side)
        seen = hear(terminal, b" failed\r\n")
        process.wait(TIME_LIMIT_SECONDS)
        os.close(terminal)
        assert (b"\033[32mok" in seen) == coloured
