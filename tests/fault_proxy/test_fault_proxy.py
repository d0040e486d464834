"""Goal: the fault_proxy binary can be driven from Python by its line protocol.

Method: the real binary before a listening socket of the test; every wait has a deadline.
"""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "house"))
import tree  # noqa: E402

DEADLINE = 10


@contextlib.contextmanager
def running(*options):
    binary = tree.build_folder() / "fault_proxy"
    assert binary.exists(), f"{binary} is missing: build it with `make build-release`"
    process = subprocess.Popen(
        [binary, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


def ask(process, command):
    process.stdin.write(command + "\n")
    process.stdin.flush()
    return process.stdout.readline().rstrip("\n")


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)
        yield listener


def port_of(process):
    word, port = process.stdout.readline().split()
    assert word == "listening"
    return int(port)


def test_a_cut_set_over_standard_input_is_seen_by_the_client(server):
    with running("--upstream", str(server.getsockname()[1])) as proxy:
        address = ("127.0.0.1", port_of(proxy))
        assert ask(proxy, "cut to_client 3 fin") == "ok"
        with socket.create_connection(address, timeout=DEADLINE) as client:
            accepted, _ = server.accept()
            with accepted:
                accepted.sendall(b"abcdef")
                with client.makefile("rb") as answer:
                    assert answer.read() == b"abc"
        stats = json.loads(ask(proxy, "stats"))
        assert stats["connections"] == 1
        assert stats["bytes"] == {"to_client": 3, "to_server": 0}
        assert stats["faults"]["to_client"]["cut"] == 1
        assert stats["faults"]["to_server"]["cut"] == 0

        assert ask(proxy, "clear") == "ok"
        with socket.create_connection(address, timeout=DEADLINE) as client:
            accepted, _ = server.accept()
            with accepted:
                accepted.sendall(b"abcdef")
            with client.makefile("rb") as answer:
                assert answer.read() == b"abcdef"


def test_a_command_it_does_not_know_is_an_error_and_changes_nothing(server):
    with running("--upstream", str(server.getsockname()[1])) as proxy:
        port_of(proxy)
        answer = ask(proxy, "cut sideways 3")
        assert answer.startswith("error: 'cut sideways 3'") and "to_server or to_client" in answer
        assert ask(proxy, "clear") == "ok"


def test_it_ends_at_the_end_of_its_input(server):
    with running("--upstream", str(server.getsockname()[1])) as proxy:
        port_of(proxy)
        proxy.stdin.close()
        assert proxy.wait(timeout=DEADLINE) == 0
        proxy.stdin = None


def test_a_taken_port_and_a_wrong_call_are_said_plainly(server):
    taken = str(server.getsockname()[1])
    with running("--upstream", taken, "--listen", taken) as proxy:
        assert proxy.wait(timeout=DEADLINE) == 6
        assert f"127.0.0.1:{taken}" in proxy.stderr.read()
    for options in ([], ["--upstream"], ["--upstream", "99999"], ["--frobnicate", "1"]):
        with running(*options) as proxy:
            assert proxy.wait(timeout=DEADLINE) == 2
            assert "usage: fault_proxy" in proxy.stderr.read()
