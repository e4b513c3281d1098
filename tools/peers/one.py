"""One Python peer on one lattice: `one.py PEER STL OX,OY,OZ SIZE NX,NY,NZ OUT`.

Prints the seconds of the call alone, and how many processors it kept busy, as JSON; writes the cells
to OUT as 32-bit i, j, k. A process of its own, so that it can be stopped.
"""

import importlib
import json
import statistics
import sys
import time

import numpy
from lattice import Lattice, read_stl

# The call is repeated while it took less than this in all, and at most three times.
ENOUGH = 5.0


def main(name, stl, origin, size, dims, out):
    peer = importlib.import_module(f"peer_{name}")
    origin = numpy.array([float(part) for part in origin.split(",")])
    lattice = Lattice(origin, float(size), tuple(int(part) for part in dims.split(",")))
    call = peer.prepare(*read_stl(stl), lattice)
    seconds, processor = [], 0.0
    while not seconds or (len(seconds) < 3 and sum(seconds) < ENOUGH):
        begin = time.perf_counter(), time.process_time()
        result = call()
        seconds.append(time.perf_counter() - begin[0])
        processor += time.process_time() - begin[1]
    peer.cells(result).astype("<i4").tofile(out)
    print(json.dumps({"seconds": statistics.median(seconds), "busy": processor / sum(seconds)}))


main(*sys.argv[1:])
