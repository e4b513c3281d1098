"""Every kind of source gives the same mesh."""

from __future__ import annotations

import copy
import math
import multiprocessing
import os
import pickle
from collections import UserList
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


PICKLED: dict[str, Callable[[Path], Any]] = {
    "path": lambda file: file,
    "bytes": lambda file: file.read_bytes(),
    "arrays": lambda file: indexed(),
    "triangles": lambda file: np.take(*indexed(), axis=0),
    "objects of another package": lambda file: SimpleNamespace(vertices=indexed()[0] + 1e-9, faces=indexed()[1]),
}


@pytest.mark.parametrize("kind", PICKLED)
def test_a_mesh_can_be_pickled(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "knot.stl").write_bytes(PATH.read_bytes())
    monkeypatch.chdir(tmp_path)
    mesh = voxelize.mesh(PICKLED[kind](Path("knot.stl")), name="rope")
    data = pickle.dumps(mesh)
    monkeypatch.chdir("/")
    again = pickle.loads(data)
    assert (again.name, len(again), again.bounds, again.findings) == ("rope", len(mesh), mesh.bounds, mesh.findings)
    assert voxelize.voxelize(again, res=20, rule="solid") == voxelize.voxelize(mesh, res=20, rule="solid")
    assert pickle.loads(pickle.dumps(again)).name == "rope"
    assert copy.copy(mesh) is mesh and copy.deepcopy([mesh])[0] is mesh


def test_a_pickle_is_of_the_content_that_was_read(tmp_path: Path) -> None:
    vertices, faces = indexed()
    mesh = voxelize.mesh(vertices, faces)
    vertices[:] = 0
    assert pickle.loads(pickle.dumps(mesh)).bounds == mesh.bounds

    file = tmp_path / "part.stl"
    file.write_bytes(PATH.read_bytes())
    mesh = voxelize.mesh(file)
    data = pickle.dumps(mesh)
    file.write_bytes(Path(fixture("cube.stl")).read_bytes())
    with pytest.raises(voxelize.InputError, match="changed after it was read") as found:
        pickle.dumps(mesh)
    assert found.value.code == "changed" and found.value.file == str(file)
    with pytest.raises(voxelize.InputError, match="is not the file that the mesh was read from"):
        pickle.loads(data)
    file.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(data)


def digest(mesh: voxelize.Mesh) -> str:
    return voxelize.voxelize(mesh, res=20, threads=1).digest


def test_a_mesh_goes_to_a_process_that_is_spawned() -> None:
    meshes = [voxelize.mesh(PATH), voxelize.mesh(*indexed())]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(digest, meshes) == [digest(mesh) for mesh in meshes]


BOX = np.array([[x, y, z] for x in (0, 4) for y in (0, 4) for z in (0, 4)], np.float32)
QUADS = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
HALVES = np.concatenate([QUADS[:, [0, 1, 2]], QUADS[:, [0, 2, 3]]])
FAR = np.array([[-1, 0, 0, 20], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], float)


class Vector(SimpleNamespace):
    """Vector of a CAD package."""


class Shape:
    """Shape of a CAD package, whose vertices and faces are methods."""

    def __init__(self, names: str = "xyz", shift: float = 0) -> None:
        self.names, self.shift = names, shift

    def vertices(self) -> None: ...

    def faces(self) -> None: ...

    def tessellate(self, tolerance: float, angle: float) -> tuple[list[Vector], list[tuple[int, ...]]]:
        assert tolerance > 0 and angle > 0
        points = BOX + [self.shift, 0, 0]
        return [Vector(**dict(zip(self.names, point.tolist()))) for point in points], [tuple(face) for face in HALVES.tolist()]


def scene() -> Any:
    """Returns a scene like one of trimesh: a box, its mirror image, and a path."""
    nodes = {"a": (np.eye(4), "box"), "b": (FAR, "box"), "c": (np.eye(4), "path")}
    graph = type("Graph", (dict,), {"nodes_geometry": list(nodes)})(nodes)
    box = SimpleNamespace(vertices=BOX, faces=HALVES)
    return SimpleNamespace(geometry={"box": box, "path": SimpleNamespace(vertices=BOX)}, graph=graph)


class Blocks(UserList[Any]):
    """Blocks like those of PyVista, which are a sequence but not a list."""

    n_blocks, combine = 2, None


class Cells:
    """Grid of cells like one of PyVista. It has the attributes of meshio, too."""

    celltypes, points, cells_dict = [12], BOX, {12: np.arange(8)}

    def extract_surface(self) -> Any:
        return SimpleNamespace(points=BOX, regular_faces=HALVES, is_all_triangles=True)

    def tessellate(self) -> None: ...


def usd(matrix: Any = np.eye(4), orientation: str = "rightHanded", faces: Any = QUADS, holes: Any = None) -> Any:
    """Returns a mesh like one of usd-core. Its matrix is for row vectors."""

    def attribute(value: Any) -> Any:
        return lambda: SimpleNamespace(Get=lambda time: value, GetTimeSamples=list)

    return SimpleNamespace(
        GetPointsAttr=attribute(BOX),
        GetFaceVertexCountsAttr=attribute(np.full(len(faces), faces.shape[1])),
        GetFaceVertexIndicesAttr=attribute(faces.ravel()),
        GetHoleIndicesAttr=attribute(holes),
        GetOrientationAttr=attribute(orientation),
        ComputeLocalToWorldTransform=lambda time: np.asarray(matrix).T,
    )


#: Objects of other packages, with the volume inside.
OBJECTS: dict[str, tuple[Callable[[], Any], float]] = {
    "scene": (scene, 128),
    # Both blocks are the same box.
    "blocks": (lambda: Blocks([SimpleNamespace(vertices=BOX, faces=HALVES), Blocks([None, Cells()])]), 64),
    "cells": (Cells, 64),
    "shape with x": (Shape, 64),
    "shape with X": (lambda: Shape("XYZ"), 64),
    "tessellation": (lambda: Shape("XYZ").tessellate(0.1, 0.1), 64),
    "workplane": (lambda: SimpleNamespace(objects=[], vals=lambda: [Shape(), object(), Shape(shift=8)]), 128),
    "assembly": (lambda: SimpleNamespace(toCompound=Shape), 64),
    "builder": (lambda: SimpleNamespace(part=Shape()), 64),
    "quads of USD": (usd, 64),
    "triangles of USD": (lambda: usd(faces=HALVES), 64),
    "mirrored and moved mesh of USD": (lambda: usd(FAR), 64),
    "left-handed mesh of USD": (lambda: usd(orientation="leftHanded", faces=HALVES[:, ::-1]), 64),
    "hole of USD": (lambda: usd(faces=np.concatenate([QUADS, QUADS[:1]]), holes=np.array([6])), 64),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_of_other_packages_are_meshes(kind: str) -> None:
    make, volume = OBJECTS[kind]
    made = voxelize.voxelize(make(), voxel_size=1, rule="solid", inside="nonzero")
    assert made.volume == volume
    found = voxelize.check(make())
    assert sum(component.volume for component in found.components) > 0


def real_scene() -> tuple[Any, float]:
    trimesh = pytest.importorskip("trimesh")
    made, ball = trimesh.Scene(), trimesh.creation.icosphere()
    made.add_geometry(trimesh.creation.box((2, 4, 6)))
    made.add_geometry(ball, transform=FAR)
    made.add_geometry(trimesh.load_path(np.array([[0, 0, 0], [1, 1, 1.0]])))
    return made, 48 + float(ball.volume)


def real_blocks() -> tuple[Any, float]:
    pyvista = pytest.importorskip("pyvista")
    grid = pyvista.ImageData(dimensions=(4, 4, 4), origin=(9, 0, 0)).cast_to_unstructured_grid()
    return pyvista.MultiBlock([pyvista.Cube(), None, pyvista.MultiBlock([grid])]), 28.0


def real_workplane() -> tuple[Any, float]:
    box = pytest.importorskip("cadquery").Workplane().box(2, 4, 6)
    return box.faces(">Z").hole(1), 48 - 6 * math.pi / 4


def real_assembly() -> tuple[Any, float]:
    cadquery = pytest.importorskip("cadquery")
    box = cadquery.Workplane().box(1, 2, 3)
    return cadquery.Assembly().add(box).add(box, loc=cadquery.Location((9, 0, 0))), 12.0


def real_part() -> tuple[Any, float]:
    build123d = pytest.importorskip("build123d")
    with build123d.BuildPart() as part:
        build123d.Cylinder(1, 3)
    return part, 3 * math.pi


def real_stage() -> tuple[Any, float]:
    usd = pytest.importorskip("pxr.Usd")
    geometry = pytest.importorskip("pxr.UsdGeom")
    stage = usd.Stage.CreateInMemory()
    geometry.Xform.Define(stage, "/a").AddScaleOp().Set((-2, 1, 1))
    for name in ("/a/box", "/hidden"):
        mesh = geometry.Mesh.Define(stage, name)
        mesh.CreatePointsAttr(BOX.tolist())
        mesh.CreateFaceVertexCountsAttr([4] * 6)
        mesh.CreateFaceVertexIndicesAttr(QUADS.ravel().tolist())
    mesh.MakeInvisible()
    return stage, 128.0


@pytest.mark.parametrize("make", [real_scene, real_blocks, real_workplane, real_assembly, real_part, real_stage])
def test_objects_have_their_volume(make: Callable[[], tuple[Any, float]]) -> None:
    source, volume = make()
    assert voxelize.check(source).closed
    found = voxelize.fraction(source, res=40).volume
    # Triangles of curved shapes lie within the shape.
    assert found is not None and abs(found - volume) < 1e-3 * volume


def test_objects_that_are_no_meshes_say_what_to_do() -> None:
    grid = SimpleNamespace(extract_surface=None, tessellate=None)
    for source, hint in [(grid, "extract_surface"), (Blocks([grid]), "extract_surface"), (object(), "build123d")]:
        with pytest.raises(voxelize.UsageError, match="not a mesh") as found:
            voxelize.voxelize(source)
        assert hint in str(found.value)
    with pytest.raises(voxelize.UsageError, match="many takes a folder"):
        voxelize.voxelize(os.path.dirname(PATH))


def test_a_transform_is_the_matrix_of_other_packages() -> None:
    vertices, faces = indexed()
    turn = np.array([[0, -1, 0, 5], [1, 0, 0, -2.5], [0, 0, 1, 0.25], [0, 0, 0, 1.0]])
    moved = vertices.astype(np.float64) @ turn[:3, :3].T + turn[:3, 3]
    expected = voxelize.voxelize((moved.astype(np.float32), faces), res=40)
    mesh = voxelize.mesh(PATH)
    posed = mesh.transform(turn)
    assert voxelize.voxelize(posed, res=40) == expected
    assert voxelize.voxelize(mesh.transform(rotate="z,90", translate=(5, -2.5, 0.25)), res=40) == expected
    assert voxelize.voxelize(f"{PATH}@rpy=0,0,1.5708@translate=5,-2.5,0.25", res=40) == expected
    assert len(posed) == len(mesh) and posed.bounds != mesh.bounds and posed.name == mesh.name
    # A pose after another one acts on the posed mesh.
    twice = mesh.transform(translate=(1, 0, 0)).transform(rotate="z,90")
    once = mesh.transform(rotate="z,90", translate=(0, 1, 0))
    assert voxelize.voxelize(twice, res=40) == voxelize.voxelize(once, res=40)
    assert voxelize.voxelize(twice, res=9).record["input"] == "knot.stl@translate=1,0,0, then @rotate=z,90"
    for again in (pickle.loads(pickle.dumps(twice)), copy.deepcopy(twice), twice.renamed("other")):
        assert voxelize.voxelize(again, res=40) == voxelize.voxelize(once, res=40)
    for wrong, words in (
        (lambda: mesh.transform(np.eye(3)), "12 or 16 numbers"),
        (lambda: mesh.transform(np.zeros((4, 4))), "last row"),
        (lambda: mesh.transform(rpy=(0, 0, 90)), "more than a turn"),
        (lambda: voxelize.mesh(f"{PATH}@turn=z,90"), "is not one of axes"),
        (lambda: mesh.transform(translate=(1, 0, 0), max_memory=1000), "need"),
    ):
        with pytest.raises(voxelize.Error, match=words):
            wrong()


def test_the_keys_of_a_dictionary_are_labels() -> None:
    mesh = voxelize.mesh(PATH)
    made = voxelize.voxelize({"base.v2": mesh, "arm": mesh.transform(translate=(40, 0, 0)), "x": f"{PATH}@scale=1/2"}, res=40)
    assert [label.name for label in made.legend.values()] == ["base.v2", "arm", "x"]
    matrix = np.eye(4)
    matrix[0, 3] = 40
    for arm in ((PATH, matrix), (mesh, matrix), (str(PATH), matrix.tolist())):
        assert voxelize.voxelize({"base.v2": mesh, "arm": arm, "x": f"{PATH}@scale=1/2"}, res=40) == made
    with pytest.raises(voxelize.UsageError, match="makes one grid"):
        voxelize.many({"base": mesh})
    with pytest.raises(voxelize.UsageError, match="no mesh is given"):
        voxelize.voxelize({})
