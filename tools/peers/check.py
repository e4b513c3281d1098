"""Compares the intersecting triangles and the clearance of meshes found by peers and by voxelize, as tables
in Markdown.

    just peers check [MESH ...] [A:B ...]    a mesh is a path, or a name in the folder VOXELIZE_MESHES

For a single mesh, triangles are listed that meet beyond shared vertices and edges: the time of the call, the
number of these triangles, and the number of pairs if the peer reports it. Pairs of voxelize have a code each:
crossing, segment, overlap or point. `only theirs` and `only ours` compare pairs, or triangles if the peer
reports only triangles. A:B are compared with each other, `A:B@x,y,z` with B moved. Their time includes
everything that is built for the result.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy
from lattice import read_stl
from table import ask_twice, duration, find, row

HERE = Path(__file__).parent
PLACE = Path("target/peers")
OURS = "target/release/examples/contacts"
USUAL = ["bunny", "dragon", "lucy_100k", "fandisk", "teapot", "gears"]
SELF = [("MeshLib", "meshlib"), ("PyMeshLab", "pymeshlab"), ("CGAL", "cgal")]
PAIRS = [("MeshLib", "meshlib"), ("coal", "coal"), ("FCL", "fcl")]
SPHERE = "fixtures/sphere.stl"


def ours(*words):
    """Returns the results of voxelize with one thread and with two."""
    runs = [subprocess.run([OURS, *words, "--threads", n], capture_output=True, text=True, check=True) for n in "12"]
    return [json.loads(run.stdout) for run in runs]


def peer(name, *words):
    return ask_twice([sys.executable, str(HERE / "pairs.py"), name, *words])


def codes(pairs):
    counts = Counter(code for _, _, code in pairs)
    return ", ".join(f"{count} {code}" for code, count in sorted(counts.items())) or "none"


def differences(found, pairs):
    """Returns the differences between the peer's results and ours, in both directions."""
    if "pairs" in found:
        theirs, mine = {tuple(sorted(pair)) for pair in found["pairs"]}, {(a, b) for a, b, _ in pairs}
    else:
        theirs, mine = set(found["triangles"]), {n for a, b, _ in pairs for n in (a, b)}
    kinds = codes([pair for pair in pairs if (pair[0], pair[1]) in mine - theirs]) if "pairs" in found else ""
    return str(len(theirs - mine)), f"{len(mine - theirs)}" + (f" ({kinds})" if kinds not in ("", "none") else "")


def itself(name, stl):
    alone, both = ours(stl)
    pairs = alone["pairs"]
    triangles = len({n for a, b, _ in pairs for n in (a, b)})
    times = [duration(run["seconds"]) for run in (alone, both)]
    row(name, "**voxelize**", *times, str(triangles), f"{len(pairs)}: {codes(pairs)}", "", "")
    for title, module in SELF:
        one, two, reason = peer(module, stl)
        if one is None:
            row(name, title, "", "", reason, "", "", "")
            continue
        second = duration(two["seconds"]) if two else "one thread only"
        count = str(len(one["pairs"])) if "pairs" in one else ""
        row(name, title, duration(one["seconds"]), second, str(len(one["triangles"])), count, *differences(one, pairs))


def two(name, first, second):
    alone, both = ours(first, second)
    times = [duration(run["seconds"]) for run in (alone, both)]
    row(name, "**voxelize**", *times, alone["relation"], repr(alone["distance"]), str(alone["meetings"]), "")
    for title, module in PAIRS:
        one, more, reason = peer(module, first, second)
        if one is None:
            row(name, title, "", "", reason, "", "", "")
            continue
        busy = duration(more["seconds"]) if more else "one thread only"
        off = f"{abs(one['distance'] - alone['distance']):.1e}" if one.get("distance") is not None else ""
        pairs = str(len(one["pairs"])) if "pairs" in one else ""
        row(name, title, duration(one["seconds"]), busy, "", repr(one.get("distance")), pairs, off)


def written(place, name, triangles):
    """Writes a binary STL of these triangles."""
    records = numpy.zeros(len(triangles), dtype=[("normal", "<3f4"), ("corners", "<9f4"), ("attribute", "<u2")])
    records["corners"] = triangles.reshape(-1, 9)
    path = place / name
    path.write_bytes(bytes(80) + numpy.uint32(len(triangles)).tobytes() + records.tobytes())
    return str(path)


def soup(stl):
    points, triangles = read_stl(stl)
    return numpy.asarray(points, dtype="<f4")[numpy.asarray(triangles)]


def main(wanted):
    known = "VOXELIZE_MESHES" in os.environ
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        place = Path(place)
        alone = [word for word in wanted if ":" not in word]
        jobs = [(name, find(name)) for name in alone or ([] if wanted or not known else USUAL)]
        if not wanted:
            ball = soup(SPHERE)
            moved = ball + numpy.array([0.7, 0.31, 0.13], dtype="<f4")
            jobs.append(("two spheres", written(place, "spheres.stl", numpy.concatenate([ball, moved]))))
        title = "mesh,tool,1 thread,2 threads,triangles,pairs,only theirs,only ours".split(",")
        row(*title)
        row(*["---"] * len(title))
        for name, stl in jobs:
            itself(Path(name).stem, stl)
        print()
        pairs = [word for word in wanted if ":" in word]
        if not wanted:
            pairs = ["dragon:dragon@0.3,0,0", "dragon:dragon@0.01,0,0", "bunny:bunny@0.25,0.01,0"] if known else []
            pairs += ["fixtures/knot.stl:fixtures/knot.stl@0,80,0", "fixtures/knot.stl:fixtures/knot.stl@1,0,0"]
        title = "meshes,tool,1 thread,2 threads,relation,distance,pairs that meet,off by".split(",")
        row(*title)
        row(*["---"] * len(title))
        for word in pairs:
            first, _, rest = word.partition(":")
            second, _, by = rest.partition("@")
            offset = numpy.array([float(part) for part in by.split(",")] if by else [0.0] * 3, dtype="<f4")
            path = written(place, "second.stl", soup(find(second)) + offset)
            two(f"{Path(first).stem}, {Path(second).stem} {by}".strip(), find(first), path)


main(sys.argv[1:])
