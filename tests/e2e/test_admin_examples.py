"""Goal: what docs/admin-api.md tells people to type works, and no call goes without an example.

Method: its "sh run" blocks are run by one bash as those of README.md are, on ports of the system's
choice; its headings are compared with the document of a running server.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import stack

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "readme"))

import test_readme as readme  # noqa: E402

DOCUMENT = ROOT / "docs" / "admin-api.md"
TIME_LIMIT_SECONDS = 120


def test_the_examples_work(pawl: Path, free_port: Callable[[], int], tmp_path: Path):
    text = DOCUMENT.read_text(encoding="utf-8")
    for port in ("8080", "8081", "9000", "9100"):
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free_port()}")
    text = text.replace("build/pawl ", f"{pawl} ").replace("build/admin-api", "admin-api")
    blocks = [block for block in readme.blocks_of(text) if block.info == "sh run"]
    assert blocks, "docs/admin-api.md has no ```sh run block: nothing was tested"
    failed = readme.run_blocks(blocks, tmp_path, tmp_path / "log", TIME_LIMIT_SECONDS)
    assert not failed, f"correct docs/admin-api.md, or what it shows: {failed}"


def sections() -> dict[tuple[str, str], str]:
    """What stands below each heading of a call."""
    parts = re.split(r"^### (\S+) (/\S*)$", DOCUMENT.read_text(encoding="utf-8"), flags=re.M)
    return {(parts[i], parts[i + 1]): parts[i + 2] for i in range(1, len(parts), 3)}


def test_every_call_has_its_example(pawl: Path):
    with stack.running(pawl) as gateway:
        document = json.loads(gateway.ask_admin("/openapi.json").body)
    served = {
        (method.upper() if len(methods) < 7 else "*", path)
        for path, methods in document["paths"].items()
        for method in methods
    }
    shown = sections()
    assert set(shown) == served, "docs/admin-api.md and the server disagree on what there is"
    bare = [call for call, text in shown.items() if "```sh run" not in text]
    assert not bare, f"docs/admin-api.md: no example of {bare}"
