"""Hand-ins as they come: folders, zips, nbgrader's tree, downloads of a learning platform.

Whatever is found becomes one row for each student, with the reason where there is nothing to
grade. Nobody is looked up: the folder's name is the student. `tito grade collect` is for a class.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tito.errors import UserError
from tito.grading.collect.choosing import Choice, Wanted, choose, holds, share
from tito.grading.collect.dividing import ANOTHER
from tito.grading.collect.sources import (
    FOLDER,
    LINK,
    NOTEBOOK,
    Budget,
    Entry,
    Passed,
    inside,
    read_source,
)
from tito.grading.judge.result import BROKEN, GRADED

__all__ = ["Found", "HandIn", "Wanted", "find_handins"]

NBGRADER_TREE = "submitted"


@dataclass
class HandIn:
    """What one student handed in. `status` is "graded" while there is a notebook to grade."""

    student: str
    status: str = GRADED
    reason: str | None = None
    read: Callable[[], bytes] | None = None
    remarks: list[str] = field(default_factory=list)


@dataclass
class Found:
    """All hand-ins, by student, and what was passed over on the way."""

    handins: list[HandIn]
    notes: list[str]


# The other modules of the course, read when a notebook is none of the one that is wanted.
Others = Callable[[], Sequence[Wanted]]


def find_handins(path: Path, wanted: Wanted, others: Others = tuple) -> Found:
    """The hand-ins in a folder, a zip or a single notebook; UsageError for a missing path."""
    passed: list[Passed] = []
    entries = read_source(path, passed, lambda item: _is_master(item, wanted))
    if path.is_dir():
        entries = _with_folder_as_student(path, entries, wanted)
    elif not NOTEBOOK.fullmatch(path.name):
        entries = _with_zip_as_student(path, entries)
    entries = _inside_wrapper(entries, path, wanted)
    notes = [str(p) for p in passed if not p.litter]
    return Found(_by_student(entries, wanted, others), notes)


def _is_master(item: os.DirEntry, wanted: Wanted) -> bool:
    if wanted.master is None or item.is_symlink():
        return False
    try:
        return os.path.samefile(item.path, wanted.master)
    except OSError:
        return False


# -- whose is it


def _with_zip_as_student(path: Path, entries: list[Entry]) -> list[Entry]:
    """A zip with one notebook at its top is one student's: named after the zip."""
    loose = [e for e in entries if len(e.parts) == 1 and e.is_notebook]
    if len(loose) != 1 or any(e.notebook_stem for e in entries if len(e.parts) > 1):
        return entries
    return [e.at(path.stem, *e.parts) for e in entries]


def _with_folder_as_student(path: Path, entries: list[Entry], wanted: Wanted) -> list[Entry]:
    """A folder that holds the module's notebook and no other is one student's own."""
    notebooks = [e for e in entries if e.notebook_stem]
    if [e.parts for e in notebooks] != [(f"{wanted.name}.ipynb",)]:
        return entries
    return [e.at(path.resolve().name, *e.parts) for e in entries]


def _inside_wrapper(entries: list[Entry], path: Path, wanted: Wanted) -> list[Entry]:
    """Without a folder around all students: nbgrader's submitted/, or what a packer added."""
    tops = {e.parts[0] for e in entries}
    if NBGRADER_TREE in tops and not any(
        e.notebook_stem for e in entries if e.parts[0] != NBGRADER_TREE and len(e.parts) == 1
    ):
        return _below(entries, NBGRADER_TREE)
    if len(tops) == 1 and path.suffix.lower() == ".zip" and tops == {path.stem}:
        inner = _below(entries, path.stem)
        folders = {e.parts[0] for e in inner if e.kind == FOLDER and len(e.parts) == 1}
        direct = any(e.notebook_stem for e in inner if len(e.parts) == 1)
        if folders and not direct and wanted.name not in folders:
            return inner
    return entries


def _below(entries: list[Entry], top: str) -> list[Entry]:
    return [e.at(*e.parts[1:]) for e in entries if e.parts[0] == top and len(e.parts) > 1]


def _by_student(entries: list[Entry], wanted: Wanted, others: Others) -> list[HandIn]:
    """The first folder is the student; a loose notebook or zip is named after its file."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        student = _student(entry)
        if student is not None:
            groups.setdefault(student, []).append(entry)
    return [_hand_in(student, groups[student], wanted, others) for student in sorted(groups)]


def _student(entry: Entry) -> str | None:
    if len(entry.parts) > 1 or (entry.kind == FOLDER and not entry.notebook_stem):
        return entry.parts[0]
    stem = entry.notebook_stem or entry.zip_stem
    if stem is None and entry.kind == LINK and "." not in entry.name:
        return entry.name  # a link where a student's folder should be
    return stem


def _hand_in(student: str, entries: list[Entry], wanted: Wanted, others: Others) -> HandIn:
    """Pick the notebook of one student, or say why there is none."""
    remarks: list[str] = []
    if not any(e.is_notebook for e in entries):
        entries = entries + _unzipped(entries, remarks)
    choice = choose(entries, wanted, remarks)
    if name := _another(choice, wanted, others):
        return HandIn(student, BROKEN, f"{ANOTHER} {name}", None, [*remarks, *choice.remarks])
    read = choice.entry.read if choice.entry else None
    return HandIn(student, choice.status, choice.reason, read, [*remarks, *choice.remarks])


def _another(choice: Choice, wanted: Wanted, others: Others) -> str | None:
    """The module that a notebook is of, where no cell is of the one that is wanted alone: modules
    may share the names of some."""
    if choice.entry is None or not wanted.grade_ids or holds(choice.entry, wanted.grade_ids):
        return None
    for other in others():
        own = tuple(i for i in wanted.grade_ids if i not in other.grade_ids)
        if own and holds(choice.entry, other.grade_ids) and not share(choice.entry, own):
            return other.name
    return None


def _unzipped(entries: list[Entry], remarks: list[str]) -> list[Entry]:
    """What lies in a student's own zips (one level), as if it lay beside them."""
    found: list[Entry] = []
    for entry in entries:
        if entry.zip_stem is None:
            continue
        passed: list[Passed] = []
        try:
            inner = inside(entry, passed, Budget())
        except UserError as error:
            remarks.append(f"{entry.shown}: {error.message}")
            continue
        remarks += [str(p) for p in passed if not p.litter]
        found += [e.at(entry.parts[0], *e.parts[len(entry.parts) :]) for e in inner]
    return found
