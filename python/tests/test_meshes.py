"""Every kind of source gives the same mesh."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import fixture

import voxelize

PATH = Path(fixture("knot.stl"))


def indexed() -> tuple[Any, Any]:
    """Returns the corners in the file, each vertex once."""
    records = np.frombuffer(PATH.read_bytes()[84:], dtype=np.dtype([("f", "<f4", (4, 3)), ("a", "<u2")]))
    corners = records["f"][:, 1:].reshape(-1, 3)
    vertices, faces = np.unique(corners, axis=0, return_inverse=True)
    return vertices, faces.reshape(-1, 3)


def of_trimesh(vertices: Any, faces: Any) -> Any:
    return pytest.importorskip("trimesh").Trimesh(vertices, faces, process=False)


def of_pyvista(vertices: Any, faces: Any) -> Any:
    return pytest.importorskip("pyvista").PolyData.from_regular_faces(vertices, faces)


def of_meshio(vertices: Any, faces: Any) -> Any:
    return pytest.importorskip("meshio").Mesh(vertices, [("triangle", faces)])


def of_open3d(vertices: Any, faces: Any) -> Any:
    o3d = pytest.importorskip("open3d")
    return o3d.geometry.TriangleMesh(o3d.utility.Vector3dVector(vertices), o3d.utility.Vector3iVector(faces))


def of_open3d_tensors(vertices: Any, faces: Any) -> Any:
    o3d = pytest.importorskip("open3d")
    return o3d.t.geometry.TriangleMesh(o3d.core.Tensor(vertices), o3d.core.Tensor(faces.astype(np.int32)))


KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "path": lambda v, f: PATH,
    "text": lambda v, f: str(PATH),
    "bytes": lambda v, f: PATH.read_bytes(),
    "memoryview": lambda v, f: memoryview(PATH.read_bytes()),
    "arrays": lambda v, f: (v, f),
    "lists": lambda v, f: (v.tolist(), f.tolist()),
    "doubles": lambda v, f: (v.astype(np.float64), f.astype(np.int64)),
    "short indices": lambda v, f: (v, f.astype(np.uint16)),
    "other order in memory": lambda v, f: (np.asfortranarray(v), np.asfortranarray(f)),
    "triangles": lambda v, f: v[f],
    "vertices and faces": lambda v, f: SimpleNamespace(vertices=v, faces=f),
    "mesh": lambda v, f: voxelize.mesh(v, f),
    "trimesh": of_trimesh,
    "pyvista": of_pyvista,
    "meshio": of_meshio,
    "open3d": of_open3d,
    "tensors of open3d": of_open3d_tensors,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same(kind: str) -> None:
    expected = voxelize.voxelize(PATH, res=40, rule="solid")
    made = voxelize.voxelize(KINDS[kind](*indexed()), res=40, rule="solid")
    assert made == expected and made.count > 1000


def test_quads_of_meshio_are_two_triangles_each() -> None:
    corners = [[x, y, z] for x in (0, 4) for y in (0, 4) for z in (0, 4)]
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    box = SimpleNamespace(points=np.array(corners, float), cells_dict={"quad": np.array(quads)})
    assert voxelize.voxelize(box, voxel_size=1, rule="filled").count == 64


def test_doubles_are_rounded_once_and_that_is_said() -> None:
    vertices, faces = indexed()
    made = voxelize.voxelize((vertices.astype(np.float64) + 1e-9, faces), res=10)
    [finding] = [finding for finding in made.findings if finding.code == "rounded"]
    assert finding.severity == "note" and finding.count > 1000
    exact = voxelize.voxelize((vertices.astype(np.float64), faces), res=10)
    assert not [finding for finding in exact.findings if finding.code == "rounded"]


def test_a_list_of_meshes_gives_labels() -> None:
    with pytest.warns(voxelize.FindingWarning, match=r"\[W002\] 1 of 2 parts has no cells: f;"):
        both = voxelize.voxelize([fixture("cube.stl"), fixture("f.stl")], voxel_size=2, rule="solid")
    assert [label.name for label in both.legend.values()] == ["cube", "f"]
    cells = both.labels
    assert cells is not None
    for value, label in both.legend.items():
        assert np.count_nonzero(cells == value) == label.count
    with pytest.warns(voxelize.FindingWarning, match="W002"):
        first = voxelize.voxelize(
            [fixture("f.stl"), fixture("cube.stl")], voxel_size=2, rule="solid", priority=["cube.stl"]
        )
    assert {label.name: label.count for label in first.legend.values()} == {
        label.name: label.count for label in both.legend.values()
    }
    with pytest.warns(voxelize.FindingWarning, match="1 of 2 parts has no cells: 1;"):
        arrays = voxelize.voxelize([indexed(), indexed()], res=20)
    assert [label.name for label in arrays.legend.values()][:1] == ["0"]


def test_like_takes_the_lattice_of_others(tmp_path: Path) -> None:
    first = voxelize.voxelize(PATH, res=30, pad=3)
    first.save(tmp_path / "scan.nrrd")
    for like in (first, tmp_path / "scan.nrrd", str(tmp_path / "scan.nrrd")):
        again = voxelize.voxelize(PATH, like=like, rule="solid")
        assert again.exact == first.exact and again.shape == first.shape


def test_like_takes_a_scan_of_any_type(tmp_path: Path) -> None:
    header = b"NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 40 40 20\n"
    header += b"space directions: (2,0,0) (0,2,0) (0,0,2)\nspace origin: (-40,-40,-20)\nendian: little\nencoding: raw\n\n"
    (tmp_path / "ct.nrrd").write_bytes(header + bytes(2 * 40 * 40 * 20))
    made = voxelize.voxelize(PATH, like=tmp_path / "ct.nrrd", rule="solid")
    assert made.shape == (40, 40, 20) and made.origin == (-41.0, -41.0, -21.0) and made.count > 1000


def test_meshes_are_read_once_and_used_often() -> None:
    mesh = voxelize.mesh(PATH)
    assert len(mesh) > 100 and mesh.name == "knot.stl" and mesh.bounds is not None
    assert voxelize.voxelize(mesh, res=9) == voxelize.voxelize(PATH, res=9)
    assert copy.copy(voxelize.voxelize(mesh, res=9)).count > 0


def test_arrays_may_begin_anywhere_in_memory() -> None:
    corners = np.arange(27, dtype="<f4").reshape(3, 3, 3)
    unaligned = np.frombuffer(b"." + corners.tobytes(), "<f4", offset=1).reshape(3, 3, 3)
    assert not unaligned.flags.aligned
    faces = np.frombuffer(b"." + np.array([[0, 1, 2]], "<u4").tobytes(), "<u4", offset=1).reshape(1, 3)
    assert len(voxelize.mesh(unaligned)) == 3
    assert len(voxelize.mesh(unaligned[0], faces)) == 1
