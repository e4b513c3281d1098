"""Runs one Python peer that finds intersecting triangles, or the distance of two meshes: `pairs.py PEER STL
[STL]`.

Prints the seconds of the call, the number of processors it kept busy and its result as JSON. It is a separate
process, so that it can be stopped.
"""

import json
import sys

import peer_pairs
from lattice import read_stl
from timing import timed


def main(name, *paths):
    meshes = [read_stl(path) for path in paths]
    kind = "itself" if len(paths) == 1 else "two"
    call, found = getattr(peer_pairs, f"{name}_{kind}")(*meshes)
    result, report = timed(call)
    print(json.dumps(report | found(result)))


main(*sys.argv[1:])
