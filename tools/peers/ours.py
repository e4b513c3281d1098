"""Runs voxelize as a whole process and as a single call, and reads its cells."""

import json
import statistics
import subprocess
import time

import numpy
from lattice import Lattice

TOOL = "target/release/voxelize"
RUNS = 7


def run(stl, res, *options):
    """Returns the JSON of a run, and the seconds of the whole process."""
    command = [TOOL, stl, "--res", str(res), "--json", *options]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), time.perf_counter() - begin


def timed(stl, res, rule, threads, place):
    """Returns median seconds of the call and of the process that writes bits to disk, and the number of
    cells."""
    options = ["--rule", rule, "--threads", str(threads), "--dtype", "bit", "-o", str(place / "ours.raw")]
    runs = [run(stl, res, *options) for _ in range(RUNS)]
    call = statistics.median(said["timings_ms"]["voxelize"] / 1000 for said, _ in runs)
    whole = statistics.median(seconds for _, seconds in runs)
    return call, whole, runs[0][0]["counts"]["occupied"]


def cells(stl, res, options, place):
    """Returns the lattice, and the cells as a dense array."""
    path = place / "ours.npy"
    said, _ = run(stl, res, *options, "-o", str(path))
    grid = said["grid"]
    lattice = Lattice(numpy.array(grid["origin"]), grid["spacing"][0], tuple(grid["dims"]))
    return lattice, numpy.load(path)
