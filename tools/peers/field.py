"""Runs one Python peer for distances: `field.py PEER STL OX,OY,OZ SIZE NX,NY,NZ BAND OUT`.

Prints the seconds of the call alone and the number of processors it kept busy as JSON. Writes 32-bit floats
to OUT, x fastest, if the peer uses our lattice. It is a separate process, so that it can be stopped.
"""

import importlib
import json
import sys

import numpy
from lattice import Lattice, read_stl
from timing import timed


def main(name, stl, origin, size, dims, band, out):
    peer = importlib.import_module(f"field_{name}")
    origin = numpy.array([float(part) for part in origin.split(",")])
    lattice = Lattice(origin, float(size), tuple(int(part) for part in dims.split(",")))
    result, report = timed(peer.prepare(*read_stl(stl), lattice, float(band)))
    values = peer.values(result, lattice)
    if values is not None:
        values.ravel(order="F").tofile(out)
    print(json.dumps(report))


main(*sys.argv[1:])
