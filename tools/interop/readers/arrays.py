"""Arrays of packed bits and of chosen numbers, read by their sidecars. Packages: numpy."""

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


def _labels(cells, about):
    """Converts numbers to labels."""
    values = [int(value) for value in about["values"].split(",")]
    known = numpy.isin(cells, values)
    # Unknown values must not be mapped to a label.
    return numpy.where(known, sum(numpy.where(cells == value, n, 0) for n, value in enumerate(values)), 99)


def read_values_npy(path):
    about = _sidecar(path)
    return _placed(_labels(numpy.load(path), about), about)


def read_values_raw(path):
    about = _sidecar(path)
    cells = numpy.fromfile(path, numpy.dtype(about["dtype"].replace("8", "1"))).reshape(about["dims"], order="F")
    return _placed(_labels(cells, about), about)
