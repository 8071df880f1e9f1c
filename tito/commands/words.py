"""How commands name paths and lay out tables."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    here = Path.cwd().resolve()
    # Not resolved as a file: a link in .venv is called by its own name. "." and ".." have none.
    full = Path(os.path.abspath(path))
    full = full.parent.resolve() / full.name
    return str(full.relative_to(here)) if full.is_relative_to(here) else str(full)


def quoted(word: str) -> str:
    """A word for the shell; quotes only where they are needed."""
    return f'"{word}"' if any(c.isspace() for c in word) else word


def call_tito(folder: Path | None = None) -> str:
    """How to call this tito in `folder` (default: here): by name where it is on the PATH."""
    own = Path(sys.executable).with_name("tito.exe" if os.name == "nt" else "tito")
    if not own.exists():
        return f"{quoted(sys.executable)} -m tito"
    found = shutil.which("tito")
    if found and Path(found).samefile(own):
        return "tito"
    where = (folder or Path.cwd()).resolve()
    near = own.parent.resolve().is_relative_to(where) or own.parent.resolve().is_relative_to(
        where.parent
    )
    return quoted(os.path.relpath(own, where) if near else str(own))


def columns(rows: list[tuple[str, ...]]) -> list[str]:
    """A table as lines, columns as wide as they need."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths)).rstrip() for row in rows]
