"""Conversion of keyword arguments to texts, which the library parses. This way decimals stay exact."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, ParamSpec, TypedDict, TypeVar

import numpy as np

from . import _native
from ._errors import usage

P = ParamSpec("P")
R = TypeVar("R")

#: An exact number: 0.1 and "0.1" are a tenth, Fraction(1, 3) is a third. A text may also have a unit, as in "5mm", or be a number
#: of cells, as in "2vx".
Number = int | float | str | Decimal | Fraction
#: One number for all axes, or one per axis.
Size = Number | Sequence[Number]
#: Function that is called with the phase, the number of steps done and the total number of steps.
Listener = Callable[[str, int, int], None]


class How(TypedDict):
    """Settings of a call."""

    threads: int
    max_memory: int | None
    simd: str | None
    progress: Listener | None
    cancel: _native.Cancel | None


def text(name: str, number: Any) -> str:
    """Returns the shortest decimal text of a number."""
    match number:
        case bool():
            pass
        case str():
            return number
        case np.floating():
            # The shortest decimal that identifies the number in its own precision.
            return str(number)
        case int() | np.integer():
            return str(int(number))
        case float():
            return repr(number)
        case Decimal() | Fraction():
            return str(number)
    raise usage(f"{name}: a number, or a text such as '0.1', is expected, not {type(number).__name__}")


def several(name: str, values: Any) -> list[Any]:
    """Returns the items of a sequence."""
    try:
        return list(values)
    except TypeError:
        raise usage(f"{name}: several values are expected, not {type(values).__name__}") from None


def words(name: str, value: Any) -> list[str]:
    """Returns the text of a value. For a sequence, returns the texts of all its items."""
    if isinstance(value, (str, bytes)) or not np.iterable(value):
        return [text(name, value)]
    return [word for one in value for word in words(name, one)]


def whole(name: str, number: Any, least: int = 0) -> int:
    """Returns an argument as an integer. Raises an error unless it is an integer of at least `least`."""
    try:
        value = number.__index__()
    except AttributeError:
        raise usage(f"{name}: a whole number is expected, not {number!r}") from None
    if isinstance(number, bool) or not least <= value < 2**63:
        raise usage(f"{name}: a whole number of at least {least} is expected, not {number!r}")
    return int(value)


def word(name: str, value: Any) -> str:
    """Returns an argument that must be a text, such as the name of a rule."""
    if not isinstance(value, str):
        raise usage(f"{name}: a text is expected, not {type(value).__name__}")
    return value


#: Names in other packages for arguments, and for what other functions do.
_MEANT = {
    "resolution": "res", "n": "res", "n_voxels": "res", "num_voxels": "res", "pitch": "voxel_size", "spacing": "voxel_size",
    "cell_size": "voxel_size", "size": "res or voxel_size", "shape": "dims", "padding": "pad", "pad_width": "pad", "margin": "pad",
    "box": "bounds", "bbox": "bounds", "extent": "bounds", "grid": "like", "reference": "like", "method": "inside",
    "fill": 'rule="filled"', "sdf": 'rule="distance"', "signed_distance": 'rule="distance"', "occupancy": 'rule="solid"',
    "shell": "hollow", "wall": "hollow", "thickness": "hollow", "color": 'labels="colour"', "colour": 'labels="colour"',
    "colors": 'labels="colour"', "parts": 'labels="object"', "include": "only", "exclude": "skip", "transform": "matrix",
    "pose": "matrix", "translation": "translate", "rotation": "rotate", "jobs": "threads", "n_jobs": "threads", "workers": "threads",
    "verbose": "progress", "dtype": "numpy(dtype) or save(file, dtype=…) of the result", "output": "save(file) of the result",
    "format": "save(file) of the result",
}  # fmt: skip
#: Least similarity of a name to an argument that is suggested for it.
_SIMILAR = 0.7
_RULES = ["surface", "thin", "solid", "filled", "offset", "distance", "fraction", "area"]


def suggesting(function: Callable[P, R]) -> Callable[P, R]:
    """Wraps a function. If it is called with an unknown keyword, the error suggests the keyword that was probably meant."""
    names = [name for name in inspect.signature(function).parameters if not name.startswith("_")]

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in names and not name.startswith("_"):
                raise unknown(function.__name__, name, names)
        return function(*args, **kwargs)

    return call


def unknown(function: str, name: str, names: Sequence[str]) -> TypeError:
    """Returns the error for an unknown keyword, with the keyword that was probably meant."""
    near = difflib.get_close_matches(name.lower(), names, 1, _SIMILAR)
    rule = name.lower() if name.lower() in _RULES else None
    meant = f'rule="{rule}"' if rule else _MEANT.get(name) or (near[0] if near else None)
    hint = f"did you mean {meant}?" if meant else "help(voxelize.voxelize) lists them"
    return TypeError(f"{function} has no argument {name!r}; {hint}")


def _is_one(value: Any) -> bool:
    """Returns True for a number, or the text of one."""
    return "," not in value if isinstance(value, str) else not np.iterable(value)


def rotations(value: Any) -> list[str]:
    """Returns the texts of rotations: "z,30", ("z", 30), or a list of these."""
    if isinstance(value, str):
        if re.fullmatch(r"\s*[xyz]\s*,[^,]+(,\s*[xyz]\s*,[^,]+)+", value):
            parts = [part.strip() for part in value.split(",")]
            turns = ", ".join(f'"{axis},{degrees}"' for axis, degrees in zip(parts[::2], parts[1::2]))
            raise usage("rotate: one text is one rotation", f"write rotate=[{turns}]")
        return [value]
    if isinstance(value, (bytes, bool)) or not np.iterable(value):
        raise usage(f"rotate: a text such as 'z,90', or a list of such texts, is expected, not {value!r}")
    items = list(value)
    is_axis = bool(items) and isinstance(items[0], str) and items[0] in ("x", "y", "z")
    if len(items) == 2 and is_axis and _is_one(items[1]):
        return [f"{items[0]},{text('rotate', items[1])}"]
    return [turn for item in items for turn in rotations(item)]


def holes(value: Any) -> list[str]:
    """Returns the texts of drain holes: "10,10,0,3", (10, 10, 0, 3), or a list of these."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, (bytes, bool)) or not np.iterable(value):
        raise usage(f"drain: a hole is (x, y, z, diameter), or a list of such holes is expected, not {value!r}")
    items = list(value)
    if any(_is_one(item) for item in items):
        return [",".join(words("drain", items))]
    return [hole for item in items for hole in holes(item)]
def angles(value: Any) -> list[str]:
    """Returns the texts of roll, pitch and yaw: "0,0,1.57", (0, 0, 1.57), or a list of these."""
    if isinstance(value, str):
        return [value]
    items = several("rpy", value)
    if all(_is_one(item) for item in items):
        return [",".join(text("rpy", item) for item in items)]
    return [turn for item in items for turn in angles(item)]


def padding(value: Any) -> list[str]:
    """Returns the texts of a padding. Three pairs are the cells before and after along each axis, as in NumPy's pad."""
    if not isinstance(value, (str, bytes)) and np.iterable(value):
        pairs = [words("pad", pair) for pair in value if not _is_one(pair)]
        if [len(pair) for pair in pairs] == [2, 2, 2]:
            return [low for low, _ in pairs] + [high for _, high in pairs]
    return words("pad", value)


def texts(name: str, value: Any) -> list[str]:
    """Returns the texts of an argument that decides the cells."""
    match name:
        case "rotate":
            return rotations(value)
        case "rpy":
            return angles(value)
        case "pad":
            return padding(value)
        case "drain":
            return holes(value)
    return words(name, value)


#: Steps of a pose: the name and the text of each, such as ("rotate", "z,90").
Steps = list[tuple[str, str]]


def steps_of(pose: dict[str, Any]) -> Steps:
    """Returns the steps of a pose. Rotations are one step each."""
    steps: Steps = []
    for name, value in pose.items():
        if value is None:
            continue
        found = texts(name, value)
        steps += [(name, step) for step in (found if name in ("rotate", "rpy") else [",".join(found)])]
    return steps


def strings(name: str, values: Any) -> list[str]:
    """Returns an argument that is one name or several names as a list."""
    return [values] if isinstance(values, str) else [word(name, value) for value in several(name, values)]


_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def memory(limit: int | str | None) -> int | None:
    """Returns a memory limit in bytes. It may be a number, or a text such as "4G". K, M, G and T are powers of 1024."""
    if limit is None:
        return None
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", limit.upper())
        if not found:
            raise usage(f"max_memory: a size such as '4G', '512M' or bytes is expected, not {limit!r}")
        limit = int(Fraction(found[1]) * 1024 ** _POWERS[found[2]])
    return whole("max_memory", limit, 1)


def listener(progress: bool | Listener | None) -> Listener | None:
    """Returns the function that is called with the progress. True selects a bar of tqdm, which must be installed."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return progress
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise usage("progress=True needs tqdm", "pip install tqdm, or give a function") from None
    bars: dict[str, Any] = {}

    def show(phase: str, done: int, total: int) -> None:
        if phase not in bars:
            for bar in bars.values():
                bar.close()
            bars[phase] = tqdm(total=total, desc=phase, unit="", unit_scale=True, leave=False)
        bars[phase].update(done - bars[phase].n)

    return show


def how(
    threads: int = 0,
    max_memory: int | str | None = None,
    simd: str | None = None,
    progress: bool | Listener | None = None,
    cancel: _native.Cancel | None = None,
) -> How:
    """Returns the settings of a call."""
    return {
        "threads": whole("threads", threads),
        "max_memory": memory(max_memory),
        "simd": None if simd is None else word("simd", simd),
        "progress": listener(progress),
        "cancel": cancel,
    }


def path(value: str | os.PathLike[str]) -> str:
    """Returns the path of a file."""
    return os.fspath(os.path.expanduser(value))
