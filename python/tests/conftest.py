"""Common fixtures of the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = sorted((ROOT / "fixtures").glob("*.stl"))


def fixture(name: str) -> str:
    return str(ROOT / "fixtures" / name)


def command(*words: str) -> list[dict[str, Any]]:
    """Returns the reports of the command of this package."""
    done = subprocess.run(
        [sys.executable, "-m", "voxelize._command", *words, "--json"], capture_output=True, text=True, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def is_long() -> bool:
    """Returns True if VOXELIZE_PYTHON=long requests all repetitions."""
    return os.environ.get("VOXELIZE_PYTHON") == "long"
