"""Goal: `pawl work` does with a command, or a service, what its help says: outputs, errors, delays
and deaths become of the task what they should, and nothing is left running.

Method: the real binary on a folder, with small shell commands; a service of the test's own.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import stack
from queueing import Queue, Said
from stack import wait_for

TIME_LIMIT_SECONDS = 60.0


@pytest.fixture
def queue(pawl: Path, tmp_path: Path) -> Queue:
    return Queue(pawl, tmp_path)


def work(queue: Queue, command: str, *more: str) -> Said:
    """What is due, until nothing is."""
    return queue.run("work", "-t", "t", "--exec", command, "--once", *more)


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


OK_ONE = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"


class Worker:
    """One that runs until it is ended."""

    def __init__(self, queue: Queue, *words: str, group: int | None = None) -> None:
        self.process = subprocess.Popen(
            [queue.pawl, "work", "-t", "t", *words],
            cwd=queue.folder,
            env=queue.env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            process_group=group,
        )

    def end(self, *signals: int) -> str:
        """What it said."""
        for each in signals:
            self.process.send_signal(each)
        _, error = self.process.communicate(timeout=TIME_LIMIT_SECONDS)
        return error


@contextlib.contextmanager
def working(queue: Queue, *words: str, group: int | None = None) -> Iterator[Worker]:
    worker = Worker(queue, *words, group=group)
    try:
        yield worker
    finally:
        worker.process.kill()
        worker.process.communicate()


# What a command says.


def test_a_command_gets_its_task_and_its_output_is_kept(queue: Queue) -> None:
    id_ = queue.submit("-i", '{"to": "x"}', "--key", "acme")
    command = (
        'read -r input; printf \'{"input":%s,"task":"%s %s %s %s"}\' "$input" "$PAWL_TASK_ID"'
        ' "$PAWL_TASK_TYPE" "$PAWL_TASK_KEY" "$PAWL_ATTEMPT"; test "$PAWL_FENCE" -gt 0'
    )
    said = work(queue, command)
    task = queue.task(id_)
    assert task["status"] == "completed", (task, said.err)
    assert task["output"] == {"input": {"to": "x"}, "task": f"{id_} t acme 1"}
    assert "1 claimed, 1 completed" in said.err


def test_a_text_is_kept_as_a_string(queue: Queue) -> None:
    id_ = queue.submit()
    work(queue, "echo all is well")
    assert queue.task(id_)["output"] == "all is well"


def test_too_much_output_is_cut_and_says_so(queue: Queue) -> None:
    id_ = queue.submit()
    said = work(queue, "yes | head -c 2000000")
    cut = "completed: its output is kept as a string, and cut"
    assert f"task {id_} (t), attempt 1: {cut}" in said.err
    task = queue.task(id_)
    assert task["status"] == "completed"
    assert task["output"].startswith("y\ny\n")
    assert task["output"].endswith("(cut: it had 2000000 bytes)")


def test_exit_75_puts_off(queue: Queue) -> None:
    id_ = queue.submit("--key", "acme")
    work(queue, """echo '{"delay_seconds":3600,"scope":"key"}'; exit 75""")
    task = queue.task(id_)
    assert (task["status"], task["reschedule_count"], task["retry_count"]) == ("pending", 1, 0)
    other = queue.submit("--key", "acme")
    assert "closed" in queue.run("why", other).out
    assert queue.run("history", id_).lines[-1].startswith("Version 3: pending (rescheduled, ")


def test_exit_75_without_a_delay_puts_off_by_a_minute(queue: Queue) -> None:
    id_ = queue.submit()
    work(queue, "exit 75")
    assert "available_at: +60s" in queue.run("history", id_).lines[-1]


def test_exit_75_behind_too_much_output_fails_the_task(queue: Queue) -> None:
    id_ = queue.submit("-i", '{"page":1}')
    said = """printf '\\n{"delay_seconds":1,"input":{"page":2}}'; exit 75"""
    work(queue, f"yes | head -c 300000; {said}")
    task = queue.task(id_)
    assert (task["status"], task["attempt"]) == ("failed", 1)
    assert task["last_error"].startswith(
        "exit 75, but standard output is longer than 262144 bytes"
    )


def test_exit_65_fails_for_good_and_others_are_retried(queue: Queue) -> None:
    bad = queue.submit("-i", "65")
    flaky = queue.submit("-i", "3")
    said = work(queue, 'read -r code; echo "no good" >&2; exit $code')
    assert queue.task(bad)["status"] == "failed"
    assert queue.task(bad)["last_error"] == "exit 65: no good"
    assert queue.task(flaky)["status"] == "pending"
    assert queue.task(flaky)["retry_count"] == 1
    assert queue.task(flaky)["last_error"] == "exit 3: no good"
    assert f"task {flaky} (t), attempt 1: retried: exit 3: no good" in said.err


def test_a_retry_has_the_next_attempt(queue: Queue) -> None:
    id_ = queue.submit("--base-delay", "10ms", "--max-delay", "10ms")
    with working(queue, "--exec", 'test "$PAWL_ATTEMPT" = 3 && echo "$PAWL_ATTEMPT"') as worker:
        wait_for(lambda: queue.task(id_)["status"] == "completed", "the third attempt")
        worker.end(signal.SIGTERM)
    assert queue.task(id_)["output"] == 3
    assert queue.task(id_)["retry_count"] == 2


def test_a_long_error_is_shortened_where_it_is_told(queue: Queue) -> None:
    id_ = queue.submit()
    said = work(queue, "yes | head -c 3000 >&2; exit 1")
    assert max(len(line) for line in said.err.splitlines()) < 500
    assert len(queue.task(id_)["last_error"]) > 2000


def test_exit_75_with_a_word_that_is_misspelled_tells_of_it(queue: Queue) -> None:
    id_ = queue.submit()
    said = work(queue, "echo '{\"delay_second\":5}'; exit 75")
    task = queue.task(id_)
    assert (task["retry_count"], task["reschedule_count"]) == (0, 1)
    assert "rescheduled: 'delay_second' on standard output is passed over" in said.err


def test_a_command_that_is_killed_is_retried(queue: Queue) -> None:
    id_ = queue.submit()
    work(queue, "kill -9 $$")
    assert queue.task(id_)["last_error"] == "killed by SIGKILL"
    assert queue.task(id_)["retry_count"] == 1


@pytest.mark.parametrize("deaf", [False, True])
def test_a_command_at_its_timeout_ends_with_its_children(queue: Queue, deaf: bool) -> None:
    id_ = queue.submit("--timeout", "1s", "--base-delay", "1h")
    command = "sleep 1000 & echo $! > child; wait"
    work(queue, f"trap '' TERM; {command}" if deaf else command)
    assert not is_alive(int((queue.folder / "child").read_text()))
    task = queue.task(id_)
    assert (task["status"], task["retry_count"]) == ("pending", 1)
    # Somebody may have seen the end of its lease before the command had ended.
    ends = ("lease expired: its timeout of 1s", "timed out after 1s: killed by SIG")
    assert task["last_error"].startswith(ends), task["last_error"]


def test_a_command_that_is_deaf_has_ended_before_another_worker_begins(queue: Queue) -> None:
    queue.submit("--timeout", "2s", "--base-delay", "100ms", "--max-retries", "2")
    pids = queue.folder / "pids"
    pids.touch()
    # Whoever begins notes which of those before it are alive; then it works on, told what it may.
    command = (
        "trap '' TERM; for p in $(cat pids); do kill -0 $p && echo $p >> beside; done;"
        "echo $$ >> pids; while :; do sleep 0.05; done"
    )
    with working(queue, "--exec", command), working(queue, "--exec", command):
        wait_for(lambda: len(pids.read_text().split()) == 3, "three attempts")
        wait_for(lambda: queue.run("list", "--status", "failed", "--ids").out != "", "the end")
    assert not (queue.folder / "beside").exists()


def test_a_lease_is_renewed_while_a_command_runs(queue: Queue) -> None:
    id_ = queue.submit()
    command = "while ! test -e go; do sleep 0.05; done; echo 1"
    with working(queue, "--exec", command, "--lease", "6s") as worker:
        wait_for(lambda: queue.task(id_)["status"] == "running", "the claim")
        first = queue.task(id_)["lease_expires_at"]
        wait_for(lambda: queue.task(id_)["lease_expires_at"] > first, "a renewal")
        (queue.folder / "go").touch()
        wait_for(lambda: queue.task(id_)["status"] == "completed", "its end")
        worker.end(signal.SIGTERM)
    assert queue.task(id_)["attempt"] == 1


def test_a_cancel_ends_a_command(queue: Queue) -> None:
    id_ = queue.submit()
    with working(queue, "--exec", "echo $$ > pid; exec sleep 1000", "--lease", "6s") as worker:
        wait_for(lambda: (queue.folder / "pid").exists(), "the command")
        assert "runs; it was asked to stop" in queue.run("cancel", id_).out
        wait_for(lambda: queue.task(id_)["status"] == "cancelled", "its end")
        assert not is_alive(int((queue.folder / "pid").read_text()))
        worker.end(signal.SIGTERM)


# Many, and none.


def test_many_run_at_once(queue: Queue) -> None:
    for _ in range(4):
        queue.submit()
    # Each waits until all four have begun.
    command = (
        "touch begun.$PAWL_TASK_ID;"
        " while test $(ls begun.* | wc -l) -lt 4; do sleep 0.02; done"
    )
    said = work(queue, command, "--concurrency", "4")
    assert "4 claimed, 4 completed" in said.err


def test_too_few_open_files_are_refused_at_the_start(queue: Queue) -> None:
    id_ = queue.submit()
    words = f"'{queue.pawl}' work -t t --exec true --once --concurrency"
    script = f"ulimit -n 100; {words} 300"
    done = subprocess.run(
        ["bash", "-c", script], cwd=queue.folder, env=queue.env, capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert "--concurrency 300 needs 1264 open files, and 100 are allowed" in done.stderr
    assert "or give --concurrency 9" in done.stderr
    assert queue.task(id_)["attempt"] == 0
    subprocess.run(["bash", "-c", f"ulimit -n 100; {words} 9"], cwd=queue.folder, env=queue.env)
    assert queue.task(id_)["status"] == "completed"


def test_once_ends_when_nothing_is_due(queue: Queue) -> None:
    said = work(queue, "true")
    assert "0 claimed" in said.err
    queue.submit("--delay", "1h")
    assert "0 claimed" in work(queue, "true").err


def test_a_bar_shows_how_far_it_is(queue: Queue) -> None:
    queue.run("submit", "-t", "t", "--many", "-", stdin="1\n" * 5)
    shown = queue.on_a_terminal("work", "-t", "t", "--exec", "true", "--once")
    assert "handled [####################] 100%  5/5" in shown
    assert "5 claimed, 5 completed" in shown


def test_only_the_types_that_were_named_are_claimed(queue: Queue) -> None:
    own = [queue.submit(type_="a"), queue.submit(type_="b")]
    other = queue.submit(type_="c")
    queue.run("work", "-t", "a", "-t", "b", "--exec", "true", "--once")
    assert [queue.task(each)["status"] for each in own] == ["completed"] * 2
    assert queue.task(other)["status"] == "pending"


# The end of a worker.


def test_sigterm_lets_what_runs_end(queue: Queue) -> None:
    first, second = queue.submit(), queue.submit()
    command = "touch begun.$PAWL_TASK_ID; while ! test -e go; do sleep 0.02; done"
    with working(queue, "--exec", command) as worker:
        wait_for(lambda: list(queue.folder.glob("begun.*")), "the command")
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.stderr is not None
        assert "those that run (1) have 30s to end" in worker.process.stderr.readline()
        (queue.folder / "go").touch()
        assert "1 completed" in worker.end()
        assert worker.process.returncode == 0
    statuses = {queue.task(first)["status"], queue.task(second)["status"]}
    assert statuses == {"completed", "pending"}, "the second was not begun any more"


def test_what_does_not_end_in_time_is_given_back(queue: Queue) -> None:
    id_ = queue.submit("--max-reschedules", "0")
    command = "echo $$ > pid; exec sleep 1000"
    with working(queue, "--exec", command, "--drain", "100ms") as worker:
        wait_for(lambda: (queue.folder / "pid").exists(), "the command")
        said = worker.end(signal.SIGTERM)
        assert worker.process.returncode == 0
        assert "1 given back" in said
    assert not is_alive(int((queue.folder / "pid").read_text()))
    task = queue.task(id_)
    assert (task["status"], task["retry_count"], task["reschedule_count"]) == ("pending", 0, 0)
    work(queue, "echo 1")
    assert queue.task(id_)["status"] == "completed", "it was due at once"


def test_a_second_sigterm_ends_at_once(queue: Queue) -> None:
    id_ = queue.submit()
    command = 'echo $$ > pid; trap "" TERM; while :; do sleep 0.05; done'
    with working(queue, "--exec", command, "--drain", "10m") as worker:
        wait_for(lambda: (queue.folder / "pid").exists(), "the command")
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.stderr is not None
        worker.process.stderr.readline()
        time.sleep(1)  # or both would be one
        worker.end(signal.SIGTERM)  # far sooner than the drain
    assert not is_alive(int((queue.folder / "pid").read_text()))
    assert queue.task(id_)["retry_count"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("commands_first", [False, True])
def test_a_signal_to_commands_and_worker_fails_no_task(
    queue: Queue, number: int, commands_first: bool
) -> None:
    """As a service manager gives it, which knows all of its processes."""
    for _ in range(4):
        queue.submit("--max-retries", "0")
    pids = queue.folder / "pids"
    command = "echo $$ >> pids; exec sleep 1000"
    with working(queue, "--exec", command, "--concurrency", "4") as worker:
        wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 4, "the commands")
        told = [int(pid) for pid in pids.read_text().split()]
        told.insert(len(told) if commands_first else 0, worker.process.pid)
        for pid in told:
            os.kill(pid, number)
        said = worker.end()
        assert worker.process.returncode == 0
    assert "4 given back" in said, said
    assert queue.run("list", "--status", "failed", "--ids").out == ""


def test_a_signal_to_the_group_of_a_worker_that_begins_commands_fails_no_task(
    queue: Queue,
) -> None:
    """As Ctrl-C: a command that has not left the group yet hears of it too."""
    for _ in range(10):
        queue.run("submit", "-t", "t", "--max-retries", "0", "--many", "-", stdin="1\n" * 100)
        begun = queue.folder / "begun"
        begun.unlink(missing_ok=True)
        command = ["--exec", "touch begun", "--concurrency", "16"]
        with working(queue, *command, group=0) as worker:
            wait_for(begun.exists, "the first command")
            os.killpg(worker.process.pid, signal.SIGINT)
            worker.end()
            assert worker.process.returncode == 0
        assert queue.run("list", "--status", "failed", "--ids").out == ""


def test_signals_that_come_together_are_one(queue: Queue) -> None:
    """As from `timeout`, which tells its child, and then the whole group."""
    id_ = queue.submit()
    command = "touch begun; while ! test -e go; do sleep 0.02; done"
    with working(queue, "--exec", command) as worker:
        wait_for(lambda: (queue.folder / "begun").exists(), "the command")
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.stderr is not None
        assert "have 30s to end" in worker.process.stderr.readline()
        worker.process.send_signal(signal.SIGTERM)
        (queue.folder / "go").touch()
        assert "1 completed" in worker.end()
        assert worker.process.returncode == 0
    assert queue.task(id_)["status"] == "completed"


def test_a_bar_shows_what_a_drain_waits_for(queue: Queue) -> None:
    for _ in range(2):
        queue.submit()
    command = "touch begun.$PAWL_TASK_ID; while ! test -e go; do sleep 0.02; done"
    words = ("work", "-t", "t", "--exec", command, "--concurrency", "2")

    def drains(process: subprocess.Popen[bytes]) -> None:
        wait_for(lambda: len(list(queue.folder.glob("begun.*"))) == 2, "both")
        process.send_signal(signal.SIGTERM)
        time.sleep(1)  # for what runs when it hears of it
        (queue.folder / "go").touch()

    shown = queue.on_a_terminal(*words, meanwhile=drains)
    assert "ended [####################] 100%  2/2" in shown
    assert "2 claimed, 2 completed" in shown


def test_a_worker_leaks_neither_descriptors_nor_zombies(queue: Queue) -> None:
    with working(queue, "--exec", "cat > /dev/null", "--concurrency", "4") as worker:
        folder = Path(f"/proc/{worker.process.pid}")

        def run_some(count: int) -> None:
            lines = "\n".join(str(i) for i in range(count))
            (queue.folder / "many").write_text(lines)
            ids = queue.run("submit", "-t", "t", "--many", "many").lines
            wait_for(lambda: queue.task(ids[-1])["status"] == "completed", "the last one")
            wait_for(
                lambda: "completed" in queue.run("stats").out
                and not queue.run("list", "--status", "running", "--ids").lines
                and not queue.run("list", "--status", "pending", "--ids").lines,
                "all of them",
            )

        run_some(4)
        before = len(os.listdir(folder / "fd"))
        run_some(60)
        assert len(os.listdir(folder / "fd")) <= before + 2
        assert not (folder / f"task/{worker.process.pid}/children").read_text().split()
        worker.end(signal.SIGTERM)


# A service.


class Service:
    """Answers with what `answer` says."""

    def __init__(self) -> None:
        self.seen: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[dict[str, str]], tuple[int, dict[str, str], bytes]] = (
            lambda _: (200, {}, b"{}")
        )
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.seen.append((dict(self.headers), body))
                status, fields, answer = service.answer(dict(self.headers))
                self.send_response(status)
                for name, value in {**fields, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/tasks"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


def post(queue: Queue, url: str) -> Said:
    return queue.run("work", "-t", "t", "--http", url, "--once")


def test_a_service_gets_its_task_and_its_answer_is_kept(queue: Queue, service: Service) -> None:
    service.answer = lambda _: (201, {}, b'{"sent": true}')
    id_ = queue.submit("-i", '{"to": "x"}')
    post(queue, service.url)
    ((fields, body),) = service.seen
    assert json.loads(body) == {"to": "x"}
    assert fields["Pawl-Task-Id"] == fields["Idempotency-Key"] == id_
    assert (fields["Pawl-Task-Type"], fields["Pawl-Attempt"]) == ("t", "1")
    assert int(fields["Pawl-Fence"]) > 0
    assert fields["Content-Type"] == "application/json"
    assert queue.task(id_)["output"] == {"sent": True}


@pytest.mark.parametrize(
    ("status", "fields", "expected"),
    [
        (429, {"Retry-After": "3600"}, "rescheduled, available_at: +3600s"),
        (503, {"Retry-After": "120"}, "rescheduled, available_at: +120s"),
        (503, {}, "rescheduled, available_at: +60s"),
        (409, {"Retry-After": "5"}, "rescheduled, available_at: +5s"),
        (409, {}, "HTTP 409: oh"),
        (500, {}, "HTTP 500: oh"),
        (502, {"Retry-After": "3600"}, "available_at: +3600s"),
        (404, {}, "HTTP 404: oh"),
        (302, {"Location": "/elsewhere"}, "HTTP 302 (no redirect is followed): oh"),
    ],
)
def test_a_service_says_what_becomes_of_a_task(
    queue: Queue, service: Service, status: int, fields: dict[str, str], expected: str
) -> None:
    service.answer = lambda _: (status, fields, b"oh")
    id_ = queue.submit()
    post(queue, service.url)
    assert len(service.seen) == 1
    assert expected in queue.run("history", id_).lines[-1]
    is_later = status >= 500 or "Retry-After" in fields
    ends = "pending" if is_later else "failed"
    assert queue.task(id_)["status"] == ends


def test_a_call_that_a_killed_worker_left_behind_is_waited_for(pawl: Path, queue: Queue) -> None:
    """The gateway knows it by its key, and gives its answer to the next worker."""
    held = threading.Event()

    def answer(connection: socket.socket, _: bytes) -> None:
        held.wait(TIME_LIMIT_SECONDS)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n\"first\"")

    with stack.running(pawl) as gateway:
        gateway.upstream.behave = answer
        id_ = queue.submit()
        words = ("--http", f"http://127.0.0.1:{gateway.guarded}/", "--lease", "1s")
        with working(queue, *words):
            wait_for(lambda: gateway.upstream.received, "the call")
        with working(queue, *words) as worker:
            wait_for(lambda: queue.task(id_)["reschedule_count"] > 0, "the refusal")
            held.set()
            wait_for(lambda: queue.task(id_)["status"] == "completed", "the answer")
            worker.end(signal.SIGTERM)
        assert queue.task(id_)["output"] == "first"
        assert len(gateway.upstream.received) == 1


def test_a_replayed_task_reaches_the_service_again(pawl: Path, queue: Queue) -> None:
    """A service behind a gateway has answered its key already, with the refusal it failed by."""
    answers = iter((b"HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\nno", OK_ONE, OK_ONE))

    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(next(answers))

    with stack.running(pawl) as gateway:
        gateway.upstream.behave = answer
        id_ = queue.submit()
        words = ("work", "-t", "t", "--http", f"http://127.0.0.1:{gateway.guarded}/", "--once")
        queue.run(*words)
        assert queue.task(id_)["status"] == "failed"
        queue.run("replay", id_)
        queue.run(*words)
        assert queue.task(id_)["status"] == "completed"
        assert len(gateway.upstream.received) == 2


def test_a_service_that_is_away_is_tried_again(
    queue: Queue, free_port: Callable[[], int]
) -> None:
    id_ = queue.submit()
    post(queue, f"http://127.0.0.1:{free_port()}/")
    assert queue.task(id_)["retry_count"] == 1


def test_a_service_that_does_not_answer_times_out(queue: Queue, service: Service) -> None:
    held = threading.Event()

    def answer(_: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        held.wait(TIME_LIMIT_SECONDS)
        return (200, {}, b"")

    service.answer = answer
    id_ = queue.submit("--timeout", "500ms")
    post(queue, service.url)
    held.set()
    task = queue.task(id_)
    assert (task["status"], task["retry_count"]) == ("pending", 1), task


# Numbers.


def test_numbers_are_served(queue: Queue, free_port: Callable[[], int]) -> None:
    port = free_port()
    id_ = queue.submit()
    command = """echo '{"delay_seconds":3600}'; exit 75"""
    with working(queue, "--exec", command, "--metrics", f"127.0.0.1:{port}") as worker:
        wait_for(lambda: queue.task(id_)["reschedule_count"] == 1, "the reschedule")

        def numbers() -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                return answer.read().decode()

        expected = 'pawl_tasks_rescheduled_total{task_type="t"} 1'
        wait_for(lambda: expected in numbers(), "the count")
        assert 'pawl_reschedule_delay_seconds_sum{task_type="t"} 3600' in numbers()
        assert "pawl_tasks_running 0" in numbers()
        depth = 'pawl_queue_tasks{status="pending",task_type="t"} 1'
        wait_for(lambda: depth in numbers(), "the depth")
        for name in (
            'pawl_queue_oldest_due_seconds{task_type="t"}',
            "pawl_queue_commit_seconds",
            "pawl_queue_commit_commands",
            'pawl_queue_requests_total{kind="put"}',
        ):
            assert name in numbers()
        worker.end(signal.SIGTERM)


# Called wrongly.


@pytest.mark.parametrize(
    "words",
    [
        ("work", "--exec", "true"),
        ("work", "-t", "t"),
        ("work", "-t", "t", "--exec", "true", "--http", "http://x/"),
        ("work", "-t", "t", "--http", "ftp://x/"),
        ("work", "-t", "t", "--exec", "true", "--concurrency", "0"),
        ("work", "-t", "t", "--exec", "true", "--lease", "2h"),
        ("work", "-t", "t", "--exec", "true", "--drain", "soon"),
        ("work", "-t", "t", "--exec", "true", "--metrics", "nonsense"),
    ],
)
def test_what_makes_no_sense_is_said(queue: Queue, words: tuple[str, ...]) -> None:
    said = queue.try_run(*words)
    assert said.code == 2, said.err
    assert "pawl work --help" in said.err or "work" in said.err
    assert not (queue.folder / "queue").exists(), "nothing was made"
