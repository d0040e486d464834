"""Goal: a queue by way of brokers is the same queue, and their death loses nothing: workers and
submitters go on at the next one, or at the store itself.

Method: real `pawl serve` processes on one folder, the command line as their client, kill -9 under
load. What was acknowledged is looked for in the store afterwards, without a broker.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import stack
from emulation import emulator
from stack import wait_for

TOKEN = "correct-horse-battery"
TIME_LIMIT_SECONDS = 60
TASKS = 60 if stack.SANITIZED else 300


class Client:
    """The command line in a folder of its own, with a queue at some URL."""

    def __init__(self, pawl: Path, folder: Path, url: str, token: str = TOKEN) -> None:
        folder.mkdir(exist_ok=True)
        self.pawl = pawl
        self.folder = folder
        self.config = folder / "client.yaml"
        self.config.write_text(f'queue: {{ url: "{url}", lease: 2s }}\n')
        self.environment = {**os.environ, "PAWL_ADMIN_TOKEN": token}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.pawl, *arguments, "--config", self.config],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
        )

    def good(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def task(self, identifier: str) -> dict:
        return json.loads(self.good("get", identifier, "--json"))

    @contextlib.contextmanager
    def working(self, *arguments: str, ended_by: int = 0) -> Iterator[subprocess.Popen[bytes]]:
        """A worker that goes on until the end of the block."""
        process = subprocess.Popen(
            [self.pawl, "work", *arguments, "--config", self.config],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / f"work-{len(list(self.folder.iterdir()))}.log").open("wb"),
        )
        try:
            yield process
            process.terminate()
            assert process.wait(timeout=TIME_LIMIT_SECONDS) == -ended_by
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture
def upstream() -> Iterator[stack.Upstream]:
    made = stack.Upstream()
    yield made
    made.close()


def serving(pawl: Path, folder: Path, upstream: stack.Upstream, queue: Path, **settings: str):
    folder.mkdir(exist_ok=True)
    return stack.serving(
        pawl,
        folder,
        upstream,
        token=TOKEN,
        more=f'queue: {{ url: "dir:{queue}" }}',
        **settings,
    )


def ask(gateway: stack.Gateway, method: str, path: str, body: object = None) -> tuple[int, dict]:
    connection = http.client.HTTPConnection("127.0.0.1", gateway.admin, timeout=20)
    with contextlib.closing(connection):
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_one_queue_for_the_api_the_command_line_and_the_store(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream
):
    with serving(pawl, tmp_path / "a", upstream, tmp_path / "queue") as gateway:
        by_broker = Client(pawl, tmp_path / "c", f"http://127.0.0.1:{gateway.admin}")
        by_store = Client(pawl, tmp_path / "d", f"dir:{tmp_path}/queue")
        status, told = ask(gateway, "POST", "/v1/tasks", {"task_type": "t", "input": {"n": 1}})
        assert status == 200, told
        assert by_broker.task(told["id"])["input"] == {"n": 1}
        assert by_store.task(told["id"])["input"] == {"n": 1}
        other = by_broker.good("submit", "-t", "t", "-i", '{"n":2}').strip()
        assert ask(gateway, "GET", f"/v1/tasks/{other}")[1]["input"] == {"n": 2}
        by_broker.good("work", "-t", "t", "--exec", "cat", "--once")
        for identifier in (told["id"], other):
            status, task = ask(gateway, "GET", f"/v1/tasks/{identifier}")
            assert (task["status"], task["output"]) == ("completed", task["input"])
        assert "Version 1: pending (created)" in by_broker.good("history", other)
        assert len(json.loads(by_broker.good("list", "--json"))["tasks"]) == 2
        assert by_broker.run("get", "0" * 24).returncode == 5
        stack.wait_for(
            lambda: b'pawl_tasks_total{event="completed"} 2' in metrics(gateway), "the metric"
        )


def metrics(gateway: stack.Gateway) -> bytes:
    return gateway.ask_admin("/metrics", f"Authorization: Bearer {TOKEN}\r\n").body


def test_whoever_has_no_token_gets_nothing(pawl: Path, tmp_path: Path, upstream: stack.Upstream):
    with serving(pawl, tmp_path / "a", upstream, tmp_path / "queue") as gateway:
        stranger = Client(pawl, tmp_path / "c", f"http://127.0.0.1:{gateway.admin}", token="wrong")
        done = stranger.run("submit", "-t", "t", "-i", "{}")
        assert done.returncode == 3, done.stderr
        assert "PAWL_ADMIN_TOKEN" in done.stderr
        assert "wrong" not in done.stderr


def test_the_next_broker_is_asked_when_one_is_gone(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream
):
    queue = tmp_path / "queue"
    with serving(pawl, tmp_path / "a", upstream, queue) as first, serving(
        pawl, tmp_path / "b", upstream, queue
    ) as second:
        both = Client(
            pawl, tmp_path / "c", f"http://127.0.0.1:{first.admin},127.0.0.1:{second.admin}"
        )
        one = both.good("submit", "-t", "t", "-i", "{}").strip()
        first.process.kill()
        first.process.wait()
        assert both.task(one)["status"] == "pending"
        both.good("work", "-t", "t", "--exec", "cat", "--once")
        assert both.task(one)["status"] == "completed"


def test_a_waiting_claim_is_not_left_to_a_worker_that_died(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream
):
    with serving(pawl, tmp_path / "a", upstream, tmp_path / "queue") as gateway:
        client = Client(pawl, tmp_path / "c", f"http://127.0.0.1:{gateway.admin}")
        with client.working("-t", "t", "--exec", "cat", ended_by=9) as worker:
            first = client.good("submit", "-t", "t", "-i", "{}").strip()
            stack.wait_for(
                lambda: client.task(first)["status"] == "completed", "the worker to be at work"
            )
            worker.kill()
            worker.wait()
            identifier = client.good("submit", "-t", "t", "-i", "{}").strip()
            client.good("work", "-t", "t", "--exec", "cat", "--once")
            task = client.task(identifier)
            assert (task["status"], task["retry_count"]) == ("completed", 0)


def test_a_store_that_is_away_does_not_keep_pawl_from_serving(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    url = "s3://bucket/prefix?endpoint=http://127.0.0.1:1&region=us-east-1"
    with stack.serving(
        pawl, tmp_path, upstream, token=TOKEN, more=f'queue: {{ url: "{url}" }}'
    ) as gateway:
        assert gateway.get().status == 200
        assert "queue: " in json.loads(gateway.ask_admin("/healthz").body)["detail"]
        status, told = ask(gateway, "POST", "/v1/tasks", {"task_type": "t"})
        assert (status, told["code"]) == (503, "ERR_STORE_UNAVAILABLE")
        client = Client(pawl, tmp_path / "c", f"http://127.0.0.1:{gateway.admin}")
        assert client.run("submit", "-t", "t", "-i", "{}").returncode == 6


def test_a_queue_whose_store_is_silent_is_told_of_and_ends_in_order(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "emulated-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "emulated-secret")
    (tmp_path / "s3").mkdir()
    with emulator(pawl, "s3", tmp_path / "s3") as s3:
        url = f"s3://pawl/queue?endpoint={s3.url}&region=us-east-1"
        with stack.serving(
            pawl, tmp_path, upstream, token=TOKEN, more=f'queue: {{ url: "{url}" }}'
        ) as gateway:
            assert ask(gateway, "POST", "/v1/tasks", {"task_type": "t"})[0] == 200
            away = {"do": "error_before", "code": "SlowDown", "times": 0}
            script = [{"when": {"call": call}, **away} for call in ("put", "get", "list")]
            s3.faults({"script": script})
            wait_for(lambda: b"queue: " in gateway.ask_admin("/healthz").body, "its health")
            wait_for(
                lambda: "has given no good answer for" in str(gateway.events("queue_note")),
                "a line of the log",
            )
            # It is looked at again and again: the end of the block comes in the middle of a look.


class Submitter(threading.Thread):
    """Submits one after the other, and keeps the ids of those that were acknowledged."""

    def __init__(self, client: Client, count: int) -> None:
        super().__init__()
        self.client = client
        self.count = count
        self.acknowledged: list[str] = []

    def run(self) -> None:
        for number in range(self.count // 10):
            inputs = [f'{{"n":{number * 10 + i}}}' for i in range(10)]
            arguments = [argument for each in inputs for argument in ("-i", each)]
            done = self.client.run("submit", "-t", "t", *arguments)
            if done.returncode == 0:
                self.acknowledged += done.stdout.split()


def test_nothing_acknowledged_is_lost_when_the_broker_is_killed_under_load(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream
):
    queue = tmp_path / "queue"
    with serving(pawl, tmp_path / "a", upstream, queue) as broker:
        url = f"http://127.0.0.1:{broker.admin}"
        workers = Client(pawl, tmp_path / "w", f"{url}?store=dir:{queue}")
        with workers.working("-t", "t", "--exec", "cat", "--concurrency", "4"), workers.working(
            "-t", "t", "--exec", "cat", "--concurrency", "4"
        ):
            submitter = Submitter(Client(pawl, tmp_path / "s", url), TASKS)
            submitter.start()
            stack.wait_for(lambda: len(submitter.acknowledged) > TASKS // 5, "some load")
            broker.process.kill()
            broker.process.wait()
            submitter.join()
            store = Client(pawl, tmp_path / "d", f"dir:{queue}")
            known = {each["id"] for each in tasks_of(store)}
            assert set(submitter.acknowledged) <= known
            stack.wait_for(
                lambda: all(each["status"] == "completed" for each in tasks_of(store)),
                "the workers to go on without a broker",
            )
        assert "is used directly" in logs_of(workers)
        assert all(each["output"] == each["input"] for each in tasks_of(store))


def test_a_process_that_starts_without_a_broker_begins_at_the_store(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream
):
    queue = tmp_path / "queue"
    store = Client(pawl, tmp_path / "d", f"dir:{queue}")
    with serving(pawl, tmp_path / "a", upstream, queue) as broker:
        port = broker.admin
        store.good("submit", "-t", "t", "-i", "1")
    url = f"http://127.0.0.1:{port}?store=dir:{queue}"
    late = Client(pawl, tmp_path / "w", url)
    late.good("submit", "-t", "t", "-i", "2")
    late.good("work", "-t", "t", "--exec", "cat", "--once")
    assert [each["status"] for each in tasks_of(store)] == ["completed"] * 2
    nowhere = Client(pawl, tmp_path / "n", f"http://127.0.0.1:{port}?store=dir:{tmp_path}/none")
    refused = nowhere.run("submit", "-t", "t")
    assert refused.returncode == 6
    assert "there is no queue" in refused.stderr
    assert not (tmp_path / "none").exists()


def test_a_store_that_is_another_queue_is_left_alone(
    pawl: Path, tmp_path: Path, upstream: stack.Upstream
):
    other = tmp_path / "other"
    Client(pawl, tmp_path / "o", f"dir:{other}").good("submit", "-t", "t")
    before = sorted(str(path) for path in other.rglob("*"))
    with serving(pawl, tmp_path / "a", upstream, tmp_path / "queue") as broker:
        url = f"http://127.0.0.1:{broker.admin}"
        misled = Client(pawl, tmp_path / "w", f"{url}?store=dir:{other}")
        unnamed = Client(pawl, tmp_path / "u", url)
        work = ("-t", "t", "--exec", "cat")
        with misled.working(*work), unnamed.working(*work):
            # Each has heard from the broker once it has done a task.
            for client in (misled, unnamed):
                client.good("submit", "-t", "t")
            broker_tasks = Client(pawl, tmp_path / "c", url)
            stack.wait_for(
                lambda: all(each["status"] == "completed" for each in tasks_of(broker_tasks)),
                "the tasks to be done",
            )
            broker.process.kill()
            broker.process.wait()
            stack.wait_for(
                lambda: "is another queue than the broker has" in logs_of(misled)
                and "our settings name no store" in logs_of(unnamed),
                "the workers to say why they do not go on",
            )
        assert sorted(str(path) for path in other.rglob("*")) == before


def tasks_of(client: Client) -> list[dict]:
    return json.loads(client.good("list", "--json", "--limit", "1000"))["tasks"]


def logs_of(client: Client) -> str:
    return "".join(path.read_text() for path in client.folder.glob("work-*.log"))
