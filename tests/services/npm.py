"""Packages from npm, installed outside the tree: what is wanted stands in a package.json and its
lock file.
"""

from __future__ import annotations

import fcntl
import subprocess
from collections.abc import Callable
from pathlib import Path

FILES = ("package.json", "package-lock.json")
INSTALL_SECONDS = 300.0


class NpmError(Exception):
    """What could not be installed, and why."""


def install(wanted: Path, into: Path, say: Callable[[str], None]) -> Path:
    """The folder with the packages. Nothing is done when they are there in these versions."""
    into.mkdir(parents=True, exist_ok=True)
    contents = [(wanted / name).read_bytes() for name in FILES]
    modules = into / "node_modules"
    stamp = modules / ".installed"
    with (into / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_bytes() != b"".join(contents):
            say(f"installing the npm packages of {wanted.name} into {into}")
            for name, content in zip(FILES, contents, strict=True):
                (into / name).write_bytes(content)
            _install(into)
            stamp.write_bytes(b"".join(contents))
    return modules


def _install(folder: Path) -> None:
    command = ["npm", "ci", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=INSTALL_SECONDS,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise NpmError("npm is not there: run `make setup`") from error
    except subprocess.TimeoutExpired as error:
        raise NpmError(f"npm did not end in {INSTALL_SECONDS:.0f} s") from error
    if ran.returncode != 0:
        raise NpmError(f"npm ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
