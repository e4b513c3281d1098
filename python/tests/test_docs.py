"""The pages and the notebook run."""

from __future__ import annotations

import contextlib
import doctest
import json
import re
import shutil
import warnings
from pathlib import Path

import pytest
from conftest import ROOT, fixture

import voxelize


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder with the files that the pages name."""
    for name, source in {"part": "knot", "a": "cube", "b": "sphere"}.items():
        shutil.copy(fixture(f"{source}.stl"), tmp_path / f"{name}.stl")
    scan = voxelize.voxelize(tmp_path / "part.stl", res=20, pad=2)
    scan.save(tmp_path / "scan.nrrd")
    scan.save(tmp_path / "scan.nii.gz")
    with contextlib.suppress(ImportError):
        import nibabel

        # Like many scans, along axes other than the axes of the mesh.
        turned = nibabel.load(tmp_path / "scan.nii.gz").as_reoriented([[1, -1], [2, 1], [0, 1]])
        nibabel.save(turned, tmp_path / "scan.nii.gz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", ["docs/python.md", "docs/coming-from.md", "python/README.md"])
def test_examples_of_pages_run(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    names = {"voxelize": voxelize}
    ran = 0
    for block in blocks:
        needed = re.findall(r"^import (\w+)", block, re.M)
        try:
            for name in needed:
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
