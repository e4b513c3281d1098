"""Runs one Python peer on one lattice: `one.py PEER STL OX,OY,OZ SIZE NX,NY,NZ OUT`.

Prints the seconds of the call alone and the number of processors it kept busy as JSON. Writes the cells to
OUT as 32-bit i, j, k. It is a separate process, so that it can be stopped.
"""

import importlib
import json
import sys

import numpy
from lattice import Lattice, read_stl
from timing import timed


def main(name, stl, origin, size, dims, out):
    peer = importlib.import_module(f"peer_{name}")
    origin = numpy.array([float(part) for part in origin.split(",")])
    lattice = Lattice(origin, float(size), tuple(int(part) for part in dims.split(",")))
    result, report = timed(peer.prepare(*read_stl(stl), lattice))
    peer.cells(result).astype("<i4").tofile(out)
    print(json.dumps(report))


main(*sys.argv[1:])
