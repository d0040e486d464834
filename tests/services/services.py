#!/usr/bin/python3
"""Real servers for the tests: Redis, a Redis Cluster, NATS, PostgreSQL, and Ceph's radosgw as S3.

    services.py up   [--state FILE] [NAME …]           start them, write down what was started
    services.py env  [--state FILE]                    print `export PAWL_TEST_…` lines
    services.py down [--state FILE]                    stop what the file lists, remove its folders
    services.py run  [--state FILE] [NAME …] -- CMD …  up, CMD with the variables set, down

NAME is one of redis, cluster, nats, postgres, s3; none named means all. As a module:
`with running() as variables:`. Each server listens on free ports of 127.0.0.1 and lives in a fresh
folder. Exit codes: 0 done, 2 usage, 5 no such state file, 6 a server is not installed or did not
come up, else CMD's own.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from owned import (
    STOP_SECONDS,
    Folder,
    Interrupted,
    Process,
    interruptible,
    put_off,
    stop,
    undisturbed,
)
from servers import ALL, STARTERS, VARIABLES, Service, ServiceError, Start, check_programs

DEFAULT_STATE = Path(__file__).resolve().parents[2] / "build" / "services.json"
NOT_FOUND, UNAVAILABLE = 5, 6


class Stack:
    """The services of one run, and the state file (if any) that lets another process stop them."""

    def __init__(self, state: Path | None) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self.services: dict[str, Service] = {}

    @staticmethod
    def load(state: Path) -> Stack:
        stack = Stack(state)
        for name, fields in json.loads(state.read_text(encoding="utf-8")).items():
            fields["folder"] = Folder(**fields["folder"])
            fields["processes"] = [Process(**process) for process in fields["processes"]]
            stack.services[name] = Service(**fields)
        return stack

    @staticmethod
    def fresh(state: Path | None) -> Stack:
        """An empty one; what a killed run left behind in the same state file is cleaned up."""
        if state is not None and state.exists():
            stale = Stack.load(state)
            if any(process.is_alive() for process in stale._processes()):
                raise ServiceError(f"already up; first: services.py down --state {state}")
            stale.down()
        return Stack(state)

    def save(self) -> None:
        """After every folder and process, so that even a killed start can be cleaned up."""
        if self._state is None:
            return
        with self._lock:
            self._state.parent.mkdir(parents=True, exist_ok=True)
            content = {name: dataclasses.asdict(self.services[name]) for name in self.services}
            draft = self._draft(self._state)
            draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            draft.replace(self._state)

    @staticmethod
    def _draft(state: Path) -> Path:
        return state.with_name(state.name + ".new")

    def up(self, names: Sequence[str], say: Callable[[str], None]) -> None:
        check_programs(names)
        for name in names:
            self.services[name] = Service(Folder.make(name))
            self.save()
        with ThreadPoolExecutor(len(names)) as pool:
            try:
                futures = {pool.submit(self._start, name): name for name in names}
                for future in as_completed(futures):
                    service, name = future.result(), futures[future]
                    say(f"{name:9}{service.variables[VARIABLES[name][0]]}  {service.seconds:.2f} s")
            except BaseException:
                self._cancelled.set()
                raise

    def _start(self, name: str) -> Service:
        began = time.monotonic()
        service = self.services[name]
        start = Start(service, self.save, self._cancelled)
        try:
            service.variables = dict(zip(VARIABLES[name], STARTERS[name](start), strict=True))
        except (ServiceError, OSError, KeyError) as error:
            raise ServiceError(f"{name} did not come up: {error}\n{start.log_tails()}") from error
        finally:
            start.ports.release()
        service.seconds = round(time.monotonic() - began, 3)
        self.save()
        return service

    def variables(self) -> dict[str, str]:
        return {key: text for s in self.services.values() for key, text in s.variables.items()}

    def _processes(self) -> list[Process]:
        return [process for service in self.services.values() for process in service.processes]

    def down(self) -> None:
        """Stops and removes all of it; the state file stays if something could not be removed."""
        with undisturbed():
            stop(self._processes())
            gone = [service.folder.remove() for service in self.services.values()]
            if self._state is not None and all(gone):
                self._draft(self._state).unlink(missing_ok=True)
                self._state.unlink(missing_ok=True)


@contextlib.contextmanager
def running(
    names: Sequence[str] = ALL,
    state: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[dict[str, str]]:
    """The services for the length of a block; gives the variables that tell where they are."""
    stack = Stack.fresh(state)
    with interruptible():
        try:
            stack.up(names, say)
            yield stack.variables()
        finally:
            stack.down()


def command_up(state: Path, names: Sequence[str]) -> int:
    stack = Stack.fresh(state)
    with interruptible():
        try:
            stack.up(names, lambda line: print(line, flush=True))
        except BaseException:
            stack.down()
            raise
    return 0


def command_env(state: Path) -> int:
    if not state.exists():
        print(f"services: no state file {state}; first: services.py up", file=sys.stderr)
        return NOT_FOUND
    for key, text in sorted(Stack.load(state).variables().items()):
        print(f"export {key}={shlex.quote(text)}")
    return 0


def command_down(state: Path) -> int:
    if state.exists():
        Stack.load(state).down()
    return 0


def command_run(state: Path | None, names: Sequence[str], command: Sequence[str]) -> int:
    with running(names, state, lambda line: print(line, file=sys.stderr)) as variables:
        return run_to_its_end(command, {**os.environ, **variables})


def run_to_its_end(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """CMD's exit code."""
    child: subprocess.Popen[bytes] | None = None
    try:
        with put_off():
            child = subprocess.Popen(command, env=environment)
        code = child.wait()
    except OSError as error:
        print(f"services: cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    except Interrupted as interrupt:
        if child is not None:
            end_child(child, interrupt.number)
        raise
    return code if code >= 0 else 128 - code


def end_child(child: subprocess.Popen[bytes], received: int) -> None:
    """Passes the signal on, and harder ones after a while; Ctrl-C has reached CMD by itself."""
    for number in (received, signal.SIGTERM, signal.SIGKILL):
        if number != signal.SIGINT:
            child.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(STOP_SECONDS / 2)
            return


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    own, command = list(arguments), []
    if "--" in own:
        cut = own.index("--")
        own, command = own[:cut], own[cut + 1 :]
    parser = argparse.ArgumentParser(
        usage="services.py up|env|down|run [--state FILE] [NAME …] [-- CMD …]",
        description=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verb", choices=("up", "env", "down", "run"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="which services; default all")
    parser.add_argument("--state", type=Path, help="default build/services.json; run keeps none")
    options = parser.parse_intermixed_args(own)
    for name in options.names:
        if name not in ALL:
            parser.error(f"unknown service {name!r}; known are {', '.join(ALL)}")
    if options.names and options.verb in ("env", "down"):
        parser.error(f"{options.verb} takes no names: it acts on the whole state file")
    if bool(command) != (options.verb == "run"):
        parser.error("run needs a command after --, and only run takes one")
    return options, command


def main(arguments: Sequence[str]) -> int:
    options, command = parse(arguments)
    names = tuple(dict.fromkeys(options.names)) or ALL
    state = options.state or DEFAULT_STATE
    try:
        match options.verb:
            case "up":
                return command_up(state, names)
            case "env":
                return command_env(state)
            case "down":
                return command_down(state)
            case _:
                return command_run(options.state, names, command)
    except (ServiceError, OSError) as error:
        print(f"services: {error}", file=sys.stderr)
        return UNAVAILABLE
    except Interrupted as interrupt:
        return 128 + interrupt.number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
