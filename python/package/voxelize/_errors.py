"""Exceptions by who must act, and findings: what a run noticed and went on."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Place = tuple[int | None, int | None, int | None]


class Error(Exception):
    """What is wrong; `hint` says what to do, `triangle`, `byte` and `line` where it is, as far as known.

    Triangles and bytes count from 0, lines from 1. `code` is stable: docs/reference/findings.md lists them.
    """

    code: str = "internal"
    hint: str | None = None
    file: str | None = None
    triangle: int | None = None
    byte: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        message = str(self.args[0]) if self.args else ""
        return f"{message}; {self.hint}" if self.hint else message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args, dict(self.__dict__))


class UsageError(Error, ValueError):
    """The call is wrong: arguments that exclude each other, a value out of range."""


class InputError(Error, OSError):
    """A file or an array cannot be read: missing, cut short, no mesh."""


class NotFoundError(InputError, FileNotFoundError):
    """There is no such file."""


class MeshError(Error, ValueError):
    """The mesh was read, and is unfit for what was asked."""


class TooLargeError(Error, MemoryError):
    """The result does not fit: into memory, or into a format."""


class OutputError(Error, OSError):
    """A file could not be written."""


class Cancelled(Error):
    """The job was ended from another thread."""


class InternalError(Error, RuntimeError):
    """A bug of voxelize."""


_CLASSES: dict[str, type[Error]] = {
    "usage": UsageError,
    "input": InputError,
    "unfit": MeshError,
    "too-large": TooLargeError,
    "output": OutputError,
    "interrupted": Cancelled,
}


def error_of(kind: str, message: str, code: str, hint: str | None, file: str | None, place: Place) -> Error:
    """The exception of an error of the library."""
    kinds = _CLASSES.get(kind, InternalError)
    is_missing = code in ("not-found", "S008", "V010") and file is not None and not os.path.exists(file)
    error = (NotFoundError if kinds is InputError and is_missing else kinds)(message)
    error.code, error.hint, error.file = code, hint, file
    error.triangle, error.byte, error.line = place
    return error


def usage(message: str, hint: str | None = None) -> UsageError:
    """The error of a call that is wrong."""
    error = UsageError(message)
    error.code, error.hint = "usage", hint
    return error


class FindingWarning(UserWarning):
    """A finding of severity "warning": the result may differ from the intended one. `finding` has its facts."""

    def __init__(self, finding: Finding, mesh: str = "") -> None:
        super().__init__(f"{mesh}: {finding}" if mesh else str(finding))
        self.finding = finding


@dataclass(frozen=True)
class Finding:
    """Something noticed on the way, with a stable code: docs/reference/findings.md lists them."""

    code: str
    #: "note" or "warning".
    severity: str
    message: str
    hint: str | None = None
    #: How many there are; the message names the first.
    count: int = 1
    triangle: int | None = None

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}" + (f"; {self.hint}" if self.hint else "")


def findings_of(facts: Iterable[Any]) -> list[Finding]:
    """Findings of the facts of the library."""
    return [Finding(*fact) for fact in facts]


def warn(findings: Iterable[Finding], depth: int, mesh: str = "") -> None:
    """Warns of those that are warnings, at the caller `depth` functions up; `mesh` is its name where there are many."""
    for finding in findings:
        if finding.severity == "warning":
            warnings.warn(FindingWarning(finding, mesh), stacklevel=depth + 1)
