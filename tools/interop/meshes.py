"""Compares the cells of the same object in every readable format, written by trimesh and DracoPy.

`meshes.py VOXELIZE FOLDER MESH...` prints a table, and fails if a digest differs.
"""

import json
import struct
import subprocess
import sys
from pathlib import Path

import DracoPy
import numpy as np
import trimesh

RESOLUTIONS = [17, 64, 200]
RULES = ["--surface", "--filled"]
# Bits per coordinate in Draco: twice the precision of floats at the ends of the mesh.
BITS = 24


def big_endian(mesh):
    """Returns a big-endian PLY, which trimesh does not write."""
    head = (
        "ply\nformat binary_big_endian 1.0\n"
        f"element vertex {len(mesh.vertices)}\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {len(mesh.faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    faces = np.zeros(len(mesh.faces), dtype=[("count", "u1"), ("corners", ">i4", 3)])
    faces["count"] = 3
    faces["corners"] = mesh.faces
    return head.encode() + mesh.vertices.astype(">f4").tobytes() + faces.tobytes()


def draco(mesh):
    """Returns a GLB whose only primitive is compressed."""
    data = DracoPy.encode(mesh.vertices, mesh.faces.astype(np.uint32), quantization_bits=BITS)
    document = {
        "asset": {"version": "2.0"},
        "extensionsRequired": ["KHR_draco_mesh_compression"],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {
                "primitives": [
                    {
                        "attributes": {"POSITION": 0},
                        "extensions": {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}},
                    }
                ]
            }
        ],
        "accessors": [{"componentType": 5126, "count": len(mesh.vertices), "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": len(data)}],
        "buffers": [{"byteLength": len(data)}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def forms(mesh):
    """Yields each file, and whether its coordinates are exact."""
    yield "binary.stl", mesh.export(file_type="stl"), True
    yield "text.stl", mesh.export(file_type="stl_ascii"), True
    yield "a.obj", mesh.export(file_type="obj", digits=9), True
    yield "text.ply", mesh.export(file_type="ply", encoding="ascii"), True
    yield "little.ply", mesh.export(file_type="ply"), True
    yield "big.ply", big_endian(mesh), True
    yield "a.off", mesh.export(file_type="off", digits=9), True
    yield "a.glb", mesh.export(file_type="glb"), True
    yield "a.3mf", mesh.export(file_type="3mf"), True
    yield "draco.glb", draco(mesh), False


def run(voxelize, path, resolution, rule, out):
    """Returns the digest and the number of cells. y of a glTF is not rotated up."""
    line = [voxelize, path, "-r", str(resolution), rule, "--up", "z", "-o", out, "--json", "-q"]
    done = subprocess.run(line, check=True, capture_output=True)
    report = json.loads(done.stdout)
    return report["digest"]["cells"], report["counts"]["occupied"]


def main():
    voxelize, folder, *meshes = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("| mesh | file | by | runs | other digests | cells | cells more or fewer |\n|---|---|---|---|---|---|---|")
    wrong = 0
    for name in meshes:
        # Float coordinates, with vertices in the order of their first use.
        mesh = trimesh.load(name, process=True, force="mesh")
        mesh = trimesh.Trimesh(mesh.vertices.astype(np.float32), mesh.faces, process=False)
        expected = {}
        for file, content, is_exact in forms(mesh):
            path = folder / file
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            runs = others = cells = off = 0
            for resolution in RESOLUTIONS:
                for rule in RULES:
                    digest, count = run(voxelize, path, resolution, rule, folder / "out.npz")
                    first, first_count = expected.setdefault((resolution, rule), (digest, count))
                    runs += 1
                    others += digest != first
                    cells += count
                    off += abs(count - first_count)
            writer = "DracoPy" if file == "draco.glb" else "NumPy" if file == "big.ply" else "trimesh"
            wrong += others if is_exact else 0
            print(f"| {Path(name).stem} | {file} | {writer} | {runs} | {others} | {cells} | {off} |")
    if wrong:
        sys.exit(f"{wrong} digests differ")


main()
