"""The folder that a student works in: a kit, also for those who sit in the course's repository."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tito.course import Course
from tito.files import write_atomic
from tito.release import kit, leaks

FOLDER = "kit"


@dataclass
class Workspace:
    """A kit to work in. `notes` tell what was done to it on the way."""

    course: Course
    in_repository: bool = False
    made: bool = False
    notes: list[str] = field(default_factory=list)


def open_workspace(course: Course) -> Workspace:
    """The kit that `course` is; in the course's repository the one in kit/, made if need be.

    What a student wrote or exported is never written over.
    """
    if course.is_kit:
        return Workspace(course)
    folder = course.root / FOLDER
    if not Course(folder).is_kit:
        kit.generate(course, folder)
        return Workspace(Course(folder), in_repository=True, made=True)
    return Workspace(Course(folder), in_repository=True, notes=update(course, Course(folder)))


def update(course: Course, own: Course) -> list[str]:
    """Bring a kit to the course's present state where no work stands in the way; what to tell."""
    new = kit.build(course)
    old_manifest = kit.read_manifest(own)["modules"]
    kept = {n for n in new.modules if n in old_manifest and _worked_on(own, n, old_manifest[n])}
    manifest = json.loads(new.files[kit.MANIFEST])
    outdated = [n for n in sorted(kept) if manifest["modules"][n] != old_manifest[n]]
    for name in outdated:
        manifest["modules"][name] = old_manifest[name]
    changes = {n: d for n, d in new.files.items() if _replaceable(own.root, n, d, kept)}
    changes[kit.MANIFEST] = kit.as_json(manifest)
    if all(_holds(own.root / name, data) for name, data in changes.items()):
        return _tell(outdated)
    leaks.check(new.files, new.secrets, leaks.allowed_runs(course.root / leaks.ALLOWED_FILE))
    # The manifest last: until then the old one still tells what was handed out.
    for name in sorted(changes, key=lambda n: n == kit.MANIFEST):
        write_atomic(own.root / name, changes[name])
    return _tell(outdated)


def _tell(outdated: list[str]) -> list[str]:
    return [
        f"{name} has changed in the course since your kit was made; yours stays as it is "
        "(for the new one move kit/ away and call tito start again)"
        for name in outdated
    ]


def _worked_on(own: Course, name: str, entry: Mapping) -> bool:
    """The notebook differs from its release (or there is more than the notebook)."""
    ref = own.resolve(name)
    if not ref.ipynb.is_file():
        return ref.py.exists()
    data = ref.ipynb.read_bytes()
    return ref.py.exists() or hashlib.sha256(data).hexdigest() != entry["sha256"]


def _replaceable(root: Path, name: str, data: bytes, kept: set[str]) -> bool:
    """Whether the course may write this file of a kit."""
    parts = name.split("/")
    if parts[0] == "modules":
        return parts[1] not in kept
    if name.startswith(kit.RELEASED):
        return parts[-1].removesuffix(".ipynb") not in kept
    if parts[0] == kit.PACKAGE:
        path = root / name
        return not path.exists() or kit.is_stub(path)
    return parts[0] == "tito" or not (root / name).exists()


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def restore_missing(own: Course, name: str) -> bool:
    """Put the released notebook back where a kit has none; True if it was."""
    ref = own.resolve(name)
    if ref.ipynb.exists() or ref.py.exists():
        return False
    return write_atomic(ref.ipynb, kit.released_bytes(own, name))
