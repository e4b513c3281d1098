"""What several tests share."""

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
    """The reports of the command of this package."""
    done = subprocess.run(
        [sys.executable, "-m", "voxelize._command", *words, "--json"], capture_output=True, text=True, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def is_long() -> bool:
    """Whether there is time for all repetitions: VOXELIZE_PYTHON=long."""
    return os.environ.get("VOXELIZE_PYTHON") == "long"
