"""Arrays, files and other packages show the same cells."""

from __future__ import annotations

import base64
import copy
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import command, fixture

import voxelize

F = fixture("f.stl")


@pytest.fixture(scope="module")
def solid() -> voxelize.Voxels:
    return voxelize.voxelize(F, res=70, rule="solid")


@pytest.fixture(scope="module")
def field() -> voxelize.Voxels:
    return voxelize.distance(F, res=20, signed=True, nearest=True)


def test_arrays_agree(solid: voxelize.Voxels) -> None:
    dense = solid.numpy()
    assert dense.dtype == np.bool_ and dense.shape == solid.shape and dense.flags.f_contiguous
    assert dense.sum() == solid.count == len(solid) > 1000
    cells = solid.cells()
    assert np.array_equal(np.argwhere(dense.T)[:, ::-1], cells)
    nx, ny, nz = solid.shape
    bits = np.unpackbits(solid.bits.view(np.uint8), axis=-1, bitorder="little")[..., :nx]
    assert np.array_equal(bits.transpose(2, 1, 0), dense)
    assert not solid.bits.flags.writeable and solid.bits.base is not None
    assert np.array_equal(np.asarray(solid, dtype=np.uint8), dense)
    assert np.array_equal(solid.numpy(float), dense)
    assert solid.contains(solid.centres()).all()
    assert np.array_equal(solid.index(solid.centres()), cells)
    empty = np.asarray(solid.origin) + (np.argwhere(~dense) + 0.5) * solid.spacing
    assert len(empty) > 100 and not solid.contains(empty).any()
    assert np.array_equal(solid.index([[1e9, 0, 0], [np.nan, 0, 0]]), np.full((2, 3), -1))
    corner = solid.affine @ [0, 0, 0, 1]
    assert np.allclose(corner[:3], np.asarray(solid.origin) + np.asarray(solid.spacing) / 2)


def test_views_outlive_their_voxels() -> None:
    bits = voxelize.voxelize(F, res=70).bits
    values = voxelize.distance(F, res=9).field
    assert values is not None and bits.sum() > 0 and np.isfinite(values).all()
    with pytest.raises(ValueError, match="read-only"):
        values[0, 0, 0] = 1.0


def test_shares_of_cells_add_up_to_one_volume() -> None:
    volumes = []
    for res in (20, 33):
        shares = voxelize.fraction(F, res=res)
        values = shares.field
        assert values is not None and values.min() >= 0 and values.max() == 1
        volumes.append(values.sum(dtype=float) * np.prod(np.asarray(shares.spacing, dtype=float)))
    assert abs(volumes[0] / volumes[1] - 1) < 1e-6
    with pytest.raises(voxelize.MeshError, match="not closed"):
        voxelize.fraction(fixture("open.stl"), res=9)


def test_arrays_beside_shares_are_those_of_the_file(tmp_path: Path) -> None:
    made = voxelize.fraction(F, res=20, with_=["area", "centroid"])
    area, centroid = made.arrays["area"], made.arrays["centroid"]
    assert list(made.arrays) == ["area", "centroid"] and area.shape == made.shape
    assert centroid.shape == (3, *made.shape) and area.sum() > 0
    # The centroid of a cell that is wholly inside is its centre.
    assert made.field is not None and (centroid[:, (made.field == 1) & (area == 0)] == 0).all()
    file = tmp_path / "a.npz"
    [report] = command(F, "-r", "20", "--rule", "fraction", "-o", str(file), "--with", "area,centroid")
    assert report["status"] == "ok"
    with np.load(file) as written:
        for name, array in made.arrays.items():
            assert np.array_equal(written[name], array, equal_nan=True), name
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.arrays["area"], area)
    with pytest.raises(voxelize.UsageError, match="fraction can"):
        voxelize.voxelize(F, res=9, with_="area")
    with pytest.raises(voxelize.UsageError, match="volume"):
        voxelize.fraction(F, res=9, with_="volume")


@pytest.mark.filterwarnings("ignore::voxelize.FindingWarning")
def test_several_meshes_have_their_own_fractions(tmp_path: Path) -> None:
    cube = fixture("cube.stl")
    made = voxelize.fraction({"letter": F, "cube": cube}, res=20)
    assert list(made.arrays) == ["letter", "cube"]
    for name, file in (("letter", F), ("cube", cube)):
        alone = voxelize.fraction(file, like=made)
        assert np.array_equal(made.arrays[name], alone.field), name
    output = tmp_path / "a.npz"
    [report] = command(f"letter={F}", cube, "-r", "20", "--rule", "fraction", "--labels", "file", "-o", str(output))
    assert report["digest"]["grid"] == made.digest
    with np.load(output) as written:
        assert written["label_names"].tolist() == ["letter", "cube"]
        for n, array in enumerate(made.arrays.values()):
            assert np.array_equal(written["fractions"][..., n], array)
    areas = voxelize.voxelize([F, cube], res=20, rule="area")
    assert areas.field is not None and np.allclose(sum(areas.arrays.values()), areas.field)
    # Distances are those to the nearest of all meshes, without labels.
    assert voxelize.distance([F, cube], res=20).arrays == {}


def test_points_on_walls_belong_to_the_cell_above() -> None:
    made = voxelize.voxelize(fixture("cube.stl"), voxel_size="0.1")
    thirds = [[k / 10, k / 10, k / 10] for k in range(640)]
    # As exact numbers, the doubles of k / 10 lie slightly above, on or below the wall.
    exact = [int(Fraction(point[0]) * 10 // 1) for point in thirds]
    assert made.index(thirds)[:, 0].tolist() == exact


def test_fields(field: voxelize.Voxels) -> None:
    assert field.field is not None and field.nearest is not None and field.kind == "field"
    assert field.field.shape == field.nearest.shape == field.shape
    assert ((field.nearest == -1) == (np.abs(field.field) == field.background)).all()
    assert field.field.min() < 0 < field.field.max()
    with pytest.raises(voxelize.UsageError):
        field.bits  # noqa: B018
    with pytest.raises(voxelize.UsageError, match="no nearest"):
        voxelize.voxelize(F, res=9, nearest=True)


def test_numbers_are_exact() -> None:
    sizes: list[Any] = [0.1, "0.1", Decimal("0.1"), Fraction(1, 10), np.float32(0.1), np.float64(0.1), "1/10"]
    made = {voxelize.voxelize(fixture("cube.stl"), voxel_size=size, bounds=(0, 0, 0, 3, 3, 3)).digest for size in sizes}
    assert len(made) == 1
    third = voxelize.voxelize(fixture("cube.stl"), voxel_size=Fraction(64, 3))
    assert third.exact == (("0/1", "0/1", "0/1"), ("64/3", "64/3", "64/3")) and third.shape == (3, 3, 3)


def test_every_readable_format_keeps_the_digest(solid: voxelize.Voxels, field: voxelize.Voxels, tmp_path: Path) -> None:
    compared = 0
    for made in (solid, field):
        for row in voxelize.formats():
            if not row["is_readable"] or made.kind not in row["kinds"]:
                continue
            name = tmp_path / f"{made.kind}.{row['extensions'][0]}"
            files = made.save(name, format=row["name"], sidecar=True)
            assert str(name) in files
            again = voxelize.open(name)
            assert again.cells_digest == made.cells_digest, name
            compared += 1
    assert compared > 10


def test_choices_of_formats(solid: voxelize.Voxels, tmp_path: Path) -> None:
    solid.save(tmp_path / "runs.npz", sparse="runs")
    assert "runs" in np.load(tmp_path / "runs.npz").files
    assert len(solid.to_bytes("nrrd", uncompressed=True)) > len(solid.to_bytes("nrrd"))
    with pytest.raises(voxelize.UsageError, match="no argument"):
        solid.save(tmp_path / "a.npz", pretty=True)
    with pytest.raises(voxelize.OutputError, match="overwrite"):
        solid.save(tmp_path / "runs.npz", overwrite=False)


def test_pickles_and_copies_are_equal(solid: voxelize.Voxels, field: voxelize.Voxels) -> None:
    labels = voxelize.voxelize(F, res=20, rule="filled", labels="layer")
    assert labels.kind == "labels"
    for made in (solid, field, labels):
        for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            assert again == made and hash(again) == hash(made) and again.findings == made.findings
            assert again.exact == made.exact and again.record == made.record
            assert (again.nearest is None) == (made.nearest is None)


def test_differences() -> None:
    first = voxelize.voxelize(F, res=20, rule="solid")
    second = voxelize.voxelize(F, res=20, rule="filled")
    found = first.diff(second)
    assert isinstance(found, voxelize.Difference) and found
    assert found.common == first.count and found.added == second.count - first.count and found.removed == 0
    assert found.voxels.count == found.added
    assert not first.diff(first)
    fields = voxelize.distance(F, res=9), voxelize.distance(F, res=9)
    same = fields[0].diff(fields[1])
    assert isinstance(same, voxelize.FieldDifference) and not same


def test_notebooks_show_a_picture_and_a_table(solid: voxelize.Voxels, field: voxelize.Voxels) -> None:
    for made in (solid, field):
        shown = made._repr_html_()
        assert not hasattr(made, "_repr_png_")
        picture = re.search('<img alt="[^"]+" src="data:image/png;base64,([^"]+)">', shown)
        assert picture and base64.b64decode(picture[1]) == made.picture() and made.picture().startswith(b"\x89PNG")
        assert made.digest in shown and "spacing" in shown
    assert repr(solid) == "<voxelize.Voxels 50 × 70 × 30, spacing 0.1, 27000 occupied, rule solid>"


def test_other_packages_show_the_same_cells(solid: voxelize.Voxels) -> None:
    trimesh = pytest.importorskip("trimesh")
    grid = solid.to_trimesh()
    assert isinstance(grid, trimesh.voxel.VoxelGrid) and grid.filled_count == solid.count
    assert np.allclose(np.sort(grid.points, axis=0), np.sort(solid.centres(), axis=0))
    assert np.isclose(grid.volume, solid.volume)


def test_pyvista(solid: voxelize.Voxels, field: voxelize.Voxels) -> None:
    pytest.importorskip("pyvista")
    image = solid.to_pyvista()
    centres = image.cell_centers().points[image.cell_data["occupied"] == 1]
    assert np.allclose(centres, solid.centres(), atol=1e-5)
    assert np.isclose(image.threshold(0.5, scalars="occupied").volume, solid.volume, rtol=1e-5)
    assert field.to_pyvista().cell_data["value"].dtype == np.float32


def test_open3d(solid: voxelize.Voxels) -> None:
    pytest.importorskip("open3d")
    grid = solid.to_open3d()
    indices = {tuple(voxel.grid_index) for voxel in grid.get_voxels()}
    assert indices == set(map(tuple, solid.cells().tolist()))


def test_torch(solid: voxelize.Voxels) -> None:
    pytest.importorskip("torch")
    tensor = solid.to_torch()
    assert tuple(tensor.shape) == solid.shape and int(tensor.sum()) == solid.count
