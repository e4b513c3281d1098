"""Compares distance fields of peers and of voxelize on the same meshes and lattices, as a table in Markdown.

    just peers distance [MESH:RES ...]    a mesh is a path, or a name in the folder VOXELIZE_MESHES

RES is the number of cells on the longest axis of the mesh, without the padding. For a peer only the call is
timed, for voxelize only the computation. `error` is the largest difference from our distances, in cells,
where both have one. The whole field is computed up to 128 cells, a narrow band at any number.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from lattice import Lattice
from table import ask_twice, duration, find, row, told

HERE = Path(__file__).parent
PLACE = Path("target/peers")
TOOL = "target/release/voxelize"
USUAL = ["dragon:128", "bunny:128", "dragon:256", "dragon:512", "bunny:512"]
FIXTURES = ["knot:64", "knot:256"]
TITLES = "mesh,cells long,tool,what is timed,1 thread,2 threads,× ours,error in cells".split(",")
RUNS = 3
# Cells on each side of the surface.
BAND = 3
# Longest axis of whole fields.
WHOLE = 128


def python(module):
    return [sys.executable, str(HERE / "field.py"), module]


BANDS = [
    ("OpenVDB", "meshToVolume", [str(PLACE / "openvdb-peer")]),
    ("MeshLib", "meshToDistanceVdbVolume", python("meshlib_band")),
]
WHOLES = [
    ("MeshLib", "meshToDistanceVolume", python("meshlib_dense")),
    ("libigl", "point_mesh_squared_distance", python("igl")),
    ("FCPW", "find_closest_points, in floats", python("fcpw")),
]


def ours(stl, res, band, threads, place):
    """Returns median seconds of the computation, the lattice, and the distances, x fastest."""
    out = place / "ours.npy"
    command = [TOOL, stl, "--res", str(res), "--rule", "distance", "--band", band, "--pad", str(BAND)]
    command += ["--threads", str(threads), "--json", "-o", str(out)]
    runs = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(RUNS)
    ]
    times = sorted(run["timings_ms"]["voxelize"] / 1000 for run in runs)
    grid = runs[0]["grid"]
    lattice = Lattice(numpy.array(grid["origin"]), grid["spacing"][0], tuple(grid["dims"]))
    return times[RUNS // 2], lattice, numpy.load(out).ravel(order="F")


def error(values, reference, lattice, is_band):
    """Returns the largest difference in cells where both have a distance."""
    width = numpy.float32(BAND * lattice.size)
    known = numpy.isfinite(values) & ((reference < width) & (values < width) if is_band else True)
    return f"{numpy.abs(values[known] - reference[known]).max() / lattice.size:.1e}" if known.any() else ""


def table(head, stl, res, band, peers, place):
    title = f"distance --band {band}"
    (alone, lattice, reference), (both, _, _) = (ours(stl, res, band, threads, place) for threads in (1, 2))
    row(*head, "**voxelize**", title, duration(alone), duration(both), "1", "")
    for name, call, command in peers:
        out = place / "theirs.f4"
        out.unlink(missing_ok=True)
        one, two, reason = ask_twice([*command, stl, *told(lattice).values(), str(BAND), str(out)])
        if one is None:
            row(*head, name, call, "", "", "", reason)
            continue
        second = duration(two["seconds"]) if two else "one thread only"
        found = out.exists() and error(numpy.fromfile(out, "<f4"), reference, lattice, band != "all")
        times = f"{one['seconds'] / alone:.1f}"
        row(*head, name, call, duration(one["seconds"]), second, times, found or "another lattice")


def main(wanted):
    if not wanted:
        wanted = USUAL if "VOXELIZE_MESHES" in os.environ else FIXTURES
    jobs = [(mesh, find(mesh), int(res)) for mesh, res in (word.rsplit(":", 1) for word in wanted)]
    row(*TITLES)
    row(*["---"] * len(TITLES))
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        for mesh, stl, res in jobs:
            head = (Path(mesh).stem, str(res))
            table(head, stl, res, str(BAND), BANDS, Path(place))
            if res <= WHOLE:
                table(head, stl, res, "all", WHOLES, Path(place))


main(sys.argv[1:])
