"""What a hand-in may use. Defaults of the course; course.toml and the master may override them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.files import read_text

MEGABYTE = 1 << 20
# So many times more wall time there is for what waits for a CPU or a disk, not for itself.
HELD_UP = 4


@dataclass(frozen=True)
class Limits:
    """Seconds of CPU per kind of work, bytes for the rest.

    CPU decides, so that a busy grading machine costs nobody points. Wall time (`wall_factor`
    times the CPU limit) and idleness only end what sleeps for ever.
    """

    solution: float = 20.0
    given: float = 20.0
    extra: float = 5.0
    call: float = 10.0
    test: float = 60.0
    notebook: float = 300.0
    wall_factor: float = 10.0
    idle: float = 15.0
    memory: int = 4096 * MEGABYTE
    output: int = 1 * MEGABYTE
    files: int = 30 * MEGABYTE

    def wall(self, cpu_seconds: float) -> float:
        """Seconds of wall time after which work with this CPU limit is ended."""
        return cpu_seconds * self.wall_factor

    def longest(self, cpu_seconds: float) -> float:
        """Seconds that work with this CPU limit may take where the machine holds it up."""
        return HELD_UP * self.wall(cpu_seconds)

    def cell(self, role: str) -> float:
        """CPU seconds of a cell: role is "solution", "given" or "extra"."""
        return {"solution": self.solution, "given": self.given, "extra": self.extra}[role]

    def changed(self, values: Mapping[str, Any]) -> Limits:
        """A copy with some limits replaced; a wrong name or value is a UserError."""
        known = {field.name: field.type for field in fields(self)}
        for name, value in values.items():
            if name not in known:
                raise UserError(
                    f"there is no limit called {name!r}", hint="limits are " + ", ".join(known)
                )
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < float("inf"):
                raise UserError(f"limit {name} must be a positive number, not {value!r}")
        whole = {
            name: int(value) if known[name] == "int" else value for name, value in values.items()
        }
        return replace(self, **whole)


def limits_of(*roots: Path | None) -> Limits:
    """The limits of a course: the defaults, changed by `[limits]` in its course.toml; those of a
    class that is named behind it count more.

    [limits]
    solution = 40      # seconds of CPU
    memory = 8e9       # bytes
    """
    limits = Limits()
    for root in roots:
        if root is not None and (root / "course.toml").is_file():
            limits = _changed(limits, root / "course.toml")
    return limits


def _changed(limits: Limits, path: Path) -> Limits:
    try:
        values = tomllib.loads(read_text(path)[0]).get("limits", {})
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"no valid TOML: {error}", path=path) from None
    if not isinstance(values, dict):
        raise UserError("limits is no table; write [limits] on a line of its own", path=path)
    try:
        return limits.changed(values)
    except UserError as error:
        raise UserError(error.message, path=path, hint=error.hint) from None


def default_jobs() -> int:
    """As many hand-ins at once as this process may use cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
