"""Goal: what README.md tells a stranger to type works.

Method: blocks fenced as "sh run" are run, in order, by one bash in the root of the tree, with the
built binary in place. A block fenced as "sh" alone may hold only the commands excepted here.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT_SECONDS = 120

EXCEPTED = {
    "make run": "serves until it is stopped; its own test starts and stops it",
    "make test": "runs this test",
    "make setup": "changes the machine; make test calls it",
    "git clone": "fetches this tree",
    "cd pawl": "goes with git clone",
}
OTHER_SHELLS = ("bash", "shell", "console", "zsh", "shell-session")


@dataclass(frozen=True)
class Block:
    line: int
    info: str
    code: str


def blocks_of(text: str) -> list[Block]:
    blocks = []
    opened: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*(`{3,}|~{3,})\s*(.*?)\s*$", line)
        if opened is None and fence:
            opened, lines = (number, fence[1], fence[2]), []
        elif opened and fence and fence[1].startswith(opened[1]) and not fence[2]:
            blocks.append(Block(opened[0], opened[2], "\n".join(lines)))
            opened = None
        elif opened:
            lines.append(line)
    assert opened is None, f"the block that opens at line {opened[0]} is never closed"
    return blocks


def untested_commands(blocks: list[Block]) -> list[str]:
    findings = []
    for block in blocks:
        language = block.info.split(" ")[0]
        if language in OTHER_SHELLS:
            findings.append(f"README.md:{block.line}: fence it as `sh run`, not as `{block.info}`")
        if language != "sh" or block.info == "sh run":
            continue
        for command in filter(None, map(str.strip, block.code.splitlines())):
            known = any(re.match(rf"{name}(\s|$)", command) for name in EXCEPTED)
            if not known and not command.startswith("#"):
                findings.append(
                    f"README.md:{block.line}: nobody runs `{command}`: fence the block as `sh run`,"
                    " or except the command in tests/readme/test_readme.py with the reason"
                )
    return findings


def run_blocks(blocks: list[Block], folder: Path, log: Path, limit: float) -> str:
    """Why the blocks failed, with what they printed; empty when they did not."""
    script = "trap 'echo \"README.md: the block at line $readme_line failed\"' ERR\n"
    script += "".join(f"readme_line={block.line}\n{block.code}\n" for block in blocks)
    # A file takes the output: a server left in the background would hold a pipe open.
    with log.open("w") as output:
        process = subprocess.Popen(
            ["bash", "-Eeuo", "pipefail", "-c", script],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=limit)
            verdict = "" if code == 0 else f"ended with {code}"
        except subprocess.TimeoutExpired:
            verdict = f"not done after {limit} s"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it left nothing running
            process.wait()
    return verdict and f"{verdict}; it printed:\n{log.read_text(errors='replace')[-4000:]}"


def readme() -> list[Block]:
    path = ROOT / "README.md"
    assert path.is_file(), "README.md is missing: write it, with its commands in ```sh run blocks"
    return blocks_of(path.read_text(encoding="utf-8"))


def test_every_command_is_run_or_excepted():
    blocks = readme()
    assert any(block.info == "sh run" for block in blocks), (
        "README.md has no ```sh run block: show a stranger what to type"
    )
    findings = untested_commands(blocks)
    assert not findings, "\n".join(findings)


def test_the_commands_work(tmp_path: Path):
    blocks = [block for block in readme() if block.info == "sh run"]
    assert blocks, "README.md has no ```sh run block: nothing was tested"
    binary = ROOT / "build" / "pawl"
    assert os.access(binary, os.X_OK), f"{binary} is missing: build it with `make build`"
    failed = run_blocks(blocks, ROOT, tmp_path / "log", TIME_LIMIT_SECONDS)
    assert not failed, f"correct README.md, or what it shows: {failed}"


EXAMPLE = """
```sh run
greeting=hello
```
~~~yaml
```sh
not: a command
~~~
```sh
make test  # comment
# comment
git clone URL
```
```sh run
echo "$greeting again"
```
"""


def test_blocks_are_found():
    found = [(block.line, block.info) for block in blocks_of(EXAMPLE)]
    assert found == [(2, "sh run"), (5, "yaml"), (9, "sh"), (14, "sh run")]
    assert untested_commands(blocks_of(EXAMPLE)) == []


def test_commands_nobody_runs_are_reported():
    for text in (
        "```sh\npawl serve\n```",
        "```sh\nmake test\ncurl x\n```",
        "```sh\nmake tested\n```",
        "```bash\nmake test\n```",
        "```console\n$ make test\n```",
        "```sh  run fast\npawl\n```",
    ):
        assert len(untested_commands(blocks_of(text))) == 1, text


def example(tmp_path: Path, *codes: str, limit: float = 30) -> str:
    blocks = [Block(10 * (number + 1), "sh run", code) for number, code in enumerate(codes)]
    return run_blocks(blocks, tmp_path, tmp_path / "log", limit)


def test_blocks_run_in_order_in_one_shell(tmp_path: Path):
    assert example(tmp_path, "greeting=hello", 'test "$greeting" = hello', "sleep 100 &") == ""


def test_a_failing_block_is_named(tmp_path: Path):
    for code in ("false", "false | true", 'echo "$unset"', "exit 3"):
        assert example(tmp_path, "true", code, "true"), code
    assert "line 20 failed" in example(tmp_path, "true", "echo before\nfalse", "true")


def test_a_block_that_does_not_end_is_stopped(tmp_path: Path):
    assert "not done after 0.2 s" in example(tmp_path, "sleep 100", limit=0.2)
