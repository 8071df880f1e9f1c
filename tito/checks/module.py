"""The notebook that is running, as far as messages need it: which exercise defines a name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_HEADING = re.compile(r"^#+\s*exercise\s+(\d+)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """Names that the module's cells define, and the exercises they belong to."""

    exercises: Mapping[str, int]
    given: frozenset[str]

    @classmethod
    def find(cls, user_names: Mapping[str, Any]) -> Module | None:
        """The module of the running notebook; None if its file cannot be found or read."""
        path = notebook_path(user_names)
        if path is None:
            return None
        try:
            return _read(path, path.stat().st_mtime_ns)
        except Exception:  # a notebook that does not read has other messages than ours
            return None

    def exercise_of(self, name: str) -> int | None:
        return self.exercises.get(name)

    def defines(self, name: str) -> bool:
        return name in self.exercises or name in self.given

    def gives(self, name: str) -> bool:
        """Whether the course wrote it: a name that is bound outside of all solution cells."""
        return name in self.given and name not in self.exercises

    @staticmethod
    def defined_in_source(name: str, source: str) -> bool:
        """Whether a cell binds the name itself, so that running another one would not help."""
        from tito.notebook.names import bound

        assigned, imported = bound(source)
        return name in assigned or name in imported


def notebook_path(user_names: Mapping[str, Any]) -> Path | None:
    """The file of the running notebook, as VS Code or Jupyter tells it, or the only one here."""
    told = user_names.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    if isinstance(told, str) and Path(told).is_file():
        return Path(told)
    here = sorted(Path.cwd().glob("*.ipynb"))
    return here[0] if len(here) == 1 else None


@lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> Module:
    from tito.notebook import Role, load
    from tito.notebook.names import bound

    exercises: dict[str, int] = {}
    given: set[str] = set()
    number = 0
    for cell in load(path).cells:
        if cell.kind != "code":
            headings = _HEADING.findall(cell.source)
            number = int(headings[-1]) if headings else number
            continue
        assigned, imported = bound(cell.source)
        if cell.role is Role.SOLUTION and number:
            exercises |= dict.fromkeys(assigned, number)
        elif cell.role in (Role.GIVEN, Role.SOLUTION):
            given |= assigned | imported
    return Module(exercises, frozenset(given))
