"""Safety of calls: errors, interrupts, threads, forks, memory, and ten thousand random calls."""

from __future__ import annotations

import copy
import gc
import gzip
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import FIXTURES, command, fixture

import voxelize

CUBE = fixture("cube.stl")
TETRAHEDRON = (np.eye(4, 3, dtype=np.float32), np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]]))

ERRORS: list[tuple[type[voxelize.Error], type[Exception], str, Any, dict[str, Any]]] = [
    (voxelize.UsageError, ValueError, "usage", CUBE, {"res": 0}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"res": 9, "dims": (1, 2, 3)}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"res": 9, "rule": "round"}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"res": 9, "ties": "up", "rule": "solid"}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"voxel_size": "0.1mm"}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"max_memory": "lots"}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"like": 3}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"dims": 64}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"bounds": (1, 2)}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"origin": np.array(1.0)}),
    (voxelize.UsageError, ValueError, "usage", CUBE, {"rule": 3}),
    (voxelize.UsageError, ValueError, "usage", object(), {}),
    (voxelize.UsageError, ValueError, "usage", [], {}),
    (voxelize.UsageError, ValueError, "usage", np.zeros((3, 3)), {}),
    (voxelize.UsageError, ValueError, "usage", (np.zeros((3, 3)), [[0, 1, 3]]), {}),
    (voxelize.UsageError, ValueError, "usage", (np.zeros((3, 3)), [[0, 1, -1]]), {}),
    (voxelize.InputError, OSError, "S008", "missing.stl", {}),
    (voxelize.InputError, OSError, "S002", b"nothing of the kind", {}),
    (voxelize.MeshError, ValueError, "unfit", (np.zeros((0, 3)), np.zeros((0, 3), int)), {}),
    (voxelize.TooLargeError, MemoryError, "too-large", CUBE, {"res": 4000, "max_memory": "1M"}),
]


@pytest.mark.parametrize(("kind", "base", "code", "mesh", "options"), ERRORS)
def test_errors_say_who_must_act(
    kind: type[voxelize.Error], base: type[Exception], code: str, mesh: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(kind) as found:
        voxelize.voxelize(mesh, **options)
    error = found.value
    assert isinstance(error, base) and isinstance(error, voxelize.Error)
    assert error.code == code
    assert str(error) and "--" not in str(error)


def test_slips_are_named() -> None:
    for wrong, meant in [
        ("resolution", "res"), ("pitch", "voxel_size"), ("keepthin", "keep_thin"), ("size", "res or voxel_size"), ("margin", "pad"),
        ("thickness", "hollow"), ("extent", "bounds"), ("shape", "dims"), ("Solid", 'rule="solid"'), ("color", 'labels="colour"'),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=f"'{wrong}'; did you mean {meant}\\?"):
            voxelize.voxelize(CUBE, **{wrong: 8})
    for rule in ("solid", "filled", "surface"):
        for call in (voxelize.voxelize, voxelize.fraction, lambda mesh, **options: next(voxelize.many([mesh], **options))):
            with pytest.raises(TypeError, match=f"'{rule}'; did you mean rule=\"{rule}\"\\?"):
                call(CUBE, **{rule: True})
    slips: list[tuple[dict[str, Any], str]] = [
        ({"ties": "sideways"}, "ties: there is no 'sideways'; it is one of up, both, none"),
        ({"like": "knot.stl"}, "like: knot.stl is a mesh, which has no cells; .*bounds=voxelize.mesh\\('knot.stl'\\).bounds"),
        ({"like": voxelize.mesh(CUBE)}, "like: a mesh has no cells; .*bounds=mesh.bounds"),
        ({"rotate": "z,30,x,10"}, r'rotate: one text is one rotation; write rotate=\["z,30", "x,10"\]'),
        ({"rotate": 30}, "rotate: a text such as 'z,90', or a list of such texts"),
        ({"rotate": "30"}, "rotate: expected an axis and degrees such as z,90"),
    ]
    for options, message in slips:
        with pytest.raises(voxelize.UsageError, match=message):
            voxelize.voxelize(CUBE, res=8, **options)
    for wrong in ("points", "threshold", "scene"):
        with pytest.raises(TypeError, match="lists them"):
            voxelize.voxelize(CUBE, **{wrong: 3})
    with pytest.raises(ValueError, match="one path, where many takes several"):
        voxelize.many(str(FIXTURES))
    made = voxelize.fraction(CUBE, res=8, with_="area,normal")
    assert list(made.arrays) == ["area", "normal"]
    assert made.volume == 64.0**3 and voxelize.distance(CUBE, res=8).volume is None
    assert dict(made._facts())["volume"] == "262144"
    whole = voxelize.voxelize(CUBE, res=8)
    for name in ("uint8", np.uint8, np.dtype("uint8")):
        assert whole.to_bytes("raw", dtype=name) == whole.to_bytes("raw", dtype="u8")
    assert len(whole.to_bytes("raw", dtype="bit")) == 8 * 8 * 8


def test_a_tilted_scan_gives_its_axes(tmp_path: Path) -> None:
    head = "NRRD0004\ntype: short\ndimension: 3\nsizes: 30 20 10\nspace: left-posterior-superior\n"
    places = "space directions: (0.8,0.6,0) (-1.2,1.6,0) (0,0,-3)\nspace origin: (20.13,1.37,40.2)\nencoding: raw\n\n"
    (tmp_path / "scan.nrrd").write_text(head + places)
    # The cube is larger than the scan.
    with pytest.warns(voxelize.FindingWarning, match="W001"):
        made = voxelize.voxelize(CUBE, like=tmp_path / "scan.nrrd", rule="solid")
    affine = np.array([[0.8, -1.2, 0, 20.13], [0.6, 1.6, 0, 1.37], [0, 0, -3, 40.2], [0, 0, 0, 1]])
    assert np.allclose(made.affine, affine, atol=1e-12) and made.spacing == (1, 2, 3)
    centres = made.centres()
    assert np.allclose(centres, made.cells() @ affine[:3, :3].T + affine[:3, 3])
    assert np.array_equal(made.index(centres), made.cells()) and made.contains(centres).all()
    assert np.array_equal(made.in_scan(), made.numpy())
    # The cube is the box from 0 to 64.
    everywhere = np.indices(made.shape).reshape(3, -1).T @ affine[:3, :3].T + affine[:3, 3]
    inside = np.all((everywhere > 0) & (everywhere < 64), axis=1).reshape(made.shape)
    assert np.array_equal(made.numpy(), inside) and 0 < made.count < inside.size
    with pytest.warns(voxelize.FindingWarning, match="W001"):
        again = voxelize.voxelize(CUBE, like=made, rule="solid")
    assert again == made and again.digest == made.digest
    made.save(tmp_path / "mask.nii.gz")
    assert voxelize.open(tmp_path / "mask.nii.gz") == made
    with pytest.raises(voxelize.Error, match="has no place for such axes"):
        made.save(tmp_path / "mask.vox")


def test_the_grid_of_a_scan_is_reported_as_the_command_does(tmp_path: Path) -> None:
    head = "NRRD0004\ntype: short\ndimension: 3\nsizes: 2 2 2\nspace: left-posterior-superior\n"
    places = "space directions: (-32,0,0) (0,32,0) (0,0,32)\nspace origin: (48,16,16)\nencoding: raw\n\n"
    (tmp_path / "scan.nrrd").write_bytes((head + places).encode() + bytes(16))
    with pytest.warns(voxelize.FindingWarning, match="W018"):
        made = voxelize.voxelize(CUBE, like=tmp_path / "scan.nrrd")
    assert made.unit == "mm"
    assert np.array_equal(made.in_scan(), made.numpy()[::-1])
    with pytest.raises(ValueError, match="that grid is in mm, the mesh in m"):
        voxelize.voxelize(CUBE, like=tmp_path / "scan.nrrd", unit="m")
    voxelize.voxelize(CUBE, res=2, unit="m").save(tmp_path / "metres.glb")
    with pytest.warns(voxelize.FindingWarning, match="W020"):
        voxelize.voxelize(tmp_path / "metres.glb", res=2, unit="mm")
    with pytest.raises(voxelize.Error, match="different units, m and none"):
        voxelize.voxelize([tmp_path / "metres.glb", CUBE], res=2)


def test_errors_name_the_triangle() -> None:
    vertices, faces = TETRAHEDRON
    bad = vertices.copy()
    bad[3, 1] = np.nan
    with pytest.raises(voxelize.Error, match="nan|NaN|finite") as found:
        voxelize.voxelize((bad, faces), res=4)
    assert found.value.triangle == 1


def test_findings_are_warnings_and_data() -> None:
    open_mesh = (TETRAHEDRON[0], TETRAHEDRON[1][:3])
    with pytest.warns(voxelize.FindingWarning) as caught:
        made = voxelize.voxelize(open_mesh, res=9, rule="solid")
    assert Path(caught[0].filename).name == "test_calls.py"
    warning = caught[0].message
    assert isinstance(warning, voxelize.FindingWarning)
    assert warning.finding in made.findings and warning.finding.code.startswith("W")
    assert "--" not in str(warning)


SLOW = """
    import signal, voxelize
    # A process that a shell starts in the background ignores SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print("begins", flush=True)
        voxelize.voxelize({mesh!r}, res=500, rule="distance", band="all", threads=1)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals of Unix")
def test_an_interrupt_ends_a_run() -> None:
    script = textwrap.dedent(SLOW).format(mesh=fixture("knot.stl"))
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begins\n"
    time.sleep(1.0)
    assert child.poll() is None, "the job is too short to be interrupted"
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    print(f"interrupted after {time.monotonic() - begin:.3f} s")
    assert child.wait() == 0


def test_progress_is_reported_and_ends_a_run() -> None:
    seen = []

    def listen(phase: str, done: int, total: int) -> None:
        assert 0 <= done <= total
        seen.append(phase)
        raise StopAsyncIteration("enough")

    with pytest.raises(StopAsyncIteration):
        voxelize.voxelize(fixture("knot.stl"), res=500, rule="distance", band="all", progress=listen)
    assert len(seen) == 1


def test_threads_at_once() -> None:
    def digest(_: int) -> str:
        return voxelize.voxelize(fixture("knot.stl"), res=60, rule="solid", threads=2).digest

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(digest, range(32)))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_after_use_works() -> None:
    before = voxelize.voxelize(CUBE, res=20, rule="solid")
    expected = (before.digest, before.count, before.numpy().sum(), len(before.cells()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        # A child that waits for threads of its parent waits forever.
        signal.alarm(60)
        made = voxelize.voxelize(CUBE, res=20, rule="solid")
        made.save("/dev/null", format="vox")
        found = (made.digest, made.count, made.numpy().sum(), len(made.cells()))
        labels = voxelize.voxelize(CUBE, res=20, rule="filled", labels="layer").legend
        is_whole = found == expected and len(labels) == 2 and made.diff(before).iou == 1.0
        os._exit(0 if is_whole and voxelize.check(CUBE).closed else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_many_keeps_the_order() -> None:
    paths = [path for path in FIXTURES if path.name in ("cube.stl", "f.stl", "knot.stl", "sphere.stl")] * 3
    assert len(paths) >= 9
    expected = [voxelize.voxelize(path, res=12).digest for path in paths]
    for workers in (1, 2, 5):
        for limit in (None, "1G"):
            made = voxelize.many(iter(paths), res=12, workers=workers, max_memory=limit)
            assert [each.digest for each in made] == expected
    # One mesh needs more than its share.
    large = voxelize.many(paths[:4], res=200, workers=4, max_memory="8M", rule="filled")
    assert [each.count > 0 for each in large] == [True] * 4
    first = voxelize.many(paths, res=12)
    assert next(first).digest == expected[0]
    first.close()  # type: ignore[attr-defined]


def test_many_names_the_mesh() -> None:
    with pytest.raises(voxelize.InputError) as failed:
        list(voxelize.many([CUBE, "missing.stl"]))
    assert failed.value.__notes__ == ["missing.stl"]
    open_mesh = (TETRAHEDRON[0], TETRAHEDRON[1][:3])
    with pytest.raises(voxelize.MeshError) as unfit:
        list(voxelize.many([TETRAHEDRON, open_mesh], res=9, rule="fraction", max_memory="1G"))
    assert unfit.value.__notes__ == ["mesh 1"]
    with pytest.warns(voxelize.FindingWarning, match=r"^mesh 1: \[W") as caught:
        list(voxelize.many([TETRAHEDRON, open_mesh], res=9, rule="solid"))
    assert Path(caught[0].filename).name == "test_calls.py"


BROKEN = (TETRAHEDRON[0], np.array([[0, 1, 9]]))
LIST = [CUBE, "missing.stl", TETRAHEDRON, BROKEN, b"nothing of the kind", CUBE]


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("limit", [None, "1G"])
def test_many_skips_meshes_that_fail(workers: int, limit: str | None) -> None:
    with pytest.warns(voxelize.SkippedWarning) as caught:
        made = list(voxelize.many(LIST, res=9, workers=workers, max_memory=limit, on_error="skip"))
    assert [each.source for each in made] == [CUBE, "mesh 2", CUBE]
    assert copy.copy(made[1]).source == pickle.loads(pickle.dumps(made[1])).source == "mesh 2"
    assert made[0] == made[2] == voxelize.voxelize(CUBE, res=9)
    warned = [warning.message for warning in caught]
    assert [(w.mesh, w.error.code) for w in warned if isinstance(w, voxelize.SkippedWarning)] == [
        ("missing.stl", "S008"), ("mesh 3", "usage"), ("mesh 4", "S002"),
    ]  # fmt: skip
    assert str(warned[0]).startswith("missing.stl: no such file") and str(warned[1]).startswith("mesh 3: ")
    assert {Path(warning.filename).name for warning in caught} == {"test_calls.py"}

    failed: dict[str, voxelize.Error] = {}
    assert len(list(voxelize.many(LIST, res=9, workers=workers, on_error=failed.__setitem__))) == 3
    assert list(failed) == ["missing.stl", "mesh 3", "mesh 4"]
    assert isinstance(failed["missing.stl"], FileNotFoundError)


def test_many_raises_what_is_wrong_with_the_call() -> None:
    seen: list[str] = []
    with pytest.raises(voxelize.UsageError, match="res") as wrong:
        list(voxelize.many([CUBE, TETRAHEDRON], res=0, on_error=lambda name, error: seen.append(name)))
    assert seen == [CUBE, "mesh 1"] and wrong.value.__notes__ == [CUBE]
    assert list(voxelize.many(["missing.stl"], on_error=lambda name, error: None)) == []
    with pytest.raises(TypeError, match='rule="solid"'):
        list(voxelize.many([CUBE], solid=True, on_error="skip"))
    with pytest.raises(voxelize.UsageError, match="there is no 'ignore'; it is 'raise', 'skip'"):
        voxelize.many([CUBE], on_error="ignore")  # type: ignore[arg-type]

    def stop(name: str, error: voxelize.Error) -> None:
        raise error

    with pytest.raises(voxelize.NotFoundError):
        list(voxelize.many([CUBE, "missing.stl", CUBE], res=9, on_error=stop))


def test_many_takes_folders_as_the_command_does(tmp_path: Path) -> None:
    names = ["b/x.stl", "b/.hidden.stl", ".h/x.stl", "a.STL", "a.txt", "b/c/z.stl.gz", "b-.stl", "store.zarr/x.stl"]
    for name in names:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        data = Path(CUBE).read_bytes()
        (tmp_path / "in" / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (tmp_path / "in/b/again").symlink_to(tmp_path / "in")
    found = [each.source for each in voxelize.many(tmp_path / "in", res=4)]
    assert found == [str(tmp_path / "in" / name) for name in ("a.STL", "b/c/z.stl.gz", "b/x.stl", "b-.stl")]
    reports = command(f"{tmp_path}/in", "-r", "4", "-f", "npz", "-o", f"{tmp_path}/out/")
    assert sorted(report["input"]["path"] for report in reports) == sorted(map(str, found))
    mixed = [each.source for each in voxelize.many([TETRAHEDRON, str(tmp_path / "in/b/c"), CUBE], res=4)]
    assert mixed == ["mesh 0", found[1], CUBE]
    (tmp_path / "empty").mkdir()
    with pytest.raises(voxelize.InputError, match=r"no mesh \(.stl, .*\) in this folder"):
        list(voxelize.many(tmp_path / "empty"))


def test_folders_have_the_extensions_of_the_command() -> None:
    [report] = command("formats")
    expected = {f".{extension}" for mesh in report["meshes"] for extension in mesh["extensions"]}
    assert set(voxelize._meshes.EXTENSIONS) == expected


def test_checks_and_clearances() -> None:
    found = voxelize.check(CUBE)
    assert found.closed and found.oriented and found.manifold and found.solid and not found.defects
    assert found.components[0].volume == 64.0**3
    broken = voxelize.check((TETRAHEDRON[0], TETRAHEDRON[1][:3]))
    assert not broken.closed and broken.defects[0].points.shape[1] == 3 and broken.defects[0].triangles.size > 0
    moved = TETRAHEDRON[0] + np.float32(100)
    apart = voxelize.clearance(TETRAHEDRON, (moved, TETRAHEDRON[1]))
    assert apart.relation == "apart" and apart.distance > 150 and apart.pairs.shape == (0, 2)
    crossing = voxelize.clearance(CUBE, fixture("knot.stl"))
    assert crossing.relation == "crossing" and crossing.shares_volume and len(crossing.pairs) > 10
    with pytest.raises(voxelize.TooLargeError, match="check"):
        voxelize.check(fixture("knot.stl"), max_memory="1M")


def rss() -> int:
    """Returns the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_nothing_leaks(is_long: bool) -> None:
    calls = 10_000 if is_long else 1_000

    def call() -> None:
        made = voxelize.voxelize(TETRAHEDRON, res=8, threads=1, rule="filled")
        made.numpy(), made.bits, made.cells(), made.record, made.digest, made.legend

    for _ in range(300):
        call()
    gc.collect()
    tracemalloc.start()
    before, traced = rss(), tracemalloc.get_traced_memory()[0]
    for _ in range(calls):
        call()
    gc.collect()
    grown, held = rss() - before, tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    print(f"{calls} calls: RSS {grown / 1024:.0f} KiB more, Python {held} bytes more")
    # A leaked grid or array would take several hundred bytes per call. Tracing itself takes some.
    assert grown < 4 << 20 and held < 64 << 10


MEMORY = """
    import voxelize
    mesh = voxelize.mesh({mesh!r})
    def peak():
        # ru_maxrss starts with the peak of the parent process.
        [line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
        return int(line.split()[1]) * 1024
    voxelize.voxelize(mesh, res=8).numpy()
    before = peak()
    made = voxelize.voxelize(mesh, res=600, rule="solid", threads=1)
    array = made.numpy()
    print(peak() - before, made.bits.nbytes, array.nbytes, int(array.sum()) == made.count)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures as Linux does")
def test_peak_memory_is_grid_and_array() -> None:
    script = textwrap.dedent(MEMORY).format(mesh=fixture("knot.stl"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    grown, grid, array, is_equal = done.stdout.split()
    print(f"peak {int(grown) >> 20} MiB more: grid {int(grid) >> 20}, array {int(array) >> 20}")
    assert is_equal == "True" and int(array) < int(grown) < 2.5 * int(grid) + int(array) + (16 << 20)


def odd_call(random_: random.Random) -> None:
    """Calls a function with mostly invalid arguments."""
    pick = random_.choice
    numbers: list[Any] = [0, 1, -1, 3, 0.5, 1e300, float("nan"), float("inf"), "1/3", "5mm", "2vx", "", "x", None, True, 2**70, b"1", [1], np.int8(7)]
    arrays: list[Any] = [
        np.zeros((0, 3)), np.zeros((3, 3)), np.zeros((2, 3, 3)), np.full((4, 3), np.nan), np.ones((4, 3)) * 1e39, np.zeros(3),
        np.array(["a"]), np.zeros((2, 2)), [[0, 1, 2]], [[0, 1, 99]], [[-1, 0, 1]], np.zeros((1, 4), int), None, "no", np.eye(4, 3),
    ]
    meshes: list[Any] = [
        CUBE, TETRAHEDRON, "missing.stl", b"", b"solid", b"\0" * 84, None, 3, [], [TETRAHEDRON, CUBE], (pick(arrays), pick(arrays)),
        pick(arrays), [pick(arrays)], {"a": 1}, TETRAHEDRON[0][TETRAHEDRON[1]],
    ]  # fmt: skip
    words: list[Any] = ["solid", "filled", "surface", "thin", "offset", "distance", "auto", "flood", "both", "up", "none", "all", "", "é\0", 3, None]
    options: dict[str, list[Any]] = {
        "res": [2, 5, 9, *numbers], "voxel_size": numbers, "dims": [(1, 2, 3), (0, 1, 1), [1, 2], "1,2,3", *numbers], "pad": [0, 1, (1, 0, 2), ((1, 0), (0, 2), (0, 0)), *numbers],
        "rule": words, "inside": words, "ties": words, "radius": numbers, "band": numbers, "iso": numbers, "signed": [True, False, 1],
        "keep_thin": [True], "hollow": numbers, "drain": [(1, 2, 3, 4), *numbers], "unit": ["mm", "ft", *words], "scale": numbers, "translate": [(1, 2, 3), *numbers],
        "labels": ["file", "colour", "layer", *words], "only": words[:-2], "threads": [0, 1, 2, *numbers], "simd": ["scalar", *words],
        "max_memory": ["1M", "1G", *numbers], "like": [*numbers, CUBE], "bounds": [(0, 0, 0, 1, 1, 1), ((0, 0, 0), (9, 9, 9)), *numbers],
        "cube": [True], "stretch": [True], "nearest": [True], "with_": ["area", ("area", "faces"), *words], "axes": ["x,-z,y", *words], "rotate": ["z,90", *words], "rpy": [(0, 0, 1.5), *words], "up": ["y", *words],
    }  # fmt: skip
    chosen = {name: pick(options[name]) for name in random_.sample(sorted(options), random_.randrange(5))}
    chosen.setdefault("max_memory", "32M")
    if "dims" not in chosen and "voxel_size" not in chosen and "like" not in chosen:
        chosen.setdefault("res", pick([2, 5, 9]))
    made = voxelize.voxelize(pick(meshes), **chosen)
    made.numpy(), made.cells(), made.digest, made.record, repr(made), list(made._facts()), made.picture((80, 60))


def test_odd_calls_raise_exceptions_with_a_code(is_long: bool) -> None:
    random_ = random.Random(1)
    done, raised = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in range(10_000 if is_long else 1_500):
            try:
                odd_call(random_)
                done += 1
            except voxelize.Error as error:
                assert error.code and not isinstance(error, voxelize.InternalError), (n, error)
                raised += 1
    print(f"{done} calls gave voxels, {raised} an exception")
    assert done > 50 and raised > 500
