"""Folders of Zarr. Packages: zarr, dask, tensorstore, ome-zarr, ome-zarr-models."""

import numpy


def _image(path):
    """Returns the group and its image after validation by both models of OME."""
    import ome_zarr_models.v05
    import zarr

    group = zarr.open_group(str(path), mode="r")
    ome = group.attrs["ome"]
    image = ome_zarr_models.v05.Image.from_zarr(group).ome_attributes.multiscales[0]
    if "image-label" in ome:
        ome_zarr_models.v05.ImageLabel.from_zarr(group)
    assert [axis.name for axis in image.axes] == ["z", "y", "x"], image.axes
    return group, image


def _at_centre(cells, dataset):
    """Returns cells a[z, y, x], placed by the OME metadata of their level."""
    scale, translation = dataset.coordinateTransformations
    spacing = numpy.array(scale.scale[::-1])
    origin = numpy.array(translation.translation[::-1]) - spacing / 2
    return dict(cells=numpy.asarray(cells).transpose(2, 1, 0), origin=origin, spacing=spacing)


def read_zarr_python(path):
    group, image = _image(path)
    array = group["0"]
    # A shard is a slab of layers, in chunks that viewers fetch.
    assert array.shards[0] == array.chunks[0] and array.chunks == (64, 64, 64), (array.shards, array.chunks)
    return _at_centre(array[:], image.datasets[0])


def read_dask(path):
    import dask.array

    return _at_centre(dask.array.from_zarr(str(path), component="0").compute(), _image(path)[1].datasets[0])


def read_tensorstore(path):
    import tensorstore

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path / "0")}}
    return _at_centre(tensorstore.open(spec).result().read().result(), _image(path)[1].datasets[0])


def read_ome_zarr(path):
    """Returns the image as napari opens it."""
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader

    [node] = list(Reader(parse_url(path))())
    assert [axis["name"] for axis in node.metadata["axes"]] == ["z", "y", "x"], node.metadata
    return _at_centre(node.data[0].compute(), _image(path)[1].datasets[0])


def _eight(array):
    """Returns the groups of cells of a level that are merged, in the order of z, y and x; NaN beyond the end.
    """
    padded = numpy.pad(array.astype("f8"), [(0, n % 2) for n in array.shape], constant_values=numpy.nan)
    return [padded[k::2, j::2, i::2] for k in (0, 1) for j in (0, 1) for i in (0, 1)]


def _smaller(array, method):
    """Computes the next level by its definition."""
    eight = numpy.stack(_eight(array))
    if method == "any":
        return numpy.nanmax(eight, axis=0)
    if method == "mode":
        # Count of each label. If counts are equal, the smallest label comes first.
        labels = numpy.unique(array[array > 0])
        counts = numpy.stack([numpy.zeros(eight.shape[1:]), *((eight == label).sum(axis=0) for label in labels)])
        return numpy.where(counts.any(axis=0), numpy.concatenate([[0], labels])[counts.argmax(axis=0)], 0)
    total, count = numpy.zeros(eight.shape[1:]), numpy.zeros(eight.shape[1:])
    for cells in eight:
        total = total + numpy.where(numpy.isfinite(cells), cells, 0)
        count = count + numpy.isfinite(cells)
    return numpy.where(count > 0, total / numpy.maximum(count, 1), eight[0]).astype("f4")


def read_levels(path):
    """Returns level 0 in its place by OME. Checks that every cell of the other levels follows from it."""
    group, image = _image(path)
    first = found = _at_centre(group["0"][:], image.datasets[0])
    for level, dataset in enumerate(image.datasets):
        array = group[dataset.path][:]
        if level > 0:
            expected = _smaller(before, image.type)
            if not numpy.array_equal(array, expected, equal_nan=True):
                return dict(first, cells=numpy.full_like(first["cells"], 99))
            found = _at_centre(array, dataset)
        assert numpy.allclose(found["spacing"], first["spacing"] * 2**level), dataset
        assert numpy.allclose(found["origin"], first["origin"]), dataset
        before = array
    assert max(before.shape) <= 128 and (len(image.datasets) == 1 or max(group[str(level - 1)].shape) > 128)
    return first
