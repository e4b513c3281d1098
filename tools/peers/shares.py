"""Shares of cells: this tool, sampling, and peers.

`shares.py sphere [SVG]`: errors relative to the exact shares of a sphere, and times, by the size of cells; drawn into SVG.
`shares.py union [CELLS]`: two spheres at twenty distances, compared with the shares of their union by manifold3d.
`shares.py peers [CELLS]`: r3d, adze, and samples by trimesh and Open3D, on a sphere of 320 triangles.
"""

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
from ours import TOOL
from table import row

RADIUS = 1.0
HALF = 1.25  # of the grid
SAMPLES = (8, 16)  # a side of a cell
RUNS = 5
R3D = Path("target/peers/r3d-peer")  # built where its sources are at hand


def save(path, corners):
    record = numpy.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    record["corners"] = corners
    path.write_bytes(b"\0" * 80 + numpy.uint32(len(corners)).tobytes() + record.tobytes())


def made(stl, cells, place, *options, bounds=(-HALF,) * 3 + (HALF,) * 3):
    """Returns the array of a grid, the milliseconds of the call, and the summary of the run."""
    out = place / "cells.npy"
    bounds = ",".join(map(str, bounds))
    command = [TOOL, stl, f"--bounds={bounds}", "-r", str(cells), "--threads", "1", "--json", "-o", str(out), *options]
    said = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(RUNS)]
    times = sorted(one["timings_ms"]["voxelize"] for one in said)
    return numpy.load(out), times[RUNS // 2], said[0]


def globe(steps):
    """Returns the corners of a sphere's triangles: `steps` from pole to pole, on the sphere up to rounding.
    """
    polar = math.pi * numpy.arange(steps + 1) / steps
    around = math.pi * (numpy.arange(2 * steps + 1) % (2 * steps)) / steps
    ring = numpy.where((polar == 0) | (numpy.arange(steps + 1) == steps), 0, numpy.sin(polar))
    points = numpy.stack(
        [
            ring[:, None] * numpy.cos(around),
            ring[:, None] * numpy.sin(around),
            numpy.broadcast_to(numpy.cos(polar)[:, None], (steps + 1, 2 * steps + 1)),
        ],
        axis=-1,
    )
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    upper = numpy.stack([a, b, d], axis=-2)[1:].reshape(-1, 3, 3)
    lower = numpy.stack([b, c, d], axis=-2)[:-1].reshape(-1, 3, 3)
    return RADIUS * numpy.concatenate([upper, lower])


def exact_shares(cells):
    """Returns the shares of a ball in an even number of cells: the area of a disc in a rectangle, integrated
    over z."""
    walls = numpy.linspace(0, HALF, cells // 2 + 1)
    low, high = walls[:-1], walls[1:]
    nodes, weights = numpy.polynomial.legendre.leggauss(16)
    parts = 8
    octant = numpy.zeros((cells // 2,) * 3)
    for part in range(parts):
        for node, weight in zip(nodes, weights, strict=True):
            z = low + (high - low) * ((node + 1) / 2 + part) / parts
            square = numpy.maximum(RADIUS**2 - z**2, 0)[None, None, :]
            x0, x1 = low[:, None, None], high[:, None, None]
            y0, y1 = low[None, :, None], high[None, :, None]
            flat = numpy.clip(numpy.sqrt(numpy.maximum(square - y1**2, 0)), x0, x1)
            end = numpy.clip(numpy.sqrt(numpy.maximum(square - y0**2, 0)), x0, x1)

            def below(x, square=square):
                root = numpy.sqrt(numpy.maximum(square - x**2, 0))
                ratio = numpy.clip(x / numpy.sqrt(numpy.maximum(square, 1e-300)), -1, 1)
                return (x * root + square * numpy.arcsin(ratio)) / 2

            area = (y1 - y0) * (flat - x0) + below(end) - below(flat) - y0 * (end - flat)
            octant += weight / 2 / parts * area / (x1 - x0) / (y1 - y0)
    for axis in range(3):
        octant = numpy.concatenate([numpy.flip(octant, axis), octant], axis)
    return octant


def sampled(stl, cells, samples, place):
    """Returns the shares of cells computed by the rule solid at a multiple of the resolution, and its
    milliseconds."""
    solid, ms, _ = made(stl, cells * samples, place, "--rule", "solid", "--dtype", "u8")
    shape = (cells, samples) * 3
    return solid.reshape(shape).sum((1, 3, 5), dtype=numpy.uint32) / samples**3, ms


def sphere(svg=None):
    """Uses facets of about the length of cells. The misplaced volume is the sum of all errors relative to the
    volume."""
    lines = {"exact": [], **{f"{samples}³ samples": [] for samples in SAMPLES}}
    row("cells", "triangles", "by", "time", "largest error", "misplaced")
    row("---:", "---:", "---", "---:", "---:", "---:")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        stl = place / "sphere.stl"
        for cells in (8, 16, 32, 64):
            corners = globe(2 * cells)
            save(stl, corners)
            wanted = exact_shares(cells)
            for name in lines:
                if name == "exact":
                    found, ms, _ = made(stl, cells, place, "--rule", "fraction")
                else:
                    found, ms = sampled(stl, cells, int(name.split("³")[0]), place)
                off = numpy.abs(found.astype(float) - wanted)
                misplaced = off.sum() / wanted.sum()
                lines[name].append((ms, misplaced))
                row(str(cells), str(len(corners)), name, f"{ms:.2f} ms", f"{off.max():.1e}", f"{misplaced:.1e}")
    if svg:
        Path(svg).write_text(picture(lines))


def picture(lines):
    """Plots error over time, both logarithmic, with a point for each size of cells."""
    points = [point for line in lines.values() for point in line]
    ends = [(math.log10(min(p[a] for p in points)) - 0.1, math.log10(max(p[a] for p in points)) + 0.1) for a in (0, 1)]

    def at(point):
        shares = [(math.log10(point[a]) - ends[a][0]) / (ends[a][1] - ends[a][0]) for a in (0, 1)]
        return 90 + 440 * shares[0], 330 - 280 * shares[1]

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 390" width="680" height="390" fill="#888">',
        "<title>Misplaced volume of a sphere, by time</title>",
        "<style>text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; text-anchor: middle; }",
        ".name { text-anchor: start; font-weight: 600; } .end { text-anchor: end; }",
        "polyline { fill: none; stroke-width: 2.5; }</style>",
        '<text x="310" y="30" style="font-size:15px;font-weight:600">Shares of a sphere in 8, 16, 32 and 64 cells</text>',
        '<text x="310" y="380">time of one thread, ms</text>',
        '<text transform="translate(22 190) rotate(-90)">misplaced part of the volume</text>',
    ]
    for axis in (0, 1):
        for power in range(math.ceil(ends[axis][0]), math.floor(ends[axis][1]) + 1):
            point = [10 ** end[0] for end in ends]
            point[axis] = 10.0**power
            x, y = at(point)
            across = f'M{x:.1f} 50V330' if axis == 0 else f'M90 {y:.1f}H530'
            out.append(f'<path d="{across}" stroke="#888" stroke-opacity="0.3"/>')
            place = f'x="{x:.1f}" y="350"' if axis == 0 else f'x="82" y="{y + 4:.1f}" class="end"'
            out.append(f"<text {place}>{10.0**power:g}</text>")
    for (name, line), colour in zip(lines.items(), ("#3b82f6", "#e07b00", "#888"), strict=True):
        places = [at(point) for point in line]
        out.append(f'<polyline stroke="{colour}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        # Placed where no other line passes.
        x, y = (x - 40, y + 20) if colour == "#e07b00" else (x + 10, y + 4)
        out.append(f'<text class="name" x="{x:.1f}" y="{y:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*out, "</svg>", ""])


def union(cells="64"):
    """Returns both spheres in one mesh, and the mesh of manifold3d's union, which starts from the same
    floats."""
    import manifold3d

    def floats(solid):
        mesh = solid.to_mesh()
        points = numpy.array(mesh.vert_properties[:, :3], numpy.float32, order="C")
        return manifold3d.Manifold(manifold3d.Mesh(points, numpy.array(mesh.tri_verts, numpy.uint32, order="C")))

    def corners(solid):
        mesh = solid.to_mesh()
        return mesh.vert_properties[:, :3][mesh.tri_verts]

    bounds = (-1.1, -1.1, -1.1, 2.9, 1.7, 1.5)
    row("distance", "cut cells", "largest error", "by the mean alone it were", "cells by union", "time", "of the union's mesh")
    row(*["---:"] * 7)
    worst = total = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for step in range(20):
            by = 0.1 * (step + 0.5)
            one = floats(manifold3d.Manifold.sphere(1.0, 64))
            other = floats(manifold3d.Manifold.sphere(0.8, 56).translate((by, 0.31 * by, 0.17 * by)))
            stls = [place / name for name in ("both.stl", "union.stl", "one.stl", "other.stl")]
            for stl, solid in zip(
                stls,
                (numpy.concatenate([corners(one), corners(other)]), *map(corners, (one + other, one, other))),
                strict=True,
            ):
                save(stl, solid)
            options = ("--rule", "fraction", "--snap", "none")
            (both, ms, said), (exact, alone, _), *parts = (
                made(stl, cells, place, *options, bounds=bounds) for stl in stls
            )
            off = numpy.abs(both.astype(float) - exact).max()
            mean = numpy.minimum(sum(part[0].astype(float) for part in parts), 1)
            cut = int(((exact > 0) & (exact < 1)).sum())
            texts = [one["message"] for one in said["warnings"] if "meet in" in one["message"]]
            united = texts[0].split("meet in ")[1].split(" cell")[0] if texts else "0"
            without = numpy.abs(mean - exact).max()
            row(f"{by:.2f}", str(cut), f"{off:.1e}", f"{without:.1e}", united, f"{ms:.1f} ms", f"{alone:.1f} ms")
            worst, total = max(worst, off), total + cut
    print(f"\nlargest error {worst:.1e} in {total:,} cut cells")


def peers(cells="8"):
    """Prints times, and errors relative to our shares, which are exact except for the rounding to floats."""
    import trimesh

    cells = int(cells)
    mesh = trimesh.creation.icosphere(subdivisions=2, radius=RADIUS)
    mesh = trimesh.Trimesh(mesh.vertices.astype(numpy.float32), mesh.faces, process=False)
    with tempfile.TemporaryDirectory() as folder:
        stl, volumes = Path(folder) / "sphere.stl", Path(folder) / "volumes"
        save(stl, mesh.triangles)
        ours, ms, _ = made(stl, cells, Path(folder), "--rule", "fraction", "--snap", "none")
        by_r3d = None
        if R3D.exists():
            command = [R3D, stl, str(cells), str(HALF), volumes]
            times = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(RUNS)]
            by_r3d = sorted(times)[RUNS // 2], numpy.fromfile(volumes).reshape((cells,) * 3) / (2 * HALF / cells) ** 3
    cut = numpy.argwhere((ours > 0) & (ours < 1))
    row("by", "time of all cells", "times ours", "largest error")
    row("---", "---:", "---:", "---:")
    row("voxelize", f"{ms:.3f} ms", "1", "0")

    def said(name, seconds, error):
        row(name, f"{seconds * 1e3:,.0f} ms", f"{seconds * 1e3 / ms:,.0f}", f"{error:.1e}")

    if by_r3d:
        said("r3d, a tetrahedron for each triangle", by_r3d[0], numpy.abs(by_r3d[1] - ours).max())
    try:
        import adze

        begin = time.perf_counter()
        planes = [numpy.linspace(-HALF, HALF, cells + 1)] * 3
        # Its faces have the opposite orientation, and it returns volumes.
        found = adze.voxelize(adze.build_polyhedron(mesh.vertices.astype(float), mesh.faces[:, ::-1]), planes)
        seconds = time.perf_counter() - begin
        found = numpy.asarray(found).reshape((cells,) * 3 + (-1,))[..., 0] / (2 * HALF / cells) ** 3
        said("adze", seconds, numpy.abs(found - ours).max())
    except Exception as error:  # noqa: BLE001
        row("adze", "fails", "", repr(error)[:80])
    tests = {"trimesh": mesh.contains}
    try:
        import open3d

        scene = open3d.t.geometry.RaycastingScene(nthreads=1)
        scene.add_triangles(
            open3d.core.Tensor(mesh.vertices.astype(numpy.float32)), open3d.core.Tensor(mesh.faces.astype(numpy.uint32))
        )
        tests["Open3D"] = lambda points: scene.compute_occupancy(
            open3d.core.Tensor(points.astype(numpy.float32)), nthreads=1
        ).numpy()
    except ImportError:
        pass
    for name, contains in tests.items():
        for samples in SAMPLES:
            some = cut[:: max(1, len(cut) // 20)]
            offsets = (numpy.arange(samples) + 0.5) / samples
            grid = numpy.stack(numpy.meshgrid(*[offsets] * 3, indexing="ij"), -1).reshape(-1, 3)
            points = (-HALF + (some[:, None, :] + grid) * 2 * HALF / cells).reshape(-1, 3)
            begin = time.perf_counter()
            inside = contains(points)
            seconds = (time.perf_counter() - begin) * len(cut) / len(some)
            shares = numpy.asarray(inside).reshape(len(some), -1).mean(1)
            said(f"{name}, {samples}³ samples of each cut cell", seconds, numpy.abs(shares - ours[tuple(some.T)]).max())


if __name__ == "__main__":
    {"sphere": sphere, "union": union, "peers": peers}[sys.argv[1]](*sys.argv[2:])
