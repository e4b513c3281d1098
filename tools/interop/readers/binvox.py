"""Runs of cells. Packages: numpy, binvox, trimesh."""

import numpy


def _placed(cells, translate, scale):
    return dict(cells=cells, origin=numpy.array(translate), spacing=numpy.full(3, scale / max(cells.shape)), may_be_padded=True)


def read_binvox(path):
    from binvox import Binvox

    # The package was written when numpy.bool was another name of bool.
    found = Binvox.read(str(path), mode="dense")
    return _placed(found.data, found.translate, found.scale)


def read_trimesh(path):
    from trimesh.exchange.binvox import load_binvox

    with open(path, "rb") as file:
        found = load_binvox(file, axis_order="xzy")
    # Its distance of cells is the distance of corners: scale / (n - 1).
    cells = numpy.asarray(found.matrix)
    longest = max(cells.shape)
    return _placed(cells, found.translation, found.scale[0] * (longest - 1))
