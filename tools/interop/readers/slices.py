"""Pictures of layers. Packages: pillow, scikit-image, numpy."""

import io
import json
import pathlib
import tempfile
import zipfile

import numpy


def _placed(pictures, index):
    """Reads pictures from the lowest layer on, rows from the highest y on."""
    cells = numpy.stack(pictures)[:, ::-1, :].transpose(2, 1, 0)
    if index["occupied"].startswith(("1", "255")):
        cells = cells > 0
    layers = index["layers"]
    exact = lambda texts: numpy.array([int(p) / int(q) for p, q in (text.split("/") for text in texts)])
    spacing = numpy.append(index["pixel_size"], index["layer_height"])
    origin = exact(index["voxelize"]["origin"])
    walls = [layer["z"][0] for layer in layers] + [layers[-1]["z"][1]]
    assert numpy.allclose(walls, origin[2] + numpy.arange(len(layers) + 1) * spacing[2]), walls
    assert [layer["file"] for layer in layers] == sorted(layer["file"] for layer in layers)
    return dict(cells=cells, origin=origin, spacing=spacing)


def read_pillow(path):
    from PIL import Image

    if path.is_dir():
        names, read = [file.name for file in path.iterdir()], lambda name: (path / name).read_bytes()
    else:
        archive = zipfile.ZipFile(path)
        assert archive.testzip() is None
        names, read = archive.namelist(), archive.read
    index = json.loads(read("slices.json"))
    assert sorted(names) == sorted(["slices.json", *(layer["file"] for layer in index["layers"])])
    pictures = [Image.open(io.BytesIO(read(layer["file"]))) for layer in index["layers"]]
    assert {picture.mode for picture in pictures} == {"1" if index["picture"]["bits"] == 1 else "L"}
    return _placed([numpy.asarray(picture) for picture in pictures], index)


def read_skimage(path):
    """Reads all pictures of a folder as a stack, like tools for tomography."""
    from skimage.io import imread_collection

    with tempfile.TemporaryDirectory() as place:
        folder = path
        if not path.is_dir():
            zipfile.ZipFile(path).extractall(place)
            folder = pathlib.Path(place)
        index = json.loads((folder / "slices.json").read_text())
        return _placed(list(imread_collection(str(folder / "*.png"))), index)
