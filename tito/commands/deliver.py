"""Where the machine-readable result of a command goes."""

from __future__ import annotations

import sys
from pathlib import Path

from tito.files import write_atomic

BYTE_ORDER_MARK = "\ufeff"  # without it Excel takes a file for its own old encoding


def deliver(target: str | None, text: str) -> None:
    """To its file, to stdout for "-", nowhere for None."""
    if target == "-":
        sys.stdout.write(text)
    elif target:
        write_atomic(Path(target), text)
