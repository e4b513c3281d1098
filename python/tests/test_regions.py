"""Stores of regions and blocks of Dask have the cells of one call."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import command, fixture

import voxelize
from voxelize import regions

OPTIONS: list[dict[str, Any]] = [
    {"rule": "surface"},
    {"rule": "solid", "inside": "robust"},
    {"rule": "filled", "pad": 3, "axes": "x,-z,y"},
    {"rule": "distance", "band": 2, "signed": True},
    {"rule": "filled", "labels": "layer"},
    {"rule": "offset", "radius": "1.5vx", "scale": "1/3"},
]


@pytest.fixture
def mesh(tmp_path: Path) -> str:
    return shutil.copy(fixture("knot.stl"), tmp_path / "knot.stl")


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: str(options["rule"]))
def test_a_store_has_the_digest_of_one_call(mesh: str, tmp_path: Path, options: dict[str, Any]) -> None:
    whole = voxelize.voxelize(mesh, res=300, **options)
    store = regions.plan(mesh, tmp_path / "a.zarr", res=300, regions=3, **options)
    assert store.regions > 1 and store.states() == ["missing"] * store.regions
    with pytest.raises(voxelize.OutputError, match="are missing") as raised:
        store.finish()
    assert raised.value.code == "R001"
    for n in reversed(range(store.regions)):
        assert store.make(n, threads=1) == [True]
    assert store.make(*range(store.regions)) == [False] * store.regions
    done = store.finish()
    assert (done.digest, done.cells_digest, done.count) == (whole.digest, whole.cells_digest, whole.count)
    read = voxelize.open(tmp_path / "a.zarr")
    assert (read.digest, read.shape, read.exact) == (whole.digest, whole.shape, whole.exact)
    # The command makes the same plan, so it accepts the store.
    assert regions.plan(mesh, tmp_path / "a.zarr", res=300, **options).states() == ["whole"] * store.regions


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[3], OPTIONS[4]], ids=lambda options: str(options["rule"]))
def test_bins_stand_for_the_mesh(mesh: str, tmp_path: Path, options: dict[str, Any]) -> None:
    whole = voxelize.voxelize(mesh, res=300, **options)
    store = regions.plan(mesh, tmp_path / "a.zarr", res=300, regions=3, bin=True, **options)
    os.rename(mesh, tmp_path / "away.stl")
    first, last = store.regions - 1, 0
    assert store.make(first, last) == [True, True]
    damaged = tmp_path / "a.zarr" / "bins" / "2.bin"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(voxelize.InputError, match=r"2\.bin") as raised:
        store.make(1)
    assert raised.value.code == "R005"
    assert store.make(1, mesh=tmp_path / "away.stl") == [True]
    assert store.make(*range(store.regions)) == [False] * store.regions
    assert store.finish().digest == whole.digest
    with pytest.raises(voxelize.UsageError, match="the method vote"):
        regions.plan(tmp_path / "away.stl", tmp_path / "b.zarr", rule="solid", inside="vote", bin=True)


def test_regions_repeat_names_and_poses(mesh: str, tmp_path: Path) -> None:
    meshes = {"base": mesh, "arm": f"{mesh}@rotate=z,90@translate=0,0,1cm"}
    options: dict[str, Any] = {"rule": "filled", "unit": "mm", "res": 300}
    whole = voxelize.voxelize(meshes, **options)
    store = regions.plan(meshes, tmp_path / "a.zarr", regions=3, **options)
    assert store.regions > 1
    store.make(*range(store.regions))
    assert store.finish().digest == whole.digest
    read = voxelize.open(tmp_path / "a.zarr")
    assert [label.name for label in read.legend.values()] == ["base", "arm"]


def test_the_command_takes_a_store_over(mesh: str, tmp_path: Path) -> None:
    store = regions.plan(mesh, tmp_path / "a.zarr", res=300, regions=3, rule="filled")
    made = command(str(tmp_path / "a.zarr"), "--region", "1/1")[0]
    assert [region["made"] for region in made["regions"]] == [True] * store.regions
    found = command("finish", str(tmp_path / "a.zarr"))[0]
    assert found["digest"]["grid"] == voxelize.voxelize(mesh, res=300, rule="filled").digest


def test_wrong_calls_are_refused(mesh: str, tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    for options, error, words in [
        ({"inside": "flood", "rule": "solid"}, voxelize.UsageError, "a flood"),
        ({"labels": "colour"}, voxelize.UsageError, "colours"),
        ({"dtype": "bit"}, voxelize.UsageError, "dtype"),
        ({"like": "a.npz"}, voxelize.UsageError, "like"),
    ]:
        with pytest.raises(error, match=words):
            regions.plan(mesh, store, **options)  # type: ignore[arg-type]
    with pytest.raises(voxelize.UsageError, match="names of files"):
        regions.plan((np.zeros((3, 3)), [[0, 1, 2]]), store)
    with pytest.raises(voxelize.InputError):
        regions.Store(str(store), 1).make(0)
    made = regions.plan(mesh, store, res=100)
    with pytest.raises(voxelize.UsageError, match="the plan has"):
        made.make(99)
    shutil.copy(fixture("cube.stl"), mesh)
    with pytest.raises(voxelize.InputError, match="differs from the mesh of the plan") as raised:
        made.make(0)
    assert raised.value.code == "R004"
    with pytest.raises(voxelize.OutputError, match="another plan"):
        regions.plan(mesh, store, res=100)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_worker_that_is_killed_loses_nothing(mesh: str, tmp_path: Path, cluster: Any) -> None:
    from voxelize.dask import voxelize_zarr

    whole = voxelize.voxelize(mesh, res=600, rule="solid")
    victim = next(iter(cluster.run(os.getpid).values()))
    client = cluster

    def kill() -> None:
        parts = tmp_path / "a.zarr" / "parts"
        for _ in range(1000):
            if parts.is_dir() and any(parts.iterdir()):
                break
            time.sleep(0.005)
        os.kill(victim, signal.SIGKILL)

    import threading

    killer = threading.Thread(target=kill)
    killer.start()
    done = voxelize_zarr(mesh, tmp_path / "a.zarr", res=600, rule="solid", client=client, regions=64, uncompressed=True)
    killer.join()
    assert done.digest == whole.digest
    assert victim not in client.run(os.getpid).values()
    # A second call, with every region complete.
    again = voxelize_zarr(mesh, tmp_path / "a.zarr", res=600, rule="solid", client=client, uncompressed=True)
    assert again.digest == whole.digest


def test_without_a_client_this_process_makes_all(mesh: str, tmp_path: Path) -> None:
    from voxelize.dask import voxelize_zarr

    done = voxelize_zarr(mesh, tmp_path / "a.zarr", res=200, rule="filled", max_memory="1G")
    assert done.digest == voxelize.voxelize(mesh, res=200, rule="filled").digest


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: str(options["rule"]))
def test_blocks_have_the_cells_of_one_call(mesh: str, options: dict[str, Any]) -> None:
    pytest.importorskip("dask.array")
    from voxelize.dask import array

    whole = voxelize.voxelize(mesh, res=70, **options)
    lazy = array(mesh, res=70, chunks=(33, 20, 41), **options)
    expected = {"bits": whole.numpy(), "labels": whole.labels, "field": whole.field}[whole.kind]
    assert lazy.shape == whole.shape and lazy.dtype == expected.dtype and lazy.npartitions > 4
    np.testing.assert_array_equal(np.asarray(lazy), expected)
    assert np.array_equal(np.asarray(lazy[5:9, ::2, 3]), expected[5:9, ::2, 3])
    in_memory = array(_triangles(mesh), res=70, chunks=64, **options)
    np.testing.assert_array_equal(np.asarray(in_memory), expected)


@pytest.mark.parametrize("rule", ["fraction", "area"])
def test_blocks_of_shares_and_areas_are_those_of_the_whole(mesh: str, rule: str) -> None:
    pytest.importorskip("dask.array")
    from voxelize.dask import array

    whole = voxelize.voxelize(mesh, res=50, rule=rule).field
    lazy = np.asarray(array(mesh, res=50, rule=rule, chunks=(13, 20, 17)))
    assert ((whole > 0) & (whole < 1)).any()
    np.testing.assert_array_equal(lazy, whole)


def _triangles(mesh: str) -> np.ndarray:
    """Returns the corners of a binary STL."""
    data = Path(mesh).read_bytes()
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    return np.frombuffer(data, record, offset=84)["corners"].copy()


def test_blocks_run_on_a_cluster(mesh: str, cluster: Any) -> None:
    from voxelize.dask import array

    lazy = array(mesh, res=100, rule="solid", chunks=50)
    total = cluster.compute(lazy.sum()).result()
    assert total == voxelize.voxelize(mesh, res=100, rule="solid").count
    with pytest.raises(voxelize.UsageError, match="beside a block"):
        array(mesh, res=100, rule="solid", inside="flood")


def test_readers_of_others_take_a_store(mesh: str, tmp_path: Path) -> None:
    store = regions.plan(mesh, tmp_path / "a.zarr", res=300, rule="solid", regions=3, dtype="u8")
    store.make(*range(store.regions))
    store.finish()
    cells = voxelize.voxelize(mesh, res=300, rule="solid").numpy().transpose(2, 1, 0)
    path = str(tmp_path / "a.zarr")
    attributes = json.loads((tmp_path / "a.zarr" / "zarr.json").read_text())["attributes"]
    levels = [dataset["path"] for dataset in attributes["ome"]["multiscales"][0]["datasets"]]
    assert levels == ["0", "1", "2"]
    seen = 0
    try:
        import zarr
    except ImportError:
        pass
    else:
        group = zarr.open_group(path, mode="r")
        coarse = cells
        for level in levels:
            np.testing.assert_array_equal(group[level][:], coarse)
            pad = [(0, n % 2) for n in coarse.shape]
            even = np.pad(coarse, pad)
            z, y, x = (n // 2 for n in even.shape)
            coarse = even.reshape(z, 2, y, 2, x, 2).any(axis=(1, 3, 5))
        seen += 1
    try:
        import dask.array as da
        import zarr  # noqa: F401
    except ImportError:
        pass
    else:
        assert int(da.from_zarr(path, component="0").sum()) == int(cells.sum())
        seen += 1
    try:
        import tensorstore
    except ImportError:
        pass
    else:
        for level in levels:
            spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/{level}"}}
            read = tensorstore.open(spec).result().read().result()
            assert read.any()
            if level == "0":
                np.testing.assert_array_equal(read, cells)
        seen += 1
    try:
        from ome_zarr_models.v05.image import ImageAttrs
    except ImportError:
        pass
    else:
        ImageAttrs.model_validate(attributes["ome"])
        seen += 1
    if not seen:
        pytest.skip("no reader of Zarr is installed")


def test_a_store_may_be_an_object_store(mesh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    from voxelize import _native
    from voxelize.dask import voxelize_zarr

    url = "memory://bucket/a.zarr"
    options: dict[str, Any] = {"res": 300, "rule": "filled", "regions": 3, "uncompressed": True, "bin": True}
    whole = voxelize.voxelize(mesh, res=300, rule="filled")
    made: list[list[int]] = []
    make_regions = _native.make_regions

    def counted(path: str, regions: list[int], *rest: Any) -> list[bool]:
        made.append(regions)
        return make_regions(path, regions, *rest)

    monkeypatch.setattr(_native, "make_regions", counted)
    assert voxelize_zarr(mesh, url, **options).digest == whole.digest
    count = len(made)
    assert count > 1
    files = fsspec.filesystem("memory")
    names = [name for name in files.find("/bucket/a.zarr") if "/c/" in name]
    assert voxelize_zarr(mesh, url, **options).digest == whole.digest and len(made) == count
    files.rm(names[0])
    files.pipe_file(names[-1], files.cat_file(names[-1])[:-1])
    assert voxelize_zarr(mesh, url, **options).digest == whole.digest and count < len(made) <= count + 2
    # The same length, with one bit flipped.
    count = len(made)
    content = bytearray(files.cat_file(names[-1]))
    content[len(content) // 2] ^= 4
    files.pipe_file(names[-1], bytes(content))
    assert voxelize_zarr(mesh, url, **options).digest == whole.digest and len(made) == count + 1
    with pytest.raises(voxelize.OutputError, match="another plan"):
        voxelize_zarr(mesh, url, **{**options, "res": 299})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir("/")
        zarr = pytest.importorskip("zarr")
        group = zarr.open_group(url, mode="r")
        cells = group["0"][:]
    assert int((cells != 0).sum()) == whole.count
    fsspec.filesystem("memory").rm("/bucket", recursive=True)
