"""The examples of the pages and of the notebook run."""

from __future__ import annotations

import contextlib
import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from conftest import ROOT

import voxelize


PAGES = ["README.md", "python/README.md"] + sorted(
    page
    for folder in ["docs", "docs/how-to", "docs/reference"]
    for page in (f"{folder}/{path.name}" for path in (ROOT / folder).glob("*.md"))
    if "```python" in (ROOT / page).read_text()
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the fixtures and the files that stand in for those of users."""
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    for line in (ROOT / "tests/stand_ins.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, source = line.split()
            (tmp_path / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / source, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(line: str) -> None:
    """Runs a command line of a page, by the command that the package installs."""
    line = line.split(" # ")[0].strip()
    if line.startswith("voxelize ") or "| voxelize " in line:
        path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        subprocess.run(line, shell=True, check=True, capture_output=True, env=environment | {"PATH": path})


def turn_scans(folder: Path) -> None:
    """Turns scans that an example made, as scans often run along other axes than the mesh."""
    with contextlib.suppress(ImportError):
        import nibabel

        for scan in folder.glob("scan*.nii.gz"):
            turned = nibabel.load(scan).as_reoriented([[1, -1], [2, 1], [0, 1]])
            nibabel.save(turned, scan)


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_pages_run(page: str, folder: Path) -> None:
    """The commands and the Python of a page run, in the order of the page."""
    blocks = re.findall(r"^```(sh|console|python)\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    names = {"voxelize": voxelize}
    ran = 0
    for language, block in blocks:
        if language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                command(line)
                if "-o scan.nii.gz" in line:
                    turn_scans(folder)
            continue
        if language == "console":
            for line in re.findall(r"^\$ (.*)", block, re.M):
                command(line)
            continue
        try:
            for name in re.findall(r"^(?:import|from) (\w+)", block, re.M):
                __import__(name)
        except ImportError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(block, page, "exec"), names)
        ran += 1
    assert ran > 0


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "docs")
    cells = [cell for cell in json.loads((ROOT / "docs/python.ipynb").read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 3
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voxelize.FindingWarning)
        for cell in cells:
            exec(compile("".join(cell["source"]), "python.ipynb", "exec"), names)


def test_the_examples_of_docstrings_hold() -> None:
    failed, tried = doctest.testmod(voxelize, verbose=False)
    assert tried > 3 and failed == 0
