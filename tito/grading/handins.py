"""Hand-ins as they come: folders, zips, nbgrader's tree, downloads of a learning platform.

Nothing is unpacked and no link is followed: a zip is read entry by entry, a name never becomes a
path to write to. Whatever is found becomes one row for each student, with the reason where there
is nothing to grade.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tito.errors import UsageError, UserError
from tito.grading.judge.result import AMBIGUOUS, BROKEN, GRADED, MISSING
from tito.grading.judge.submission import MAX_BYTES

FILE, LINK, FOLDER, SPECIAL = "file", "link", "folder", "special"
# A browser adds .txt or .json to what it takes for text.
_NOTEBOOK = re.compile(r"(?P<stem>.+)\.ipynb(\.txt|\.json)?", re.IGNORECASE)
_ZIP = re.compile(r"(?P<stem>.+)\.zip", re.IGNORECASE)
_SKIPPED = ("__MACOSX", "__pycache__")
_DRIVE = re.compile(r"[A-Za-z]:")
NBGRADER_TREE = "submitted"


@dataclass(frozen=True)
class Entry:
    """A file, folder or link below HANDINS: its path as parts, and how to read it."""

    parts: tuple[str, ...]
    kind: str
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def shown(self) -> str:
        """The path below the student's folder."""
        return "/".join(self.parts[1:]) or self.name

    @property
    def notebook_stem(self) -> str | None:
        match = _NOTEBOOK.fullmatch(self.name)
        return match["stem"] if match else None

    @property
    def zip_stem(self) -> str | None:
        match = _ZIP.fullmatch(self.name)
        return match["stem"] if match and self.kind == FILE else None


@dataclass
class HandIn:
    """What one student handed in. `status` is "graded" while there is a notebook to grade."""

    student: str
    status: str = GRADED
    reason: str | None = None
    read: Callable[[], bytes] | None = None
    remarks: list[str] = field(default_factory=list)


@dataclass
class Wanted:
    """The module whose notebook is looked for: its name, its grade_ids, its own file."""

    name: str
    grade_ids: tuple[str, ...] = ()
    master: Path | None = None


@dataclass
class Found:
    """All hand-ins, by student, and what was passed over on the way."""

    handins: list[HandIn]
    notes: list[str]


def find_handins(path: Path, wanted: Wanted) -> Found:
    """The hand-ins in a folder, a zip or a single notebook; UsageError for a missing path."""
    if not path.exists():
        raise UsageError("no such file or folder", path=path)
    notes: list[str] = []
    if path.is_dir():
        entries = list(_folder(path, (), wanted))
    elif zipfile.is_zipfile(path) or path.suffix.lower() == ".zip":
        entries = _with_zip_as_student(path, _zip_entries(path, notes))
    elif _NOTEBOOK.fullmatch(path.name):
        entries = [Entry((path.name,), FILE, lambda: _read_file(path))]
    else:
        raise UsageError("neither a folder, a zip nor a notebook (.ipynb)", path=path)
    entries = _inside_wrapper(entries, path, wanted)
    return Found(_by_student(entries, wanted), notes)


# -- walking folders and zips


def _folder(root: Path, above: tuple[str, ...], wanted: Wanted) -> Iterable[Entry]:
    try:
        found = sorted(os.scandir(root), key=lambda e: e.name)
    except OSError as error:
        reason = error.strerror
        yield Entry((*above, "(unreadable)"), SPECIAL, lambda: _refuse(f"cannot be read: {reason}"))
        return
    for item in found:
        if _skipped(item.name) or _is_master(item, wanted):
            continue
        parts, path = (*above, _printable(item.name)), Path(item.path)
        kind = _kind(item)
        yield Entry(parts, kind, lambda path=path: _read_file(path))
        if kind == FOLDER:
            yield from _folder(path, parts, wanted)


def _printable(name: str) -> str:
    """A name that can stand in any report: odd bytes and control characters as "?"."""
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "?" for c in name)


def _skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def _is_master(item: os.DirEntry, wanted: Wanted) -> bool:
    if wanted.master is None or item.is_symlink():
        return False
    try:
        return os.path.samefile(item.path, wanted.master)
    except OSError:
        return False


def _kind(item: os.DirEntry) -> str:
    if item.is_symlink() or (hasattr(item, "is_junction") and item.is_junction()):
        return LINK
    if item.is_dir(follow_symlinks=False):
        return FOLDER
    return FILE if item.is_file(follow_symlinks=False) else SPECIAL


def _read_file(path: Path) -> bytes:
    """A regular file's bytes; neither a link nor a pipe that waits for ever is opened."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        _refuse(f"cannot be read: {error.strerror}")
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            _refuse("not a regular file")
        if status.st_size > MAX_BYTES:
            _refuse(f"the file is larger than {MAX_BYTES >> 20} MB")
        return file.read()


def _refuse(why: str) -> bytes:
    raise UserError(why)


def _zip_entries(file: Path | io.BytesIO, notes: list[str]) -> list[Entry]:
    """The entries of a zip; those whose names lead out of it are left out and named."""
    try:
        archive = zipfile.ZipFile(file)
        infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UserError(f"no zip that can be read: {error}") from None
    entries: dict[tuple[str, ...], Entry] = {}
    for info in infos:
        parts = _safe_parts(info.filename)
        if parts is None:
            notes.append(f"{info.filename[:80]!r}: leads out of the zip, left out")
            continue
        if not parts or any(_skipped(part) for part in parts):
            continue
        for depth in range(1, len(parts)):
            entries.setdefault(parts[:depth], Entry(parts[:depth], FOLDER, _no_file))
        kind = _zip_kind(info)
        entries[parts] = Entry(parts, kind, lambda i=info: _read_zipped(archive, i))
    return list(entries.values())


def _safe_parts(name: str) -> tuple[str, ...] | None:
    """The path of an entry as parts; None where it is absolute or climbs."""
    name = name.replace("\\", "/")
    parts = tuple(_printable(p) for p in name.split("/") if p not in ("", "."))
    if name.startswith("/") or ".." in parts or (parts and _DRIVE.match(parts[0])):
        return None
    return parts


def _zip_kind(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return LINK
    if info.is_dir() or info.filename.endswith("\\"):
        return FOLDER
    return FILE if not stat.S_IFMT(mode) or stat.S_ISREG(mode) else SPECIAL


def _read_zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as file:
            data = file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, RuntimeError, OSError, ValueError, EOFError) as error:
        _refuse(f"cannot be read from the zip: {error}")
    except Exception as error:  # zlib, lzma and bz2 have errors of their own
        _refuse(f"cannot be read from the zip: {type(error).__name__}")
    if len(data) > MAX_BYTES:
        _refuse(f"the file is larger than {MAX_BYTES >> 20} MB")
    return data


def _no_file() -> bytes:
    return _refuse("a folder, not a file")


# -- whose is it


def _with_zip_as_student(path: Path, entries: list[Entry]) -> list[Entry]:
    """A zip with one notebook at its top is one student's: named after the zip."""
    loose = [e for e in entries if len(e.parts) == 1 and e.notebook_stem and e.kind == FILE]
    if len(loose) != 1 or any(e.notebook_stem for e in entries if len(e.parts) > 1):
        return entries
    return [Entry((path.stem, *e.parts), e.kind, e.read) for e in entries]


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
    return [
        Entry(e.parts[1:], e.kind, e.read)
        for e in entries
        if e.parts[0] == top and len(e.parts) > 1
    ]


def _by_student(entries: list[Entry], wanted: Wanted) -> list[HandIn]:
    """The first folder is the student; a loose notebook or zip is named after its file."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        student = _student(entry)
        if student is not None:
            groups.setdefault(student, []).append(entry)
    return [_hand_in(student, groups[student], wanted) for student in sorted(groups)]


def _student(entry: Entry) -> str | None:
    if len(entry.parts) > 1 or (entry.kind == FOLDER and not entry.notebook_stem):
        return entry.parts[0]
    stem = entry.notebook_stem or entry.zip_stem
    if stem is None and entry.kind == LINK and "." not in entry.name:
        return entry.name  # a link where a student's folder should be
    return stem


def _hand_in(student: str, entries: list[Entry], wanted: Wanted) -> HandIn:
    """Pick the notebook of one student, or say why there is none."""
    handin = HandIn(student)
    own = [e for e in entries if not (e.kind == FOLDER and len(e.parts) == 1)]
    if not any(_is_notebook(e) for e in own):
        own += _unzipped(own, handin)
    handin.remarks += [f"{e.shown}: a link, not followed" for e in own if e.kind == LINK]
    candidates = [e for e in own if _is_notebook(e)]
    if not candidates:
        return _nothing(handin, own, entries)
    chosen = candidates[0] if len(candidates) == 1 else _choose(candidates, wanted)
    if chosen is None:
        names = ", ".join(sorted(e.shown for e in candidates)[:5])
        handin.status, handin.reason = AMBIGUOUS, f"several notebooks, none is clearly it: {names}"
        return handin
    _name_remarks(handin, chosen, candidates, wanted)
    handin.read = chosen.read
    return handin


def _is_notebook(entry: Entry) -> bool:
    return entry.notebook_stem is not None and entry.kind == FILE


def _unzipped(entries: list[Entry], handin: HandIn) -> list[Entry]:
    """What lies in a student's own zips (one level)."""
    found: list[Entry] = []
    for entry in entries:
        if entry.zip_stem is None:
            continue
        try:
            inner = _zip_entries(io.BytesIO(entry.read()), handin.remarks)
        except UserError as error:
            handin.remarks.append(f"{entry.shown}: {error.message}")
            continue
        found += [Entry((handin.student, *e.parts), e.kind, e.read) for e in inner]
    return found


def _nothing(handin: HandIn, own: list[Entry], entries: list[Entry]) -> HandIn:
    """No notebook: broken where something stands under its name, else missing."""
    for entry in (*own, *entries):
        if entry.notebook_stem and entry.kind == FOLDER:
            handin.status, handin.reason = BROKEN, f"{entry.shown} is a folder, not a notebook"
            return handin
        if entry.kind == LINK and (entry.notebook_stem or len(entry.parts) == 1):
            handin.status, handin.reason = BROKEN, f"{entry.shown} is a link, not followed"
            return handin
        if entry.kind == SPECIAL:
            handin.status, handin.reason = BROKEN, f"{entry.shown} is not a regular file"
            return handin
    if any(e.zip_stem for e in own) and handin.remarks:
        handin.status, handin.reason = BROKEN, handin.remarks[0]
        return handin
    there = sorted(e.shown for e in own if e.kind == FILE)
    there += [f"{e.shown}, a link that was not followed" for e in own if e.kind == LINK]
    what = f" (there is {', '.join(there[:4])})" if there else ""
    handin.status, handin.reason = MISSING, f"no notebook was handed in{what}"
    return handin


def _choose(candidates: list[Entry], wanted: Wanted) -> Entry | None:
    """Of several notebooks the module's: by name, by folder and name, by the grade_ids inside."""
    named = [e for e in candidates if e.notebook_stem == wanted.name]
    if len(named) == 1:
        return named[0]
    in_folder = [e for e in named or candidates if wanted.name in e.parts[:-1]]
    if len(in_folder) == 1:
        return in_folder[0]
    holding = [e for e in named or candidates if _holds(e, wanted.grade_ids)]
    return holding[0] if len(holding) == 1 else None


def _holds(entry: Entry, grade_ids: tuple[str, ...]) -> bool:
    """Whether at least half of the module's grade_ids stand in the file. It is not parsed."""
    try:
        data = entry.read()
    except UserError:
        return False
    there = sum(json.dumps(i).encode("ascii") in data for i in grade_ids)
    return bool(grade_ids) and there * 2 >= len(grade_ids)


def _name_remarks(handin: HandIn, chosen: Entry, all_: list[Entry], wanted: Wanted) -> None:
    loose = len(chosen.parts) == 1  # named after the student, as it should be
    if chosen.notebook_stem != wanted.name and not loose:
        handin.remarks.append(f"{chosen.shown}: taken, though it is not named {wanted.name}.ipynb")
    others = sorted(e.shown for e in all_ if e is not chosen)
    if others:
        handin.remarks.append(f"not looked at: {', '.join(others[:5])}")
