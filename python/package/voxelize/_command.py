"""The command `voxelize`."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> None:
    """Runs the command with the arguments of this process, and exits."""
    # The command line handles interrupts itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.command(["voxelize", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
