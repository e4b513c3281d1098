"""Compares labels and fields read by NumPy with the formula that created them.

`kinds.py FOLDER`: the files that `examples/kinds.rs` wrote.
"""

import json
import sys
from pathlib import Path

import numpy as np

DIMS = (40, 30, 20)
BAND = np.float32(0.75)


def expected():
    """Returns the labels and the field, indexed x, y, z, in float32 and in the order of operations of the
    example."""
    x, y, z = ((axis.astype(np.float32) - np.float32(middle)) / np.float32(10)
               for axis, middle in zip(np.indices(DIMS), (19.5, 14.5, 9.5)))
    distance = np.sqrt(x * x + y * y + z * z) - np.float32(0.8)
    labels = np.where(distance < np.float32(-0.2), 7, np.where(distance < 0, 200, 0)).astype(np.uint8)
    return labels, np.clip(distance, -BAND, BAND)


def raw(path):
    """Reads a .raw by its sidecar."""
    about = json.loads(Path(f"{path}.json").read_text())
    dtype = {"u8": np.uint8, "f32": np.dtype("<f4")}[about["dtype"]]
    return np.fromfile(path, dtype).reshape(about["dims"], order="F"), about


def main(folder):
    folder = Path(folder)
    compared = 0
    for name, array in zip(("labels", "field"), expected()):
        npz = np.load(folder / f"{name}.npz")
        read, about = raw(folder / f"{name}.raw")
        for found in (np.load(folder / f"{name}.npy"), npz["voxels"], read):
            assert found.dtype == array.dtype and found.shape == DIMS, (found.dtype, found.shape)
            assert np.array_equal(found, array), f"{name}: {np.count_nonzero(found != array)} cells differ"
            compared += 1
        assert np.allclose(npz["spacing"], 0.1) and about["spacing"] == ["1/10"] * 3
        if name == "labels":
            legend = [(int(v), str(n), str(c)) for v, n, c in
                      zip(npz["label_values"], npz["label_names"], npz["label_colours"])]
            assert legend == [(7, "core", "#d55e00"), (200, "shell, 0.2 thick", "#56b4e9")], legend
            assert legend == [(label["value"], label["name"], label["colour"]) for label in about["labels"]]
        else:
            assert npz["background"] == BAND and np.float32(about["background"]) == BAND
    print(f"{compared} arrays as the formula has them, with legend and background")
    assert compared == 6


main(sys.argv[1])
