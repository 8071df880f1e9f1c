"""Every hand-in as it came: one folder each, with a note of what it is; nothing is written over.

inbox/MODULE/STUDENT/2026-12-01_225900/handin.json, files/...
inbox/_unmatched/FOUND/...          of which nobody knows yet whose, or of which module

A person sets one hand-in aside by putting _ before its folder's name: it stays and counts no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.files import write_atomic
from tito.grading.collect.names import safe_paths
from tito.grading.collect.rows import ASIDE
from tito.grading.collect.sources import FILE, Entry
from tito.grading.judge.result import BROKEN

NOTE, FILES = "handin.json", "files"
VERSION = 1
_NEW, SET_ASIDE = ".new-", "_"
# The files of a hand-in, by their path in it.
Contents = dict[tuple[str, ...], bytes]
MOST_FILES, MOST_BYTES = 2000, 300 << 20


@dataclass
class Record:
    """handin.json.

    key : hash of what was handed in and of what the platform says about it
    found, platform, name, canvas_id, moodle_id : whose it is, as the source says
    handed_in, time_from : when, and who says so ("platform", "you", "file" or "")
    late : the platform marks it late
    file, number, upload : which upload of which file, as Canvas counts
    notebook : the file below files/ that is graded; None where there is none
    status, problem : "graded" where it can be, else why there is none or it cannot be read
    files : {"path": its name in the hand-in, "kept": where below files/, "sha256", "bytes"}
    left_out : what is not kept, with the reason
    """

    key: str
    module: str
    found: str
    platform: str
    source: str
    collected_at: str
    student: str = ""
    name: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    handed_in: str = ""
    time_from: str = ""
    late: bool = False
    file: str = ""
    number: int = 0
    upload: int = 0
    notebook: str | None = None
    status: str = ""
    problem: str | None = None
    remarks: list[str] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    folder: Path | None = None

    @property
    def at(self) -> datetime | None:
        return datetime.fromisoformat(self.handed_in) if self.handed_in else None

    @property
    def set_aside(self) -> bool:
        """Whether a person has renamed its folder."""
        return self.folder is not None and self.folder.name.startswith(SET_ASIDE)

    def to_json(self) -> str:
        document = {"version": VERSION, **asdict(self)}
        del document["folder"]
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def content_key(record: Record) -> str:
    """What makes a hand-in another one. The time a file was saved does not: copying changes it."""
    said = record.handed_in if record.time_from == "platform" else ""
    files = sorted((f["path"], f["sha256"]) for f in record.files)
    what = [record.platform, said, record.file, record.number, record.upload, files]
    what.append(sorted(record.left_out))
    return hashlib.sha256(json.dumps(what).encode("ascii")).hexdigest()


def records(folder: Path) -> list[Record]:
    """The hand-ins kept in a folder, in the order in which they were collected."""
    found = []
    for note in folder.glob(f"*/{NOTE}"):
        record = read_record(note)
        if record is not None and not note.parent.name.startswith(_NEW):
            record.status = ASIDE if record.set_aside else record.status
            found.append(record)
    return sorted(found, key=lambda r: (r.collected_at, r.folder.name))


def read_record(note: Path) -> Record | None:
    """A note; None where there is none that can be read."""
    try:
        document = json.loads(note.read_bytes())
        if document.pop("version") != VERSION:
            return None
        return Record(**document, folder=note.parent)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def counting(history: list[Record]) -> list[Record]:
    """Without what a person has set aside."""
    return [r for r in history if not r.set_aside]


def newest(history: list[Record]) -> Record | None:
    """The hand-in that counts: of those that can be read the last, by the platform's count, else
    by time, else by the order in which they were collected. A broken one counts where no other
    has a notebook: a torn upload does not take away what was handed in before it."""
    with_notebook = [r for r in counting(history) if r.notebook is not None]
    readable = [r for r in with_notebook if r.status != BROKEN]
    return reduce(_later, readable or with_notebook) if with_notebook else None


def newer_in_trouble(history: list[Record], best: Record | None) -> list[Record]:
    """What came later than the hand-in that counts, and cannot be graded."""
    counted = counting(history)
    at = next((i for i, r in enumerate(counted) if r is best), -1)
    return [
        r
        for i, r in enumerate(counted)
        if r is not best
        and (i > at if r.notebook is None else _is_newer_and_broken(r, best, i > at))
    ]


def _is_newer_and_broken(record: Record, best: Record, collected_later: bool) -> bool:
    if record.status != BROKEN:
        return False
    pair = (best, record) if collected_later else (record, best)
    return _later(*pair) is record


def trouble(history: list[Record]) -> tuple[str, str] | None:
    """(status, why) of the hand-in that counts where it cannot be graded, or of a later one."""
    best = newest(history)
    if best is not None and best.status == BROKEN:
        return BROKEN, best.problem or ""
    later = newer_in_trouble(history, best)
    if not later:
        return None
    note = f"; the earlier hand-in counts ({how_to_choose(best)})" if best is not None else ""
    return later[-1].status, (later[-1].problem or "") + note


def how_to_choose(best: Record) -> str:
    """How a person decides that another hand-in counts."""
    folder = f"{best.module}/{best.student}/{best.folder.name if best.folder else '...'}"
    return f"if it should not: rename inbox/{folder} to begin with _, then tito grade collect \
--module {best.module}"


def _later(one: Record, other: Record) -> Record:
    """The later one of two; `other` was collected later."""
    if one.platform == other.platform and one.upload and other.upload:
        if one.file == other.file:
            keys = [(r.number, r.upload) for r in (one, other)]
        else:
            keys = [(r.upload, r.number) for r in (one, other)]
    elif one.at and other.at:
        keys = [r.at for r in (one, other)]
    else:
        return other
    return one if keys[0] > keys[1] else other


def notebook_of(record: Record) -> bytes:
    """The notebook that is graded."""
    return (record.folder / FILES / record.notebook).read_bytes()


def notebook_digest(record: Record) -> str | None:
    """Its sha256, as it was when it was collected."""
    return next((f["sha256"] for f in record.files if f["kept"] == record.notebook), None)


# -- keeping


def read_files(entries: list[Entry], record: Record) -> Contents:
    """Read the files of a hand-in and note them; their bytes by path, for `keep`."""
    contents: Contents = {}
    room = MOST_BYTES
    for entry in entries:
        path = entry.parts[1:] or entry.parts
        if entry.kind != FILE:
            if entry.kind != "folder":
                record.left_out.append(f"{entry.shown}: {_KINDS[entry.kind]}")
            continue
        try:
            data = entry.read()
        except UserError as error:
            record.left_out.append(f"{entry.shown}: {error.message}")
            continue
        if len(contents) >= MOST_FILES or len(data) > room:
            record.left_out.append(f"{entry.shown}: too much for one hand-in")
            continue
        room -= len(data)
        contents[path] = data
    kept = safe_paths(contents)
    record.files = [
        {
            "path": "/".join(path),
            "kept": kept[path],
            "sha256": hashlib.sha256(data).hexdigest(),
            "bytes": len(data),
        }
        for path, data in contents.items()
    ]
    return contents


_KINDS = {"link": "a link, not followed", "special": "not a regular file"}


def keep(record: Record, contents: Contents, folder: Path) -> Record:
    """Write a hand-in below `folder`: whole, or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{_NEW}{record.key[:16]}"
    shutil.rmtree(new, ignore_errors=True)
    names = {f["path"]: f["kept"] for f in record.files}
    for path, data in contents.items():
        target = new / FILES / names["/".join(path)]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    new.mkdir(exist_ok=True)
    write_atomic(new / NOTE, record.to_json())
    record.folder = _free(folder, record)
    os.replace(new, record.folder)
    return record


def rewrite(record: Record) -> None:
    """Write what became known of a hand-in later to its note."""
    write_atomic(record.folder / NOTE, record.to_json())


def set_aside(record: Record) -> None:
    """It counts no more."""
    target = record.folder.with_name(SET_ASIDE + record.folder.name)
    os.replace(record.folder, target)
    record.folder, record.status = target, ASIDE


def move(record: Record, folder: Path) -> None:
    """A hand-in whose owner became known: to its place."""
    folder.mkdir(parents=True, exist_ok=True)
    old, target = record.folder, _free(folder, record)
    os.replace(old, target)
    record.folder = target
    if not any(old.parent.iterdir()):
        old.parent.rmdir()


def _free(folder: Path, record: Record) -> Path:
    """A name from the time of the hand-in that is not taken."""
    time = record.at or datetime.fromisoformat(record.collected_at)
    stamp = time.strftime("%Y-%m-%d_%H%M%S")
    for name in _numbered(stamp):
        if not (folder / name).exists():
            return folder / name
    raise AssertionError  # _numbered does not end


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
