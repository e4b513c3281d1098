"""Octrees, hexahedra and schematics, which are only written. Packages: numpy, octomap-python, vtk, pyvista,
meshio, nbtlib, nucleation."""

import json
import math
from fractions import Fraction

import numpy


def _described(about):
    """Returns the JSON metadata in a file."""
    numbers = {key: numpy.array([float(Fraction(n)) for n in about[key]]) for key in ("origin", "spacing")}
    return dict(dims=tuple(about["dims"]), background=numpy.float32(about.get("background", 0)), **numbers)


def read_octomap(path):
    import octomap

    with open(path, "rb") as file:
        head = [file.readline().decode() for _ in range(2)]
    exact = json.loads(head[1].removeprefix("# voxelize "))
    about = _described(exact)
    tree = octomap.OcTree(0.1)
    assert tree.readBinary(str(path).encode())
    size = about["spacing"][0]
    assert numpy.isclose(tree.getResolution(), size, rtol=1e-12) and tree.size() == tree.calcNumNodes()
    # The walls of the tree are at multiples of the size. The grid is moved to the nearest one, and halfway to
    # the upper.
    walls = [Fraction(origin) / Fraction(exact["spacing"][0]) for origin in exact["origin"]]
    first = numpy.array([math.floor(wall + Fraction(1, 2)) for wall in walls])
    states = numpy.full(about["dims"], 2, numpy.uint8)
    for leaf in tree.begin_leafs():
        edge = leaf.getSize()
        low = numpy.rint((numpy.array(leaf.getCoordinate()) - edge / 2) / size - first).astype(int)
        high = low + round(edge / size)
        assert numpy.all(low >= 0) and numpy.all(high <= states.shape)
        states[tuple(slice(*ends) for ends in zip(low, high))] = bool(tree.isNodeOccupied(leaf))
    # Unknown, or free if that is chosen, and never both.
    assert len(numpy.unique(states[states != 1])) <= 1
    return dict(cells=states == 1, origin=about["origin"], spacing=about["spacing"])


def _of_hexahedra(points, nodes, values, about):
    """Returns cells from the corners of their hexahedra. Each hexahedron must be a box of the lattice."""
    corners = points[nodes]
    size, origin = about["spacing"], about["origin"]
    order = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    assert numpy.allclose(corners - corners[:, :1], order * size, atol=1e-6 * size.min())
    assert len(numpy.unique(points, axis=0)) == len(points) == len(numpy.unique(nodes)), "nodes are not shared"
    places = (corners[:, 0] - origin) / size
    cells = numpy.full(about["dims"], about["background"], numpy.asarray(values).dtype)
    cells[tuple(numpy.rint(places).astype(int).T)] = values
    assert numpy.allclose(places, numpy.rint(places), atol=1e-3)
    return dict(cells=cells, origin=origin, spacing=size)


def read_vtk(path):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    about = vtk_to_numpy(grid.GetFieldData().GetArray("voxelize")).tobytes().decode()
    assert set(vtk_to_numpy(grid.GetCellTypesArray())) <= {12}
    nodes = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(-1, 8)
    values = vtk_to_numpy(grid.GetCellData().GetScalars())
    return _of_hexahedra(vtk_to_numpy(grid.GetPoints().GetData()), nodes, values, _described(json.loads(about)))


def read_pyvista(path):
    import pyvista

    grid = pyvista.read(str(path))
    about = _described(json.loads(bytes(grid.field_data["voxelize"])))
    volumes = numpy.asarray(grid.compute_cell_sizes(length=False, area=False)["Volume"])
    assert numpy.allclose(volumes, numpy.prod(about["spacing"]), rtol=1e-4), "a hexahedron is inside out"
    cells = numpy.full(about["dims"], about["background"], grid["voxels"].dtype)
    cells[tuple(grid["ijk"].T)] = grid["voxels"]
    return dict(cells=cells, origin=about["origin"], spacing=about["spacing"])


def read_meshio(path):
    import meshio

    mesh = meshio.read(path)
    if path.suffix == ".inp":
        with open(path) as file:
            about = "".join(line[12:-1] for line in file if line.startswith("** voxelize "))
        # One set of elements for each label, in the order of the values here.
        sets = mesh.cell_sets.values()
        values = numpy.zeros(sum(len(block.data) for block in mesh.cells), numpy.uint8)
        starts = numpy.cumsum([0] + [len(block.data) for block in mesh.cells])
        for value, members in enumerate(sets, 1):
            for start, chosen in zip(starts, members):
                values[start + numpy.asarray(chosen, int)] = value
    else:
        about = bytes(mesh.field_data["voxelize"])
        values = numpy.concatenate(mesh.cell_data["voxels"])
    assert {block.type for block in mesh.cells} == {"hexahedron"}
    nodes = numpy.concatenate([block.data for block in mesh.cells])
    return _of_hexahedra(mesh.points, nodes, values, _described(json.loads(about)))


def _turned(blocks, about):
    """Converts blocks x, y, z of a world with y up to cells of a grid with z up."""
    cells = blocks.transpose(0, 2, 1)[:, ::-1, :]
    return dict(cells=cells, origin=about["origin"], spacing=about["spacing"])


def _values(metadata):
    """Returns the value of the cells of each block."""
    return {str(name): int(value) for value, name in metadata.get("VoxelizeBlocks", {"1": "minecraft:stone"}).items()}


def read_nbtlib(path):
    import nbtlib

    file = nbtlib.load(path)
    found = file["Schematic"]
    assert file.gzipped and int(found["Version"]) == 3
    sizes = [int(found[name]) & 0xFFFF for name in ("Height", "Length", "Width")]
    values = _values(found["Metadata"])
    numbers = {int(number): values.get(str(name), 0) for name, number in found["Blocks"]["Palette"].items()}
    table = numpy.array([numbers.get(number, 0) for number in range(128)], numpy.uint8)
    blocks = table[numpy.asarray(found["Blocks"]["Data"])].reshape(sizes).transpose(2, 0, 1)
    return _turned(blocks, _described(json.loads(found["Metadata"]["Voxelize"])))


def read_nucleation(path):
    import nbtlib
    import nucleation

    metadata = nbtlib.load(path)["Schematic"]["Metadata"]
    about, values = _described(json.loads(metadata["Voxelize"])), _values(metadata)
    with open(path, "rb") as file:
        found = nucleation.Schematic.from_schematic(file.read())
    nx, ny, nz = about["dims"]
    blocks = numpy.zeros((nx, nz, ny), numpy.uint8)
    for block in json.loads(found.get_non_air_blocks_json()):
        blocks[block["x"], block["y"], block["z"]] = values[block["name"]]
    return _turned(blocks, about)
