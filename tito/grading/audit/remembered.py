"""Green audits, remembered by the hash of everything that they depend on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import tito
from tito.course import Course, ModuleRef
from tito.files import write_atomic

FILE = Path(".tito") / "audit.json"


def fingerprint(course: Course, ref: ModuleRef) -> str:
    """Hash of the module, its data, its mutants, the package before it, and tito itself."""
    digest = hashlib.sha256()
    folders = [
        ref.folder,
        course.root / "tests" / "mutants" / ref.name,
        course.package,
        Path(tito.__file__).parent,
    ]
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if _counts(p, ref)):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _counts(path: Path, ref: ModuleRef) -> bool:
    """The notebook is built from the .py, and holds outputs at times."""
    hidden = any(part.startswith((".", "__pycache__")) for part in path.parts[-2:])
    return path.is_file() and not hidden and path != ref.ipynb


def is_green(course: Course, ref: ModuleRef) -> bool:
    """Whether exactly this module passed its audit with exactly this tito."""
    return _read(course).get(ref.name) == fingerprint(course, ref)


def remember(course: Course, ref: ModuleRef, green: str | None) -> None:
    """Note the fingerprint with which the module was found green; None forgets it."""
    known = _read(course)
    known.pop(ref.name, None)
    if green:
        known[ref.name] = green
    write_atomic(course.root / FILE, json.dumps(known, indent=1, sort_keys=True) + "\n")


def _read(course: Course) -> dict[str, str]:
    """What is remembered; nothing where the file is not there or damaged."""
    path = course.root / FILE
    try:
        known = json.loads(path.read_bytes()) if path.is_file() else {}
    except ValueError:
        return {}
    return known if isinstance(known, dict) else {}
