"""Meshes of other packages. A package is recognised by the attributes of its objects. Only `pxr`, the module of usd-core,
is imported, and only for an object of it.

Curved shapes of CAD packages become triangles that are at most `TOLERANCE` away from the shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import usage

Array = npt.NDArray[Any]

#: Greatest distance of a shape from its triangles, in units of the shape, and greatest angle between neighbours in radians.
TOLERANCE = 0.001
ANGLE = 0.1

KNOWN = (
    "a mesh is a path, bytes, (vertices, faces), triangles (n, 3, 3), or an object of trimesh, Open3D, PyVista, meshio, "
    "build123d, CadQuery or usd-core"
)


def arrays_of(source: Any) -> tuple[Any, Any] | bytes | None:
    """Returns the vertices and faces of an object, or a file in memory if its faces are polygons. None for other objects."""
    if hasattr(source, "geometry") and hasattr(source, "graph"):  # scene of trimesh
        return _joined(_of_scene(source))
    if _has_data(source, "vertices", "faces"):  # trimesh
        return source.vertices, source.faces
    if _has_data(source, "vertices", "triangles"):  # Open3D
        return source.vertices, source.triangles
    if _has_data(source, "vertex", "triangle"):  # tensors of Open3D
        return source.vertex.positions, source.triangle.indices
    if hasattr(source, "n_blocks") and hasattr(source, "combine"):  # several blocks of PyVista
        return _joined(_of_blocks(source))
    if hasattr(source, "celltypes") and hasattr(source, "extract_surface"):  # cells of PyVista
        return arrays_of(_surface(source))
    if hasattr(source, "points") and hasattr(source, "regular_faces"):  # PyVista
        if not source.is_all_triangles:
            source = source.triangulate()
        return source.points, source.regular_faces
    if hasattr(source, "points") and hasattr(source, "cells_dict"):  # meshio
        return source.points, _of_cells(source.cells_dict)
    if hasattr(source, "Traverse") or hasattr(source, "GetPrimTypeInfo"):  # stage or prim of usd-core
        return _of_prims(_meshes_of_stage(source))
    if hasattr(source, "GetFaceVertexIndicesAttr"):  # mesh of usd-core
        return _of_prims([source])
    shapes = list(_shapes(source))
    if shapes:
        return _joined(shape.tessellate(TOLERANCE, ANGLE) for shape in shapes)
    return None


def hint_of(source: Any) -> str:
    """Returns what to do with an object that is not a mesh."""
    return "its extract_surface() returns a mesh" if hasattr(source, "extract_surface") else KNOWN


def points_of(vertices: Any) -> Any:
    """Returns vertices as numbers. CAD packages have vectors with the attributes x, y and z, or X, Y and Z."""
    if not isinstance(vertices, Sequence) or not vertices:
        return vertices
    for names in ("xyz", "XYZ"):
        if all(hasattr(vertices[0], name) for name in names):
            return [[getattr(vertex, name) for name in names] for vertex in vertices]
    return vertices


def _has_data(source: Any, *names: str) -> bool:
    """Returns True if the attributes exist and are data. CAD packages have methods of the same names."""
    return all(hasattr(source, name) and not callable(getattr(source, name)) for name in names)


def _joined(parts: Any) -> tuple[Array, Array]:
    """Joins the vertices and faces of several meshes."""
    vertices: list[Array] = []
    faces: list[Array] = []
    count = 0
    for some_vertices, some_faces in parts:
        points = np.asarray(points_of(some_vertices)).reshape(-1, 3)
        vertices.append(points)
        faces.append(np.asarray(some_faces, dtype=np.int64).reshape(-1, 3) + count)
        count += len(points)
    if not vertices:
        return np.empty((0, 3), np.float32), np.empty((0, 3), np.int64)
    return np.concatenate(vertices), np.concatenate(faces)


def _of_scene(scene: Any) -> Iterator[tuple[Any, Any]]:
    """Returns the meshes of a scene of trimesh in coordinates of the scene. Paths and clouds of points are left out."""
    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph[node]
        geometry = scene.geometry[name]
        if hasattr(geometry, "faces"):
            yield _placed(geometry.vertices, geometry.faces, np.asarray(matrix, np.float64))


def _placed(vertices: Any, faces: Any, matrix: Array) -> tuple[Array, Array]:
    """Applies a matrix (4, 4) for column vectors. A mirrored mesh keeps its inside."""
    points, corners = np.asarray(vertices), np.asarray(faces)
    if np.array_equal(matrix, np.eye(4)):
        return points, corners
    points = points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return points, corners[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0 else corners


def _of_blocks(blocks: Any) -> Iterator[tuple[Any, Any]]:
    """Returns the meshes in the blocks of PyVista. Empty blocks are left out."""
    for block in blocks:
        if block is None:
            continue
        found = arrays_of(block)
        if found is None or isinstance(found, bytes):
            raise usage(f"a block is of type {type(block).__name__}, which is not a mesh", hint_of(block))
        yield found


def _surface(grid: Any) -> Any:
    """Returns the faces of a grid of PyVista that belong to one cell only."""
    try:
        return grid.extract_surface(algorithm="dataset_surface")
    except TypeError:  # before PyVista 0.47
        return grid.extract_surface()


def _of_cells(cells: Any) -> Array:
    """Returns the triangles of cells of meshio. Quads are split in two."""
    quads = np.asarray(cells.get("quad", np.empty((0, 4), int)))
    halves = [np.asarray(cells.get("triangle", np.empty((0, 3), int))), quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
    return np.concatenate(halves)


def _shapes(source: Any) -> Iterator[Any]:
    """Returns the shapes of CAD packages in an object: a shape, a workplane, an assembly or a builder."""
    if hasattr(source, "extract_surface"):  # other grids of PyVista, whose tessellate is another function
        return
    if hasattr(source, "tessellate"):
        yield source
    elif hasattr(source, "toCompound"):  # assembly of CadQuery
        yield source.toCompound()
    elif hasattr(source, "vals") and hasattr(source, "objects"):  # workplane of CadQuery
        for shape in source.vals():
            if hasattr(shape, "tessellate"):
                yield shape
    elif hasattr(getattr(source, "part", None), "tessellate"):  # builder of build123d
        yield source.part


def _meshes_of_stage(source: Any) -> Iterator[Any]:
    """Returns the visible meshes of a stage of usd-core, or of a prim and the prims below it."""
    from pxr import Usd, UsdGeom

    prim = source.GetPseudoRoot() if hasattr(source, "GetPseudoRoot") else source
    for each in Usd.PrimRange(prim, Usd.TraverseInstanceProxies()):
        if each.IsA(UsdGeom.Mesh):
            mesh = UsdGeom.Mesh(each)
            is_shown = mesh.ComputePurpose() in (UsdGeom.Tokens.default_, UsdGeom.Tokens.render)
            if is_shown and mesh.ComputeVisibility() != UsdGeom.Tokens.invisible:
                yield mesh


def _of_prims(meshes: Any) -> tuple[Array, Array] | bytes:
    """Returns the faces of meshes of usd-core in world coordinates. An animated mesh is taken at its first time."""
    vertices: list[Array] = []
    triangles: list[Array] = []
    polygons: list[Array] = []
    total = 0
    for mesh in meshes:
        attribute = mesh.GetPointsAttr()
        times = attribute.GetTimeSamples()
        time = times[0] if times else 0.0
        points = _values(attribute, time).reshape(-1, 3)
        sizes = _values(mesh.GetFaceVertexCountsAttr(), time).astype(np.int64)
        corners = _values(mesh.GetFaceVertexIndicesAttr(), time).astype(np.int64)
        if sizes.sum() != len(corners):
            raise usage(f"faces: a mesh of USD has {len(corners)} indices, but its faces have {sizes.sum()} corners")
        if len(corners) and not 0 <= corners.min() <= corners.max() < len(points):
            raise usage("faces: an index of a mesh of USD is negative or too large")
        # Matrices of USD are for row vectors.
        matrix = np.asarray(mesh.ComputeLocalToWorldTransform(time), np.float64).T
        placed, _ = _placed(points, np.empty((0, 3), int), matrix)
        is_left = mesh.GetOrientationAttr().Get(time) == "leftHanded"
        step = -1 if is_left != bool(np.linalg.det(matrix[:3, :3]) < 0) else 1
        starts = np.cumsum(sizes) - sizes
        is_kept = np.ones(len(sizes), bool)
        is_kept[_values(mesh.GetHoleIndicesAttr(), time).astype(np.int64)] = False
        three = starts[is_kept & (sizes == 3), None] + np.arange(3)
        triangles.append(corners[three][:, ::step] + total)
        for start, size in zip(starts[is_kept & (sizes > 3)].tolist(), sizes[is_kept & (sizes > 3)].tolist()):
            polygons.append(corners[start : start + size][::step] + total)
        vertices.append(placed)
        total += len(placed)
    all_points = np.concatenate(vertices) if vertices else np.empty((0, 3), np.float32)
    all_triangles = np.concatenate(triangles) if triangles else np.empty((0, 3), np.int64)
    if not polygons:
        return all_points, all_triangles
    # The reader of OFF splits polygons into triangles. Nine digits identify a float.
    lines = ["OFF", f"{total} {len(all_triangles) + len(polygons)} 0"]
    lines += ["%.9g %.9g %.9g" % tuple(point) for point in all_points.astype(np.float32).tolist()]
    lines += ["3 %d %d %d" % tuple(face) for face in all_triangles.tolist()]
    lines += [f"{len(face)} " + " ".join(map(str, face.tolist())) for face in polygons]
    return "\n".join([*lines, ""]).encode()


def _values(attribute: Any, time: float) -> Array:
    """Returns the values of an attribute of usd-core. Without a value there are none."""
    found = attribute.Get(time)
    return np.empty(0, np.float32) if found is None else np.asarray(found)
