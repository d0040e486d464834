"""Goal: the test servers are real and usable, and nothing of them outlives `down`.

Method: each server is used through a client of its own. Starting and stopping is tried with a
temporary folder of its own, so that anything left behind, file or process, is found there.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import owned
import pytest
import servers
import services as test_services

HERE = Path(__file__).resolve().parent
SCRIPT = HERE / "services.py"


def output_of(*command: object) -> str:
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, f"{command} ended with {ran.returncode}: {ran.stdout}{ran.stderr}"
    return ran.stdout.strip()


def test_redis_keeps_a_value(services: dict[str, str]) -> None:
    address = services["PAWL_TEST_REDIS"]
    assert output_of("redis-cli", "-u", address, "SET", "smoke", "kept") == "OK"
    assert output_of("redis-cli", "-u", address, "GET", "smoke") == "kept"


def test_redis_writes_through_to_its_disk(services: dict[str, str]) -> None:
    answer = output_of("redis-cli", "-u", services["PAWL_TEST_REDIS"], "CONFIG", "GET", "append*")
    settings = answer.splitlines()
    assert settings[settings.index("appendfsync") + 1] == "always"
    assert settings[settings.index("appendonly") + 1] == "yes"


def test_the_cluster_redirects_and_a_cluster_client_follows(services: dict[str, str]) -> None:
    nodes = services["PAWL_TEST_REDIS_CLUSTER"].removeprefix("redis+cluster://").split(",")
    assert len(nodes) == 3
    port = nodes[0].partition(":")[2]
    keys = [f"smoke{number}" for number in range(12)]
    plain = [output_of("redis-cli", "-p", port, "SET", key, "plain") for key in keys]
    others = {answer.split()[-1] for answer in plain if answer.startswith("MOVED")}
    assert others == set(nodes[1:]), f"answers of the first node: {plain}"
    for key in keys:
        assert output_of("redis-cli", "-c", "-p", port, "SET", key, key.upper()).endswith("OK")
        assert output_of("redis-cli", "-c", "-p", port, "GET", key).endswith(key.upper())


def test_nats_key_values_refuse_stale_writes(services: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "nats_smoke"
    output_of("gcc", "-Wall", "-Wextra", "-Werror", HERE / "nats_smoke.c", "-o", program, "-lnats")
    output_of(program, services["PAWL_TEST_NATS"])


def test_postgres_answers_a_query(services: dict[str, str]) -> None:
    query = "CREATE TEMP TABLE t (n int); INSERT INTO t VALUES (40), (2); SELECT sum(n) FROM t"
    answer = output_of("psql", "-X", "-q", "-A", "-t", services["PAWL_TEST_POSTGRES"], "-c", query)
    assert answer == "42"


def test_s3_creates_an_object_only_once(services: dict[str, str], tmp_path: Path) -> None:
    bucket = f"{services['PAWL_TEST_S3']}/{services['PAWL_TEST_S3_BUCKET']}"
    url = f"{bucket}/smoke-{os.getpid()}-{time.time_ns()}"
    body = tmp_path / "body"
    keys = f"{services['AWS_ACCESS_KEY_ID']}:{services['AWS_SECRET_ACCESS_KEY']}"
    signed = ("--user", keys, "--aws-sigv4", "aws:amz:us-east-1:s3")

    def s3(*arguments: str) -> str:
        hashed = ("-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD")
        quiet = ("curl", "-sS", "--noproxy", "*", "-o", body, "-w", "%{http_code}")
        return output_of(*quiet, *signed, *hashed, *arguments, url)

    create = ("-X", "PUT", "-H", "If-None-Match: *", "--data-binary")
    assert s3(*create, "first") == "200"
    assert s3(*create, "second") == "412"
    assert s3() == "200"
    assert body.read_text(encoding="utf-8") == "first"
    assert s3("-X", "DELETE") == "204"


@pytest.fixture
def room() -> Iterator[Path]:
    """A temporary folder that PostgreSQL's user may enter too, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="pawl-room-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


class Script:
    """services.py as a command, all its temporary folders inside one room."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self.state = room / "state.json"

    def begin(self, verb: str, *arguments: str, path: str | None = None) -> subprocess.Popen[str]:
        environment = {**os.environ, "TMPDIR": str(self.room)}
        if path is not None:
            environment["PATH"] = path
        command = [sys.executable, str(SCRIPT), verb, "--state", str(self.state), *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)

    def run(self, verb: str, *arguments: str, path: str | None = None) -> tuple[int, str, str]:
        child = self.begin(verb, *arguments, path=path)
        output, errors = child.communicate(timeout=120)
        return child.returncode, output, errors

    def started(self) -> list[owned.Process]:
        stack = test_services.Stack.load(self.state)
        return [process for service in stack.services.values() for process in service.processes]

    def claim(self, folder: Path, *processes: owned.Process) -> None:
        """Writes a state file that claims these."""
        service = servers.Service(owned.Folder(str(folder), "token"), [*processes])
        content = {"redis": dataclasses.asdict(service)}
        self.state.write_text(json.dumps(content), encoding="utf-8")

    def leftovers(self) -> list[str]:
        """Files in the room, and processes that work in it. A killed process may take a moment."""
        files = [str(entry) for entry in self.room.iterdir()]
        wait_until(lambda: not processes_in(self.room), f"the processes in {self.room} to end")
        return files


def processes_in(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            inside = os.readlink(entry / "cwd").startswith(str(folder))
        except OSError:
            continue
        if inside and owned.start_ticks(int(entry.name)) is not None:
            found.append(f"{entry.name} {(entry / 'cmdline').read_bytes()!r}")
    return found


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def test_down_leaves_no_process_and_no_folder(room: Path) -> None:
    script = Script(room)
    code, output, errors = script.run("up")
    assert code == 0, errors
    assert sorted(line.split()[0] for line in output.splitlines()) == sorted(servers.ALL)
    started = script.started()
    assert len(started) == 9  # 1 Redis, 3 nodes, NATS, PostgreSQL, and Ceph's three
    assert all(process.is_alive() for process in started)
    assert len(processes_in(room)) >= len(started)

    assert script.run("down")[0] == 0
    assert not any(process.is_alive() for process in started)
    assert script.leftovers() == []

    assert script.run("down") == (0, "", ""), "a second down does nothing and says nothing"


def test_env_prints_what_a_shell_can_read(room: Path) -> None:
    script = Script(room)
    assert script.run("env")[0] == 5
    assert script.run("up", "redis")[0] == 0
    code, output, _ = script.run("env")
    assert code == 0
    shown = output_of("sh", "-c", f"{output}\necho $PAWL_TEST_REDIS")
    assert shown.startswith("redis://127.0.0.1:") and shown.endswith("/0")
    assert script.run("down")[0] == 0


def test_up_refuses_to_forget_what_runs_and_cleans_up_what_was_killed(room: Path) -> None:
    script = Script(room)
    assert script.run("up", "redis")[0] == 0
    (process,) = script.started()
    code, _, errors = script.run("up", "redis")
    assert code == 6 and "already up" in errors
    assert process.is_alive()

    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: not process.is_alive(), "the server to be gone")
    assert script.run("up", "redis")[0] == 0
    assert len(list(room.glob("pawl-test-*"))) == 1
    assert script.run("down")[0] == 0
    assert script.leftovers() == []


def test_run_gives_the_commands_exit_code_and_stops_the_servers(room: Path) -> None:
    script = Script(room)
    command = 'redis-cli -u "$PAWL_TEST_REDIS" PING; exit 7'
    code, output, errors = script.run("run", "redis", "--", "sh", "-c", command)
    assert (code, output) == (7, "PONG\n"), errors
    assert script.leftovers() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_run_ends_the_command_and_the_servers(room: Path, number: int) -> None:
    script = Script(room)
    child = script.begin("run", "redis", "nats", "--", "sh", "-c", "echo here; exec sleep 600")
    assert child.stdout is not None and child.stdout.readline() == "here\n"
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == 128 + number
    assert script.leftovers() == []


def test_a_signal_during_up_stops_what_had_been_started(room: Path) -> None:
    script = Script(room)
    child = script.begin("up")
    wait_until(lambda: script.state.exists() and len(script.started()) >= 3, "some servers")
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGTERM
    assert script.leftovers() == []


@pytest.mark.parametrize("servers_before", range(1, 6))
def test_down_cleans_up_after_a_start_that_was_killed(room: Path, servers_before: int) -> None:
    script = Script(room)
    child = script.begin("up", "redis", "cluster", "nats")
    wait_until(
        lambda: script.state.exists() and len(script.started()) >= servers_before, "some servers"
    )
    child.kill()
    child.communicate(timeout=60)
    assert script.run("down")[0] == 0
    assert script.leftovers() == []


def test_down_spares_a_process_that_only_has_the_pid(room: Path) -> None:
    script = Script(room)
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        ticks = owned.start_ticks(stranger.pid)
        assert ticks is not None
        script.claim(room / "absent", owned.Process("sleep", stranger.pid, ticks - 1, "SIGKILL"))
        assert script.run("down")[0] == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.parametrize("marker", [None, "another run's"])
def test_down_spares_a_folder_it_did_not_make(room: Path, marker: str | None) -> None:
    script = Script(room)
    precious = room / "precious"
    precious.mkdir()
    if marker is not None:
        (precious / owned.MARKER).write_text(marker, encoding="utf-8")
    script.claim(precious)
    code, _, errors = script.run("down")
    assert code == 0 and "left alone" in errors
    assert precious.is_dir()


def test_a_missing_server_is_an_error_that_names_its_package(room: Path) -> None:
    script = Script(room)
    code, output, errors = script.run("up", path="")
    assert (code, output) == (6, "")
    for programs in servers.PROGRAMS.values():
        for program, package in programs.items():
            assert f"{program} (Debian package {package})" in errors
    assert "apt-get install --no-install-recommends ceph-common" in errors
    assert script.leftovers() == []


def fake_redis(folder: Path, body: str) -> str:
    """A PATH on which redis-server is this shell script."""
    folder.mkdir()
    program = folder / "redis-server"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_a_server_that_dies_is_an_error_with_its_last_words(room: Path, tmp_path: Path) -> None:
    script = Script(room)
    path = fake_redis(tmp_path / "bin", "echo cannot find my teeth >&2; exit 3")
    code, _, errors = script.run("up", "redis", "nats", path=path)
    assert code == 6
    assert "redis did not come up: redis-server ended with 3" in errors
    assert "cannot find my teeth" in errors
    assert script.leftovers() == []


def test_a_server_that_never_answers_is_an_error(
    room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fake_redis(tmp_path / "bin", "echo thinking; exec sleep 600")
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    monkeypatch.setattr(servers, "START_SECONDS", 0.3)
    with pytest.raises(servers.ServiceError, match="in vain for Redis to answer(.|\n)*thinking"):
        with test_services.running(["redis"]):
            pass
    assert Script(room).leftovers() == []


def test_two_runs_at_once_never_share_a_port() -> None:
    first, second = owned.Ports(), owned.Ports()
    try:
        port = first.take(servers.CLUSTER_BUS)
        for taken in (port, port + servers.CLUSTER_BUS):
            with pytest.raises(OSError):
                second._keep([taken])
    finally:
        first.release()
        second.release()
