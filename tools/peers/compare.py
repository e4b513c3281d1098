"""Compares other voxelizers with voxelize on the same meshes and lattices, as a table in Markdown.

    just peers [MESH:RES ...]             a mesh is a path, or a name in the folder VOXELIZE_MESHES
    just peers distance [MESH:RES ...]    distance fields, in distances.py

For a peer only its voxelization call is timed; for voxelize both the call and the whole process. Each peer
runs in a separate process, which may take a minute. docs/internals/benchmarks.md describes the comparison.
"""

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy
import ours
from lattice import compare
from table import ask_twice, duration, find, row, told

HERE = Path(__file__).parent
PLACE = Path("target/peers")
USUAL = ["dragon:256", "dragon:512", "bunny:256", "bunny:512", "armadillo_86k:256"]
FIXTURES = ["knot:256", "knot:512"]
TITLES = "mesh,cells long,tool,what is timed,1 thread,2 threads,× ours,cells,beside ours".split(",")
# Our options that match the peers, which count boxes with their walls.
RULES = {
    "surface": ["--ties", "both"],
    "solid": ["--solid"],
    "filled": ["--filled", "--ties", "both"],
}


@dataclass(frozen=True)
class Peer:
    name: str
    call: str
    command: list
    takes: tuple  # what its command is told of the lattice
    rule: str  # the one of ours that has its question


def python(name, call, module, rule):
    command = [sys.executable, str(HERE / "one.py"), module]
    return Peer(name, call, command, ("origin", "size", "dims"), rule)


PARRY = [str(PLACE / "parry/release/parry-peer")]
PEERS = [
    python("Open3D", "create_from_triangle_mesh_within_bounds", "open3d", "surface"),
    Peer("parry3d", "VoxelSet, surface", PARRY, ("origin", "size"), "surface"),
    python("trimesh", "voxelized, subdivide", "trimesh", "surface"),
    python("PyVista", "voxelize_binary_mask", "pyvista", "solid"),
    python("Open3D", "compute_occupancy at centres", "open3d_occupancy", "solid"),
    python("libigl", "fast_winding_number at centres", "igl_winding", "solid"),
    python("trimesh", "voxelized, fill", "trimesh_fill", "filled"),
]


def ours_rows(stl, head, res, rule, place):
    """Prints our two rows. Returns the seconds of our call in one thread."""
    call, whole, count = zip(*(ours.timed(stl, res, rule, threads, place) for threads in (1, 2)))
    rows = ((f"{rule}, the call", call, "1"), (f"{rule}, whole process, to disk", whole, ""))
    for timed, seconds, times in rows:
        row(*head, "**voxelize**", timed, *map(duration, seconds), times, f"{count[0]:,}", "")
    return call[0]


def peer_row(peer, stl, head, lattice, reference, our_seconds, place):
    out = place / "theirs.i4"
    words = told(lattice)
    one, two, reason = ask_twice([*peer.command, stl, *(words[name] for name in peer.takes), str(out)])
    if one is None:
        return row(*head, peer.name, peer.call, "", "", "", "", reason)
    cells = numpy.fromfile(out, "<i4").reshape(-1, 3)
    found = compare(cells, reference)
    remark = f"{found.missing:,} missing, {found.extra:,} extra, {found.beyond:,} beyond the lattice"
    second = duration(two["seconds"]) if two else "one thread only"
    times = f"{one['seconds'] / our_seconds:.0f}"
    row(*head, peer.name, peer.call, duration(one["seconds"]), second, times, f"{found.count:,}", remark)


def main(wanted):
    if not wanted:
        wanted = USUAL if "VOXELIZE_MESHES" in os.environ else FIXTURES
    jobs = [(mesh, find(mesh), int(res)) for mesh, res in (word.rsplit(":", 1) for word in wanted)]
    row(*TITLES)
    row(*["---"] * len(TITLES))
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        place = Path(place)
        for mesh, stl, res in jobs:
            head = (Path(mesh).stem, str(res))
            for rule, options in RULES.items():
                our_seconds = ours_rows(stl, head, res, rule, place)
                lattice, reference = ours.cells(stl, res, options, place)
                for peer in PEERS:
                    if peer.rule == rule:
                        peer_row(peer, stl, head, lattice, reference, our_seconds, place)


main(sys.argv[1:])
