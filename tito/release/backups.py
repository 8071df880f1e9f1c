"""Starting a module again without losing anything: every version that goes is copied first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tito.course import Course, ModuleRef
from tito.errors import UsageError
from tito.files import back_up, write_atomic
from tito.release import kit

FOLDER = ".tito/backups"


@dataclass(frozen=True)
class Change:
    """What was written and where the earlier state of it now lies."""

    written: Path
    kept: list[Path]


def reset(course: Course, ref: ModuleRef) -> Change:
    """Put the notebook back as it was handed out; what was there is in the backups."""
    return _replace(course, ref, kit.released_bytes(course, ref.name))


def restore(course: Course, ref: ModuleRef, name: str = "") -> Change:
    """Bring a backup back, the newest or the one called `name`; the present state is kept too."""
    chosen = _chosen(course, ref, name)
    target = ref.py if chosen.suffix == ".py" else ref.ipynb
    return _replace(course, ref, chosen.read_bytes(), target)


def _replace(course: Course, ref: ModuleRef, data: bytes, target: Path | None = None) -> Change:
    """Write one half of the module. The other half goes: it would be out of step with it."""
    target = target or ref.ipynb
    halves = [p for p in (ref.ipynb, ref.py) if p.is_file()]
    kept = [
        back_up(p, course.root / FOLDER / ref.name)
        for p in halves
        if p != target or p.read_bytes() != data
    ]
    write_atomic(target, data)
    for path in halves:
        if path != target:
            path.unlink()
    return Change(target, kept)


def backups(course: Course, ref: ModuleRef) -> list[Path]:
    """The backups of a module, the newest first."""
    folder = course.root / FOLDER / ref.name
    found = [p for p in folder.glob(f"{ref.name}.*") if p.suffix in (".py", ".ipynb")]
    return sorted(found, key=lambda p: (p.stat().st_mtime_ns, p.name), reverse=True)


def when(path: Path) -> str:
    """When a backup was made, for people."""
    return datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%d %H:%M:%S")


def _chosen(course: Course, ref: ModuleRef, name: str) -> Path:
    found = backups(course, ref)
    if not found:
        raise UsageError(f"no backup of {ref.name} yet: tito reset makes one")
    if not name:
        return found[0]
    matching = [p for p in found if Path(name).name in (p.name, p.stem)]
    if not matching:
        raise UsageError(
            f"no backup is called {name!r}", hint=f"tito reset {ref.name} --list shows them"
        )
    return matching[0]
