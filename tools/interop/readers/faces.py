"""Meshes of exposed faces, converted back into cells. Packages: numpy, trimesh, plyfile, meshio, pygltflib,
vtk; three of npm.

A face across an axis enters or leaves cells, depending on its orientation. The cumulative sum along each row
marks the occupied cells. All three axes must give the same cells. If each edge has two faces, trimesh must
call the mesh watertight.
"""

import json
import pathlib
import re
import subprocess

import numpy

THREE = "0.187.0"


def _metadata(path):
    """Returns the JSON in the file, or in the sidecar of a .stl."""
    if str(path).endswith(".stl"):
        return json.loads(pathlib.Path(f"{path}.json").read_text())
    bytes = pathlib.Path(path).read_bytes()[: 1 << 16]
    if bytes.startswith(b"glTF"):
        length = int.from_bytes(bytes[12:16], "little")
        return json.loads(bytes[20 : 20 + length])["asset"]["extras"]["voxelize"]
    parts = re.findall(rb"^(?:comment|#) voxelize (.*)$", bytes, re.MULTILINE)
    return json.loads(b"".join(parts))


def _lattice(metadata):
    """Returns dims, origin and spacing of the grid."""
    floats = lambda key: numpy.array([int(p) / int(q) for p, q in (text.split("/") for text in metadata[key])])
    return numpy.array(metadata["dims"]), floats("origin"), floats("spacing")


def _occupied(walls, dims, axis):
    """Returns the cells enclosed by triangles across one axis, two for each rectangle."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    across = walls[(walls[:, :, axis] == walls[:, :1, axis]).all(axis=1)]
    low, high = across.min(axis=1), across.max(axis=1)
    one, two = across[:, 1] - across[:, 0], across[:, 2] - across[:, 0]
    area = one[:, u] * two[:, v] - one[:, v] * two[:, u]
    assert (numpy.abs(area) == (high[:, u] - low[:, u]) * (high[:, v] - low[:, v])).all(), "no half of a rectangle"
    changes = numpy.zeros(dims + 1, int)
    # A face that faces up ends cells.
    turn = -numpy.sign(area)
    is_one = numpy.abs(area) == 1
    numpy.add.at(changes, tuple(low[is_one].T), turn[is_one])
    for (x, y, z), (a, b, c), sign in zip(low[~is_one], high[~is_one], turn[~is_one]):
        ends = [slice(x, a), slice(y, b), slice(z, c)]
        ends[axis] = slice((x, y, z)[axis], (x, y, z)[axis] + 1)
        changes[tuple(ends)] += sign
    inside = numpy.cumsum(changes, axis=axis)
    assert set(numpy.unique(inside)) <= {0, 2} and (changes % 2 == 0).all(), "faces that do not enclose cells"
    return (inside // 2)[tuple(slice(n) for n in dims)].astype(bool)


def _cells(path, corners, labels=None):
    corners = numpy.asarray(corners, float)
    dims, origin, spacing = _lattice(_metadata(path))
    exact = (corners - origin) / spacing
    walls = numpy.round(exact).astype(int)
    assert numpy.abs(exact - walls).max() < 1e-2, "corners that are on no wall"
    found = [_occupied(walls, dims, axis) for axis in range(3)]
    assert all((one == found[0]).all() for one in found), "axes that differ"
    cells = found[0].astype(numpy.uint8)
    known = None
    if labels is not None:
        # The label of a face is the label of the cell below it.
        normal = numpy.cross(walls[:, 1] - walls[:, 0], walls[:, 2] - walls[:, 0])
        axis = numpy.abs(normal).argmax(axis=1)
        behind = walls.min(axis=1)
        rows = numpy.arange(len(walls))
        behind[rows, axis] -= normal[rows, axis] > 0
        known = numpy.zeros(dims, bool)
        plain = numpy.abs(normal).max(axis=1) == 1
        known[tuple(behind[plain].T)] = True
        cells[tuple(behind[plain].T)] = numpy.asarray(labels)[plain]
    return dict(cells=cells, origin=origin, spacing=spacing, known=known)


def _upright(points):
    """Converts from a scene with y up."""
    x, y, z = numpy.moveaxis(numpy.asarray(points), -1, 0)
    return numpy.stack([x, -z, y], axis=-1)


def _quads(faces):
    """Returns the triangles of quads."""
    faces = numpy.asarray(faces)
    return numpy.stack([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]], axis=1).reshape(-1, 3) if faces.shape[1] == 4 else faces


def read_trimesh(path):
    import trimesh

    mesh = trimesh.load_mesh(str(path), process=False)
    metadata = _metadata(path)
    if "parts" in metadata and str(path).endswith(".ply"):
        # The colour of surface.
        assert (mesh.visual.kind, mesh.visual.face_colors[0].tolist()) == ("face", [0xE8, 0xB0, 0x6C, 255]), mesh.visual
    is_glb = str(path).endswith(".glb")
    corners = _upright(mesh.triangles) if is_glb else mesh.triangles
    found = _cells(path, corners)
    count = numpy.count_nonzero(found["cells"]) * numpy.prod(found["spacing"])
    assert numpy.isclose(mesh.volume, count, rtol=1e-5), f"a volume of {mesh.volume}, not {count}"
    mesh.merge_vertices(merge_norm=True, merge_tex=True)
    shared = numpy.unique(mesh.edges_sorted, axis=0, return_counts=True)[1]
    is_whole = (shared == 2).all()
    assert mesh.is_watertight == is_whole and mesh.is_winding_consistent, "not watertight"
    is_merged = (numpy.abs(numpy.diff(corners[:, [0, 1, 2, 0]], axis=1)).max(axis=(1, 2)) > 1.5 * found["spacing"].max()).any()
    assert is_whole or is_merged or (shared % 2 == 0).all(), "edges of an odd number of faces"
    return found


def read_plyfile(path):
    import plyfile

    ply = plyfile.PlyData.read(str(path))
    points = numpy.stack([ply["vertex"][axis] for axis in "xyz"], axis=1)
    faces = numpy.stack(ply["face"]["vertex_indices"])
    labels = None
    if "label" in ply["face"]:
        labels = ply["face"]["label"]
        colours = numpy.stack([ply["face"][name] for name in ("red", "green", "blue")], axis=1)
        of = numpy.unique(numpy.column_stack([ply["face"]["label"], colours]), axis=0)
        assert len(of) == len(set(of[:, 0])), "a label of two colours"
    return _cells(path, points[_quads(faces)], labels)


def read_plyfile_points(path):
    import plyfile

    ply = plyfile.PlyData.read(str(path))
    vertices = ply["vertex"]
    metadata = _metadata(path)
    dims, origin, spacing = _lattice(metadata)
    exact = (numpy.stack([vertices[axis] for axis in "xyz"], axis=1) - origin) / spacing - 0.5
    places = numpy.round(exact).astype(int)
    assert numpy.abs(exact - places).max() < 1e-6, "a point that is no centre"
    values = vertices["label"] if "label" in vertices else vertices["value"] if "value" in vertices else numpy.uint8(1)
    cells = numpy.full(dims, float(metadata.get("background", 0)), dtype=values.dtype)
    cells[tuple(places.T)] = values
    return dict(cells=cells, origin=origin, spacing=spacing)


def read_meshio(path):
    import meshio

    mesh = meshio.read(str(path))
    faces = numpy.concatenate([_quads(block.data) for block in mesh.cells])
    return _cells(path, mesh.points[faces])


def read_vtk(path):
    import pyvista

    mesh = pyvista.read(str(path))
    if isinstance(mesh, pyvista.MultiBlock):
        mesh = mesh.combine().extract_surface(algorithm=None)
    mesh = mesh.triangulate()
    points = numpy.asarray(mesh.points, float)[mesh.faces.reshape(-1, 4)[:, 1:]]
    return _cells(path, _upright(points) if str(path).endswith(".glb") else points)


def read_pygltflib(path):
    import pygltflib

    scene = pygltflib.GLTF2().load(str(path))
    data = scene.binary_blob()

    def array(number, kind, width):
        accessor = scene.accessors[number]
        view = scene.bufferViews[accessor.bufferView]
        start = view.byteOffset + (accessor.byteOffset or 0)
        return numpy.frombuffer(data, kind, accessor.count * width, start).reshape(-1, width)

    node = scene.nodes[scene.scenes[scene.scene].nodes[0]]
    matrix = numpy.array(node.matrix).reshape(4, 4).T
    triangles, labels = [], []
    for primitive in scene.meshes[node.mesh].primitives:
        points = array(primitive.attributes.POSITION, "<f4", 3)
        triangles.append(points[array(primitive.indices, "<u4", 1).reshape(-1, 3)] @ matrix[:3, :3].T + matrix[:3, 3])
        label = scene.materials[primitive.material].extras.get("label", 1)
        labels.append(numpy.full(len(triangles[-1]), label))
    return _cells(path, _upright(numpy.concatenate(triangles)), numpy.concatenate(labels))


def read_three(path):
    place = pathlib.Path("target/formats/three")
    if not (place / "node_modules" / "three").is_dir():
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), f"three@{THREE}"]
        subprocess.run(install, check=True)
    script = place / "glb.mjs"
    script.write_text((pathlib.Path(__file__).parent.parent / "glb.mjs").read_text())
    corners = subprocess.run(["node", str(script), str(path)], check=True, capture_output=True).stdout
    return _cells(path, _upright(numpy.frombuffer(corners, "<f8").reshape(-1, 3, 3)))
