"""Exceptions and findings. A finding is reported but does not stop a run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Place = tuple[int | None, int | None, int | None]


class Error(Exception):
    """Error. `hint` states what to do; `triangle`, `byte` and `line` state the place, if known.

    Triangles and bytes are numbered from 0, lines from 1. `code` is stable; docs/reference/findings.md lists the codes.
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
    """The call is invalid: its arguments exclude each other, or a value is out of range."""


class InputError(Error, OSError):
    """A file or an array cannot be read: it is missing or truncated, or it is not a mesh."""


class NotFoundError(InputError, FileNotFoundError):
    """The file does not exist."""


class MeshError(Error, ValueError):
    """The mesh was read, but is unsuitable for the call."""


class TooLargeError(Error, MemoryError):
    """The result does not fit into memory or into a format."""


class OutputError(Error, OSError):
    """A file could not be written."""


class Cancelled(Error):
    """The job was cancelled from another thread."""


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
    """Returns the exception for an error of the library."""
    kinds = _CLASSES.get(kind, InternalError)
    is_missing = code in ("not-found", "S008", "V010") and file is not None and not os.path.exists(file)
    error = (NotFoundError if kinds is InputError and is_missing else kinds)(message)
    error.code, error.hint, error.file = code, hint, file
    error.triangle, error.byte, error.line = place
    return error


def usage(message: str, hint: str | None = None) -> UsageError:
    """Returns the error for an invalid call."""
    error = UsageError(message)
    error.code, error.hint = "usage", hint
    return error


class FindingWarning(UserWarning):
    """Warning about a finding: the result may differ from what was intended. `finding` has the facts."""

    def __init__(self, finding: Finding, mesh: str = "") -> None:
        super().__init__(f"{mesh}: {finding}" if mesh else str(finding))
        self.finding = finding


class SkippedWarning(UserWarning):
    """Warning about a mesh that `many` skipped. `mesh` is its name, and `error` says why it failed."""

    def __init__(self, mesh: str, error: Error) -> None:
        super().__init__(str(error) if str(error).startswith(mesh) else f"{mesh}: {error}")
        self.mesh, self.error = mesh, error


@dataclass(frozen=True)
class Finding:
    """Finding with a stable code. docs/reference/findings.md lists the codes."""

    code: str
    #: "note" or "warning".
    severity: str
    message: str
    hint: str | None = None
    #: Number of occurrences. The message describes the first one.
    count: int = 1
    triangle: int | None = None

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}" + (f"; {self.hint}" if self.hint else "")


def findings_of(facts: Iterable[Any]) -> list[Finding]:
    """Converts facts from the native module to findings."""
    return [Finding(*fact) for fact in facts]


def warn(findings: Iterable[Finding], depth: int, mesh: str = "") -> None:
    """Issues the findings of severity "warning" as Python warnings.

    They name the line of the caller that is `depth` functions up. `mesh` is the name of the mesh, if there are several."""
    for finding in findings:
        if finding.severity == "warning":
            warnings.warn(FindingWarning(finding, mesh), stacklevel=depth + 1)
