"""Table of docs/internals/interop.md: the results of three readers for odd and broken STL files.

`compare.py ANSWERS FOLDER`: the output of `examples/wild.rs`, and the files it wrote.
"""

import signal
import sys
import warnings
from pathlib import Path

import trimesh

SECONDS = 10

HEAD = """\
# Odd and broken STL files

This reader and two others read the files of `tests/support/wild/mod.rs`. The table has the number of triangles with the
[codes](../reference/findings.md) of the findings, or `refused`. `just interop` makes this page; Cargo.lock and
`tools/interop/requirements.txt` have the versions. "Refused after N" means that the reader returned N triangles, right or
not, before the error.
"""


def ask_trimesh(path):
    """Returns the number of triangles that trimesh reads, or its refusal."""

    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        with path.open("rb") as file:
            mesh = trimesh.load(file, file_type="stl", process=False, force="mesh")
        return str(len(mesh.faces))
    except TimeoutError:
        return f"over {SECONDS} s"
    except Exception:  # Whatever it raises, it refuses.
        return "refused"
    finally:
        signal.alarm(0)


def judge(rows, peer):
    """Returns the results of a peer for intact and for damaged files."""
    alike = refused = other = silent = 0
    damaged = 0
    for row in rows:
        whole, answer = row["usual"].split()[0], row[peer]
        if whole != "refused":
            alike += answer == whole
            refused += answer.startswith("refused")
            other += answer != whole and not answer.startswith("refused")
        else:
            damaged += 1
            silent += not answer.startswith("refused")
    total = alike + refused + other
    return (
        f"- {peer}: of {total} files that this reader reads, {alike} the same, {refused} refused, {other} with another "
        f"number of triangles; of {damaged} that it refuses, {silent} read without a message."
    )


def main(answers, folder):
    warnings.simplefilter("ignore")
    names = ("file", "case", "usual", "strict", "lenient", "stl_io")
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in Path(answers).read_text().splitlines()]
    for row in rows:
        row["trimesh"] = ask_trimesh(Path(folder) / row["file"])
    print(HEAD)
    print(judge(rows, "stl_io"), judge(rows, "trimesh"), sep="\n", end="\n\n")
    print("| case | by default | `--strict` | `--lenient` | stl_io | trimesh |\n|---|---|---|---|---|---|")
    for row in rows:
        cells = [row[key] for key in ("case", "usual", "strict", "lenient", "stl_io", "trimesh")]
        print(f"| {' | '.join(cells)} |")


main(*sys.argv[1:3])
