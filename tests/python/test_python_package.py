"""Goal: the package can be installed as a wheel and for development, tells type checkers all they
ask for, and does what its documents show.

Method: wheels by the package's own backend, installed with pip into empty environments; signatures
looked at with inspect; the program of README.md run as it stands.
"""

from __future__ import annotations

import asyncio
import enum
import importlib
import inspect
import os
import re
import signal
import subprocess
import sys
import typing
import zipfile
from pathlib import Path

import aside
import pawl as package
import pytest
from pawl import _pawl, connect

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "python" / "pawl"


@pytest.fixture(scope="module")
def backend():
    sys.path.insert(0, str(ROOT / "python" / "backend"))
    try:
        made = importlib.import_module("pawl_build")
    finally:
        sys.path.pop(0)
    made.PACKAGE = Path(package.__file__).parent  # it is built already
    made._build_extension = lambda: None
    return made


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder)
    return folder


def run(*command: object) -> str:
    """Standard output; nothing of this tree is found by accident."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=300, env={"PATH": "/usr/bin"}
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def install(venv: Path, wheel: Path) -> None:
    pip = (venv / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "install", "--no-index", "--no-deps", "--force-reinstall", wheel)


def where(venv: Path) -> str:
    return run(venv / "bin" / "python", "-c", "import pawl; print(pawl.__file__)").strip()


@pytest.mark.parametrize("what", [["python/pawl"], ["examples"]])
def test_a_type_checker_finds_nothing(what: list[str], tmp_path: Path):
    """All of the package; of the examples what a reader has who checks without more ado."""
    strict = [] if "examples" in what else ["--strict"]
    done = subprocess.run(
        ["mypy", "--cache-dir", tmp_path, *strict, *what],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": "python"},
        capture_output=True,
        text=True,
        timeout=5 * aside.WAIT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wheel_is_all_one_needs(backend, venv: Path, tmp_path: Path):
    wheel = tmp_path / backend.build_wheel(str(tmp_path))
    with zipfile.ZipFile(wheel) as held:
        names = {name for name in held.namelist() if name.startswith("pawl/")}
    assert {f"pawl/{path.name}" for path in SOURCE.iterdir() if path.is_file()} < names
    install(venv, wheel)
    assert where(venv).startswith(str(venv))
    program = (
        "import asyncio, pawl\n"
        "async def main():\n"
        "    async with pawl.connect('memory:') as queue:\n"
        "        task = await queue.submit('t', 1)\n"
        "        worker = pawl.Worker(queue)\n"
        "        worker.task('t')(lambda input: input + 1)\n"
        "        await worker.run_once()\n"
        "        print((await queue.get(task)).output)\n"
        "asyncio.run(main())\n"
    )
    assert run(venv / "bin" / "python", "-c", program) == "2\n"
    shown = run(venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "show", "pawl")
    assert f"Version: {package.__version__}\n" in shown


def test_an_editable_install_is_the_tree_itself(backend, venv: Path, tmp_path: Path):
    install(venv, tmp_path / backend.build_editable(str(tmp_path)))
    assert where(venv) == str(Path(package.__file__))
    assert Path(package.__file__).resolve() == SOURCE / "__init__.py"


def test_make_python_gives_a_path_a_wheel_and_an_environment(tmp_path: Path):
    """Of the release build, which must be there."""
    (tmp_path / "cmake").write_text("#!/bin/sh\n")
    (tmp_path / "cmake").chmod(0o755)
    done = subprocess.run(
        [ROOT / "tools" / "python"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"pawl {package.__version__} for Python 3.")
    built = ROOT / "build" / "python"
    (wheel,) = built.glob("pawl-*.whl")
    assert wheel.name in done.stdout
    program = "import pawl; print(pawl.__version__)"
    for python, path in ((sys.executable, built), (built / "venv" / "bin" / "python", tmp_path)):
        told = subprocess.run(
            [python, "-c", program], env={"PYTHONPATH": str(path)}, capture_output=True, text=True
        )
        assert told.stdout == f"{package.__version__}\n", told.stderr


def test_the_same_wheel_is_made_of_the_same_files(backend, tmp_path: Path):
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made.append((tmp_path / name / backend.build_wheel(str(tmp_path / name))).read_bytes())
    assert made[0] == made[1]


def test_every_file_compiles():
    for path in SOURCE.glob("*.py*"):
        compile(path.read_text(), path, "exec", dont_inherit=True)
    assert (SOURCE / "py.typed").is_file()


def public_functions() -> list[tuple[str, typing.Callable]]:
    found = []
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isfunction(value):
            found.append((name, value))
        if not inspect.isclass(value) or issubclass(value, enum.Enum):
            continue
        for member, function in inspect.getmembers(value, inspect.isfunction):
            own = function.__module__.startswith("pawl")
            if own and (not member.startswith("_") or member == "__init__"):
                found.append((f"{name}.{member}", function))
    return found


@pytest.mark.parametrize(("name", "function"), public_functions())
def test_a_signature_has_all_its_hints(name: str, function: typing.Callable):
    hints = typing.get_type_hints(function)  # and each of them can be resolved
    parameters = [each for each in inspect.signature(function).parameters if each != "self"]
    assert {*parameters, "return"} <= hints.keys(), name


def test_fields_have_hints_that_hold():
    for name in ("Task", "NewTask", "Submitted", "Why", "QueueStats", "WorkerStats", "Backoff"):
        assert typing.get_type_hints(getattr(package, name)), name


def test_the_stub_tells_of_all_that_the_extension_has():
    told = (SOURCE / "_pawl.pyi").read_text()
    classes = [each for _, each in inspect.getmembers(_pawl, inspect.isclass)]
    assert classes
    for each in classes:
        found = re.search(rf"^class {each.__name__}:\n((?:    .*\n|\n)+)", told, re.MULTILINE)
        assert found, each
        stub = set(re.findall(r"def (\w+)\(", found[1])) - {"__init__"}
        real = {name for name in vars(each) if not name.startswith("_")}
        assert stub == real, each.__name__
    assert f"version: {type(_pawl.version).__name__}" in told


def test_the_program_of_the_readme_runs(tmp_path: Path, python_environment: dict[str, str]):
    readme = (ROOT / "README.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)

    async def test() -> None:
        async with connect(f"dir:{tmp_path}/data/queue") as queue:
            images = await queue.submit("resize", {"images": ["a.png"]})
            worker = subprocess.Popen(
                [sys.executable, "-c", program],
                cwd=tmp_path,
                env=python_environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            try:
                assert (await aside.over(queue, images)).status == "completed"

                async def called() -> bool:
                    return bool(await queue.list(type="call_api", status="completed"))

                await aside.until(called, "its own task")
                worker.send_signal(signal.SIGTERM)
                out, _ = await asyncio.to_thread(worker.communicate, None, aside.WAIT_SECONDS)
                assert worker.returncode == 0
                assert out.startswith("a.png 1 ")
            finally:
                if worker.poll() is None:
                    worker.kill()
                    worker.communicate()

    aside.run(test())
