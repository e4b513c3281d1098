"""Common parts of the tables of peers: meshes by name, calls of a peer, rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

SECONDS = 60


def find(mesh):
    folder = Path(os.environ.get("VOXELIZE_MESHES", "fixtures"))
    for path in (Path(mesh), folder / f"{mesh}.stl"):
        if path.is_file():
            return str(path)
    sys.exit(f"error: {mesh} is no file, and no mesh in {folder}")


def told(lattice):
    """Returns a lattice as words of a command."""
    return {
        "origin": ",".join(repr(float(corner)) for corner in lattice.origin),
        "size": repr(lattice.size),
        "dims": ",".join(map(str, lattice.dims)),
    }


def ask(command, processors):
    """Returns the result of a peer with this number of processors, or the reason for its failure."""
    usable = sorted(os.sched_getaffinity(0))[:processors]
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            preexec_fn=lambda: os.sched_setaffinity(0, usable),
        )
    except subprocess.TimeoutExpired:
        return None, f"over {SECONDS} s, stopped"
    except FileNotFoundError:
        return None, "not installed"
    if done.returncode != 0:
        reason = (done.stderr.strip() or "it says nothing").splitlines()[-1]
        return None, f"failed: {reason[:120]}"
    return json.loads(done.stdout.splitlines()[-1]), None


def row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def duration(number):
    return f"{number * 1000:.1f} ms" if number < 1 else f"{number:.2f} s"


def ask_twice(command):
    """Returns the results with one processor and with two, `None` for a peer that uses only one, or the
    reason for its failure."""
    two, reason = ask(command, 2)
    threaded = two is not None and two["busy"] > 1.3
    one, reason = ask(command, 1) if threaded else (two, reason)
    return one, (two if threaded else None), reason
