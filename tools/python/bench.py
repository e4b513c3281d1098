"""Times voxelization from arrays to an array, in one run and one thread, next to other packages: bench.py
MESH [RES ...]

Each package creates a dense array of the same mesh at the same cell size: surface and solid. If a package is
not installed, the error is printed. The end of the table is the overhead of a call over the kernel. The time
is the least of several runs; a package that takes longer than a few seconds is run only a few times. It is
the processor time of all threads, so that other work on the machine counts little.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VTK_SMP_MAX_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import voxelize  # noqa: E402


def least(call: Callable[[], Any], seconds: float = 3.0) -> tuple[float, Any]:
    """Returns the least time of some calls, and the result."""
    times: list[float] = []
    while not times or (sum(times) < seconds and len(times) < 20):
        start = time.process_time()
        answer = call()
        times.append(time.process_time() - start)
    return min(times), answer


def kernel(path: str, res: int, rule: str) -> float:
    """Returns the least time of the kernel reported by the command of the same build."""
    words = [path, "-r", str(res), f"--{rule}", "-j1", "-o", os.devnull, "-f", "raw", "--json", "-q"]
    call = [sys.executable, "-m", "voxelize._command", *words]
    reports = (json.loads(subprocess.run(call, capture_output=True, check=True).stdout) for _ in range(20))
    return min(report["timings_ms"]["voxelize"] for report in reports)


def trimesh_surface(vertices: Any, faces: Any, size: float) -> Any:
    import trimesh

    mesh = trimesh.Trimesh(vertices, faces, process=False)
    return mesh.voxelized(size).matrix


def trimesh_solid(vertices: Any, faces: Any, size: float) -> Any:
    import trimesh

    return trimesh.Trimesh(vertices, faces, process=False).voxelized(size).fill().matrix


def open3d_surface(vertices: Any, faces: Any, size: float) -> Any:
    import open3d

    mesh = open3d.geometry.TriangleMesh(open3d.utility.Vector3dVector(vertices), open3d.utility.Vector3iVector(faces))
    voxels = open3d.geometry.VoxelGrid.create_from_triangle_mesh(mesh, size).get_voxels()
    indices = np.array([voxel.grid_index for voxel in voxels])
    array = np.zeros(indices.max(axis=0) + 1, bool)
    array[tuple(indices.T)] = True
    return array


def open3d_solid(vertices: Any, faces: Any, size: float) -> Any:
    import open3d

    scene = open3d.t.geometry.RaycastingScene(nthreads=1)
    scene.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(faces))
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    axes = [np.arange(a + size / 2, b, size, dtype=np.float32) for a, b in zip(low, high)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return scene.compute_occupancy(open3d.core.Tensor(points), nthreads=1).numpy() > 0


def pyvista_solid(vertices: Any, faces: Any, size: float) -> Any:
    import pyvista

    mesh = pyvista.PolyData.from_regular_faces(vertices, faces)
    return mesh.voxelize_binary_mask(spacing=(size,) * 3)["mask"]


def sparse_cubes_surface(vertices: Any, faces: Any, size: float) -> Any:
    import sparsecubes

    return sparsecubes.voxelize((vertices, faces), size, solid=False)


def stl_to_voxel_solid(vertices: Any, faces: Any, size: float) -> Any:
    from stltovoxel.slice import mesh_to_plane

    scaled = ((vertices[faces] - vertices.min(axis=0)) / size).astype(np.float64)
    dims = np.ceil(scaled.reshape(-1, 3).max(axis=0)).astype(int) + 1
    with contextlib.redirect_stdout(None):
        return mesh_to_plane(scaled, tuple(dims), False)


PEERS: list[tuple[str, str, Callable[[Any, Any, float], Any]]] = [
    ("trimesh", "surface", trimesh_surface),
    ("Open3D", "surface", open3d_surface),
    ("sparse-cubes", "surface", sparse_cubes_surface),
    ("trimesh, fill", "solid", trimesh_solid),
    ("Open3D, occupancy", "solid", open3d_solid),
    ("PyVista, voxelize_binary_mask", "solid", pyvista_solid),
    ("stl-to-voxel", "solid", stl_to_voxel_solid),
]


def main() -> None:
    path, *sizes = sys.argv[1:]
    warnings.simplefilter("ignore")
    records = np.frombuffer(open(path, "rb").read()[84:], dtype=np.dtype([("f", "<f4", (4, 3)), ("a", "<u2")]))
    vertices, faces = np.unique(records["f"][:, 1:].reshape(-1, 3), axis=0, return_inverse=True)
    faces = faces.reshape(-1, 3).astype(np.uint32)
    print(f"{os.path.basename(path)}: {len(faces):,} triangles, one thread")
    print("| cells | rule | package | ms | times ours |\n| --- | --- | --- | --- | --- |")
    for res in map(int, sizes or ["128", "256"]):
        size = float(np.ptp(vertices, axis=0).max()) / res
        ours = {}
        for rule in ("surface", "solid"):
            seconds, _ = least(lambda: voxelize.voxelize((vertices, faces), res=res, rule=rule, threads=1).numpy())
            ours[rule] = seconds
            print(f"| {res} | {rule} | voxelize | {1e3 * seconds:.1f} | 1 |", flush=True)
        for name, rule, call in PEERS:
            try:
                seconds, _ = least(lambda: call(vertices, faces, size))
            except Exception as error:  # whatever a package of others raises
                print(f"| {res} | {rule} | {name} | {type(error).__name__}: {str(error)[:60]} | |", flush=True)
                continue
            print(f"| {res} | {rule} | {name} | {1e3 * seconds:.1f} | {seconds / ours[rule]:.1f} |", flush=True)
    mesh = voxelize.mesh(vertices, faces)
    joined, _ = least(lambda: voxelize.mesh(vertices, faces))
    print(f"mesh() of the arrays: {1e3 * joined:.2f} ms")
    res = int(sizes[-1]) if sizes else 256
    for rule in ("surface", "solid"):
        whole, made = least(lambda: voxelize.voxelize(mesh, res=res, rule=rule, threads=1))
        copy, _ = least(made.numpy)
        print(
            f"{rule} of a mesh in memory at {res}: the command's kernel {kernel(path, res, rule):.2f} ms, "
            f"voxelize() {1e3 * whole:.2f} ms, numpy() {1e3 * copy:.2f} ms"
        )
    tiny = voxelize.mesh(np.eye(4, 3, dtype=np.float32), [[0, 1, 2]])
    print(f"a triangle at 2 cells: {1e3 * least(lambda: voxelize.voxelize(tiny, res=2, threads=1))[0]:.3f} ms a call")


if __name__ == "__main__":
    main()
