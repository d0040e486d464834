"""Goal: what the panel decides by itself is right. Method: panel/test, bundled as the panel is."""

from __future__ import annotations

from pathlib import Path

from panel_node import run_node

ROOT = Path(__file__).resolve().parents[2]


def test_the_logic_of_the_panel(panel_place: Path, tmp_path: Path):
    files = sorted(path.name for path in (ROOT / "panel" / "test").glob("*.test.js"))
    assert files, "no tests of the panel's logic"
    bundled = [f"test/{name}" for name in files]
    options = ["--bundle", "--platform=node", "--format=esm", "--preserve-symlinks"]
    out = [f"--outdir={tmp_path}", "--out-extension:.js=.mjs", "--log-level=warning"]
    bundler = panel_place / "node_modules" / ".bin" / "esbuild"
    run_node([bundler, *options, *out, *bundled], cwd=panel_place)
    run_node(["node", "--test", *(tmp_path / name.replace(".js", ".mjs") for name in files)])
