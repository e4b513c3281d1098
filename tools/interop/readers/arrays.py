"""Arrays of packed bits. Packages: numpy."""

import json

import numpy


def _sidecar(path):
    with open(f"{path}.json") as file:
        return json.load(file)


def _placed(cells, about):
    return dict(cells=cells, origin=numpy.array(about["origin_float"]), spacing=numpy.array(about["spacing_float"]))


def read_packed_npy(path):
    about = _sidecar(path)
    nx = about["dims"][0]
    return _placed(numpy.unpackbits(numpy.load(path), axis=0, count=nx, bitorder=about["bit_order"]), about)


def read_packed_npz(path):
    with numpy.load(path) as archive:
        nx = archive["shape"][0]
        cells = numpy.unpackbits(archive["voxels"], axis=0, count=nx, bitorder=str(archive["bit_order"]))
        return dict(cells=cells, origin=archive["origin"], spacing=archive["spacing"])

