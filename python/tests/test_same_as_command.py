"""The package and the program agree: digests over fixtures × rules, and every option."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import FIXTURES, command, fixture

import voxelize

RULES: list[tuple[list[str], dict[str, Any]]] = [
    (["--surface"], {}),
    (["--rule", "thin"], {"rule": "thin"}),
    (["--solid"], {"rule": "solid"}),
    (["--filled"], {"rule": "filled"}),
    (["--rule", "offset", "--radius", "2vx"], {"rule": "offset", "radius": "2vx"}),
    (["--rule", "distance", "--signed"], {"rule": "distance", "signed": True}),
    (["--rule", "fraction"], {"rule": "fraction"}),
]


@pytest.mark.parametrize(("words", "options"), RULES, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_digests_are_those_of_the_command(words: list[str], options: dict[str, Any], tmp_path: Path) -> None:
    reports = command(*map(str, FIXTURES), "-r", "20", *words, "-f", "npz", "-o", f"{tmp_path}/")
    assert len(reports) == len(FIXTURES) > 5
    compared = 0
    for path, report in zip(FIXTURES, reports, strict=True):
        assert report["input"]["path"].endswith(path.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", voxelize.FindingWarning)
            if report["exit_code"] != 0:
                with pytest.raises(voxelize.Error) as error:
                    voxelize.voxelize(path, res=20, **options)
                assert error.value.code == report["error"]["code"], path
                continue
            made = voxelize.voxelize(path, res=20, **options)
        assert made.digest == report["digest"]["grid"], path
        found = {finding.code for finding in made.findings}
        assert found == {warning["code"] for warning in report["warnings"]}, path
        compared += 1
    assert compared > 5


OPTIONS: list[tuple[list[str], dict[str, Any]]] = [
    (["--voxel-size", "0.7"], {"voxel_size": 0.7}),
    (["--voxel-size", "3,2,5/3", "--origin", "0.1,0,0"], {"voxel_size": [3, 2, "5/3"], "origin": (0.1, 0, 0)}),
    (["--dims", "9,8,7"], {"dims": (9, 8, 7)}),
    (["--dims", "9,8,7", "--stretch"], {"dims": [9, 8, 7], "stretch": True}),
    (["-r", "9", "--cube", "--pad", "2"], {"res": 9, "cube": True, "pad": 2}),
    (["-r", "9", "--bounds", "0,0,0,30,20,10"], {"res": 9, "bounds": ((0, 0, 0), (30, 20, 10))}),
    (["-r", "9", "--unit", "mm", "--scale", "1/3", "--translate", "1,2,3"],
     {"res": 9, "unit": "mm", "scale": "1/3", "translate": (1, 2, 3)}),
    (["--unit", "mm", "--voxel-size", "0.5cm"], {"unit": "mm", "voxel_size": "0.5cm"}),
    (["-r", "9", "--rotate", "x,10", "--rotate", "z,30.5"], {"res": 9, "rotate": ["x,10", "z,30.5"]}),
    (["-r", "9", "--rotate", "x,10", "--rotate", "z,30.5"], {"res": 9, "rotate": [("x", 10), ("z", "30.5")]}),
    (["-r", "9", "--rotate", "z,30.5"], {"res": 9, "rotate": ("z", 30.5)}),
    (["-r", "9", "--rpy", "0.1,0.2,1.5708"], {"res": 9, "rpy": (0.1, 0.2, 1.5708)}),
    (["-r", "9", "--rotate", "x,10", "--rpy", "0,0,30deg"], {"res": 9, "rotate": "x,10", "rpy": "0,0,30deg"}),
    (["-r", "9", "--pad", "1,0,2,0,3,1"], {"res": 9, "pad": ((1, 0), (0, 3), (2, 1))}),
    (["-r", "9", "--pad", "1,0,2,0,3,1"], {"res": 9, "pad": (1, 0, 2, 0, 3, 1)}),
    (["-r", "9", "--pad", "1,2,3"], {"res": 9, "pad": [1, 2, 3]}),
    (["-r", "9", "--matrix", "0,-1,0,5,1,0,0,0,0,0,2,0.1"], {"res": 9, "matrix": [[0, -1, 0, 5], [1, 0, 0, 0], [0, 0, 2, "0.1"]]}),
    (["-r", "9", "--axes", "x,-z,y", "--rotate", "z,90", "--up", "y"], {"res": 9, "axes": "x,-z,y", "rotate": "z,90", "up": "y"}),
    (["-r", "9", "--ties", "both", "--snap", "none"], {"res": 9, "ties": "both", "snap": "none"}),
    (["-r", "9", "--solid", "--inside", "flood", "--close-holes", "2"],
     {"res": 9, "rule": "solid", "inside": "flood", "close_holes": 2}),
    (["-r", "9", "--solid", "--keep-thin"], {"res": 9, "rule": "solid", "keep_thin": True}),
    (["-r", "9", "--filled", "--hollow", "2"], {"res": 9, "rule": "filled", "hollow": 2}),
    (["-r", "30", "--unit", "mm", "--solid", "--hollow", "0.3mm"], {"res": 30, "unit": "mm", "rule": "solid", "hollow": "0.3mm"}),
    (["-r", "40", "--solid", "--hollow", "0.3units", "--drain", "0.5,0.5,0,0.5", "--drain", "0.5,0.5,3,0.5"],
     {"res": 40, "rule": "solid", "hollow": "0.3units", "drain": [(0.5, 0.5, 0, 0.5), "0.5,0.5,3,0.5"]}),
    (["-r", "20", "--unit", "mm", "--rule", "distance", "--signed", "--iso", "-0.2mm"],
     {"res": 20, "unit": "mm", "rule": "distance", "signed": True, "iso": "-0.2mm"}),
    (["-r", "9", "--rule", "fraction"], {"res": 9, "rule": "fraction"}),
    (["-r", "9", "--rule", "distance", "--band", "all"], {"res": 9, "rule": "distance", "band": "all"}),
    (["-r", "9", "--unit", "mm", "--rule", "distance", "--band", "3mm"], {"res": 9, "unit": "mm", "rule": "distance", "band": "3mm"}),
    (["-r", "9", "--rule", "distance", "--iso", "1.5vx"], {"res": 9, "rule": "distance", "iso": "1.5vx"}),
    (["-r", "9", "--labels", "object", "--solid"], {"res": 9, "labels": "object", "rule": "solid"}),
]


@pytest.mark.parametrize(("words", "options"), OPTIONS, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_options_are_those_of_the_command(words: list[str], options: dict[str, Any], tmp_path: Path) -> None:
    [report] = command(fixture("f.stl"), *words, "-o", str(tmp_path / "f.npz"))
    assert report["exit_code"] == 0, report
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voxelize.FindingWarning)
        made = voxelize.voxelize(fixture("f.stl"), **options)
    assert made.digest == report["digest"]["grid"]
    assert list(made.shape) == report["grid"]["dims"]
    assert voxelize.open(tmp_path / "f.npz") == made


POSES: list[tuple[list[str], Any, dict[str, Any]]] = [
    (["f.stl@rotate=z,90@translate=1,2,3"], "f.stl@rotate=z,90@translate=1,2,3", {}),
    (["f.stl@rpy=0.1,0.2,0.3"], "f.stl@rpy=0.1,0.2,0.3", {}),
    (["f.stl@translate=1mm,0,0", "--unit", "cm"], "f.stl@translate=1mm,0,0", {"unit": "cm"}),
    (["a=f.stl", "b=f.stl@translate=40,0,0"], {"a": "f.stl", "b": "f.stl@translate=40,0,0"}, {}),
    (["f.stl", "cube.stl@scale=1/2"], ["f.stl", "cube.stl@scale=1/2"], {}),
]


@pytest.mark.parametrize(("words", "mesh", "options"), POSES, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_poses_are_those_of_the_command(
    words: list[str], mesh: Any, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(fixture("f.stl")).parent)
    labels = ["--labels", "file"] if isinstance(mesh, (list, dict)) else []
    [report] = command(*words, *labels, "-r", "20", "--filled", "-o", str(tmp_path / "f.npz"))
    assert report["exit_code"] == 0, report
    made = voxelize.voxelize(mesh, res=20, rule="filled", **options)
    assert made.digest == report["digest"]["grid"]
    saved = voxelize.open(tmp_path / "f.npz")
    assert [label.name for label in made.legend.values()] == [label.name for label in saved.legend.values()]
    if not labels:
        assert made.record["input"] == saved.record["input"] == words[0]
def test_levels_of_detail_are_those_of_the_command(tmp_path: Path) -> None:
    numbers = [40, 20, 10, 15]
    reports = command(fixture("knot.stl"), "-r", "40,20,10,15", "--filled", "--pad", "1", "-o", str(tmp_path / "k.npz"))
    made = voxelize.levels(fixture("knot.stl"), numbers, rule="filled", pad=1)
    assert [level.digest for level in made] == [report["digest"]["grid"] for report in reports]
    for number, level in zip(numbers, made, strict=True):
        assert voxelize.open(tmp_path / f"k-{number}.npz") == level
        assert level.origin == made[2].origin
    assert made[0].shape == tuple(4 * n for n in made[2].shape)
    nested = made[0].numpy().reshape([x for n in made[2].shape for x in (n, 4)]).any(axis=(1, 3, 5))
    assert not (nested & ~made[2].numpy()).any()
    for wrong in ([], "64,32", 64, [64, 64]):
        with pytest.raises(voxelize.UsageError):
            voxelize.levels(fixture("cube.stl"), wrong)  # type: ignore[arg-type]
    with pytest.raises(voxelize.UsageError, match="a grid of its own") as error:
        voxelize.voxelize(fixture("cube.stl"), res=[64, 32])
    assert "voxelize.levels" in str(error.value.hint)


def test_limits_threads_and_levels_change_nothing() -> None:
    made = {
        voxelize.voxelize(fixture("knot.stl"), res=60, threads=threads, max_memory=memory, simd=simd).digest
        for threads in (0, 1, 3)
        for memory in (None, "64M", 10**9)
        for simd in (None, "scalar", "auto")
    }
    assert len(made) == 1


def test_the_command_ends_with_its_exit_codes() -> None:
    assert command("missing.stl")[0]["exit_code"] == 3
    assert command(fixture("cube.stl"), "-r", "0")[0]["exit_code"] == 2
