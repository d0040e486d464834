"""Makes wheels of the Python package (PEP 517, and PEP 660 for an editable one).

The extension is built by the tree's own CMake, in build/release, so there is nothing to fetch: all
this needs is Python and what tools/packages names. An editable wheel holds one line, the path of
the folder that CMake links the package into.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
BUILD = ROOT / "build" / "release"
PACKAGE = BUILD / "python" / "pawl"
Settings = dict[str, Any] | None


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    _build_extension()
    files = {f"pawl/{path.name}": path.read_bytes() for path in _package_files()}
    return _write_wheel(Path(wheel_directory), files)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    _build_extension()
    return _write_wheel(Path(wheel_directory), {"pawl.pth": f"{PACKAGE.parent}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    raise SystemExit("pawl's Python package is built in its source tree; there is no sdist of it")


def _build_extension() -> None:
    for words in (
        ("cmake", "--preset", "release"),
        ("cmake", "--build", "--preset", "release", "--target", "pawl_module"),
    ):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")


def _package_files() -> list[Path]:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    wanted = (".py", ".pyi", ".typed", suffix)
    found = sorted(path for path in PACKAGE.iterdir() if path.name.endswith(wanted))
    if not any(path.name == f"_pawl{suffix}" for path in found):
        raise SystemExit(f"{PACKAGE} holds no _pawl{suffix}: CMake found another Python")
    return [path for path in found if path.exists()]  # not a link to what is gone


def _version() -> str:
    found = re.search(r"project\(pawl VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found, "CMakeLists.txt names no version"
    return found[1]


def _tag() -> str:
    version = sysconfig.get_python_version().replace(".", "")
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"cp{version}-cp{version}-{platform}"


def _metadata(version: str) -> str:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {project['name']}\nVersion: {version}\nSummary: {project['description']}\n"
        f"Requires-Python: {project['requires-python']}\n"
    )


def _write_wheel(folder: Path, files: dict[str, bytes]) -> str:
    version, tag = _version(), _tag()
    info = f"pawl-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": _metadata(version).encode(),
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: pawl_build\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ).encode(),
    }
    record = [f"{name},{_digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    name = f"pawl-{version}-{tag}.whl"
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            # The same bytes whenever it is made.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
