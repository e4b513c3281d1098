"""Sparse arrays of cells, and arrays of other axes. Packages: numpy."""

import numpy


def read_numpy(path):
    with numpy.load(path) as archive:
        found = dict(archive)
    values = found.get("values", numpy.True_)
    cells = numpy.full(found["shape"], found.get("background", 0), dtype=values.dtype)
    if "indices" in found:
        cells[tuple(found["indices"].T)] = values
    else:
        for n, (x, y, z, length) in enumerate(found["runs"]):
            cells[x : x + length, y, z] = values[n] if values.ndim else values
    return dict(cells=cells, origin=found["origin"], spacing=found["spacing"])


def read_zyx(path):
    with numpy.load(path) as archive:
        return dict(cells=archive["voxels"].transpose(2, 1, 0), origin=archive["origin"], spacing=archive["spacing"])
