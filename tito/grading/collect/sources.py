"""What lies in a folder, a zip or a single file, without unpacking it or following a link.

A zip is read entry by entry, a name never becomes a path to write to, and what is passed over is
named with its reason.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import BinaryIO

from tito.errors import UsageError, UserError
from tito.grading.judge.submission import MAX_BYTES

FILE, LINK, FOLDER, SPECIAL = "file", "link", "folder", "special"
# A browser adds .txt or .json to what it takes for text.
NOTEBOOK = re.compile(r"(?P<stem>.+)\.ipynb(\.txt|\.json)?", re.IGNORECASE)
_ZIP = re.compile(r"(?P<stem>.+)\.zip", re.IGNORECASE)
_SKIPPED = ("__MACOSX", "__pycache__")
# Folders within folders. A name in a zip can hold 32,000 of them.
DEEPEST = 100
_TOO_DEEP = f"folders within {DEEPEST} folders, left out"
_DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True)
class Entry:
    """A file, folder or link of a source: its path as parts, and how to read it.

    time : when it was saved, as the folder or zip has it; an outer zip's time stands for all in it
    """

    parts: tuple[str, ...]
    kind: str
    read: Callable[[], bytes]
    time: datetime | None = None
    open: Callable[[], BinaryIO] | None = None
    moved_from: str = ""

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def path(self) -> str:
        """Where it lies in the source."""
        return self.moved_from or "/".join(self.parts)

    @property
    def shown(self) -> str:
        """The path below the student's folder."""
        return "/".join(self.parts[1:]) or self.name

    @property
    def notebook_stem(self) -> str | None:
        match = NOTEBOOK.fullmatch(self.name)
        return match["stem"] if match else None

    @property
    def zip_stem(self) -> str | None:
        match = _ZIP.fullmatch(self.name)
        return match["stem"] if match and self.kind == FILE else None

    @property
    def is_notebook(self) -> bool:
        return self.kind == FILE and self.notebook_stem is not None

    def at(self, *parts: str) -> Entry:
        """The same entry under another path."""
        return replace(self, parts=parts, moved_from=self.path)


@dataclass(frozen=True)
class Passed:
    """Something that is no part of a hand-in. What editors and systems leave behind is `litter`."""

    path: str
    why: str
    litter: bool = False

    def __str__(self) -> str:
        return f"{self.path[:80]!r}: {self.why}"


@dataclass
class Budget:
    """How much one hand-in may make us unpack. A bomb is refused when it is through."""

    depth: int = 3
    zips: int = 50
    entries: int = 5000
    unpacked: int = 3 * MAX_BYTES

    def take_zip(self) -> None:
        """Before it is read: what is spent costs no more reading."""
        self.zips -= 1
        self.take_bytes(0)

    def take_bytes(self, size: int) -> None:
        self.unpacked -= size
        if self.zips < 0 or self.unpacked < 0:
            refuse("there is too much in the zips of this hand-in")

    def take_entries(self, count: int) -> None:
        self.entries -= count
        if self.entries < 0:
            refuse("there are too many files in the zips of this hand-in")


Skip = Callable[[os.DirEntry], bool]


def read_source(path: Path, passed: list[Passed], skip: Skip | None = None) -> list[Entry]:
    """Everything below a folder or in a zip, or one notebook; zips in it are files still.

    skip : says which files of a folder are not to be seen at all
    """
    if not path.exists():
        raise UsageError("no such file or folder", path=path)
    if path.is_dir():
        return list(_folder(path, (), passed, skip))
    time = _file_time(path.stat())
    if zipfile.is_zipfile(path) or path.suffix.lower() == ".zip":
        return _zip_entries(_whole_file(path), (), passed)
    if NOTEBOOK.fullmatch(path.name):
        return [Entry((printable(path.name),), FILE, lambda: _read_file(path), time)]
    raise UsageError("neither a folder, a zip nor a notebook (.ipynb)", path=path)


def inside(entry: Entry, passed: list[Passed], budget: Budget | None = None) -> list[Entry]:
    """What lies in a zip that is an entry itself, below its path; UserError where it cannot be
    read or is too much."""
    if entry.open is not None and budget is None:
        return _zip_entries(_opened(entry.open), entry.parts, passed)
    budget = budget or Budget()
    budget.take_zip()
    data = entry.read()
    budget.take_bytes(len(data))
    _refuse_large_directory(data)
    found = _zip_entries(_read_again(entry.read), entry.parts, passed, entry.time)
    budget.take_entries(len(found))
    return found


def unpacked(entries: list[Entry], passed: list[Passed], budget: Budget) -> Iterator[Entry]:
    """The entries of one hand-in, zips as folders of their name; what cannot be read is named."""
    waiting = [(entry, 0) for entry in entries]
    while waiting:
        entry, depth = waiting.pop(0)
        yield entry
        if entry.zip_stem is None:
            continue
        try:
            if depth >= budget.depth:
                refuse(f"a zip within {depth} zips, not opened")
            inner = inside(entry, passed, budget)
        except UserError as error:
            passed.append(Passed(entry.path, error.message))
        else:
            waiting[:0] = [(e, depth + 1) for e in inner]


def refuse(why: str) -> bytes:
    raise UserError(why)


def printable(name: str) -> str:
    """A name that can stand in any report: odd bytes and control characters as "?"."""
    name = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "?" for c in name)


def _skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


# -- folders


def _folder(
    root: Path, above: tuple[str, ...], passed: list[Passed], skip: Skip | None
) -> Iterator[Entry]:
    try:
        found = sorted(os.scandir(root), key=lambda e: e.name)
    except OSError as error:
        reason = error.strerror
        yield Entry((*above, "(unreadable)"), SPECIAL, lambda: refuse(f"cannot be read: {reason}"))
        return
    for item in found:
        parts, path = (*above, printable(item.name)), Path(item.path)
        if _skipped(item.name):
            passed.append(Passed("/".join(parts), "left by a system or an editor", litter=True))
            continue
        if skip is not None and skip(item):
            continue
        kind = _kind(item)
        opener = (lambda path=path: _open_file(path)) if kind == FILE else None
        yield Entry(parts, kind, lambda path=path: _read_file(path), _item_time(item), opener)
        if kind == FOLDER and len(parts) >= DEEPEST:
            passed.append(Passed("/".join((*parts[:4], "...")), _TOO_DEEP))
        elif kind == FOLDER:
            yield from _folder(path, parts, passed, skip)


def _kind(item: os.DirEntry) -> str:
    if item.is_symlink() or (hasattr(item, "is_junction") and item.is_junction()):
        return LINK
    if item.is_dir(follow_symlinks=False):
        return FOLDER
    return FILE if item.is_file(follow_symlinks=False) else SPECIAL


def _item_time(item: os.DirEntry) -> datetime | None:
    try:
        return _file_time(item.stat(follow_symlinks=False))
    except OSError:
        return None


def _file_time(status: os.stat_result) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(status.st_mtime), timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None


def _open_file(path: Path) -> BinaryIO:
    """A regular file, opened; neither a link nor a pipe that waits for ever."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        refuse(f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        refuse("not a regular file")
    return os.fdopen(handle, "rb")


def _read_file(path: Path) -> bytes:
    with _open_file(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            refuse(f"the file is larger than {MAX_BYTES >> 20} MB")
        return file.read()


# -- zips

_Opener = Callable[[], zipfile.ZipFile]


def _zip_entries(
    archive: _Opener, above: tuple[str, ...], passed: list[Passed], time: datetime | None = None
) -> list[Entry]:
    """The entries of a zip; those whose names lead out of it are left out and named."""
    entries: dict[tuple[str, ...], Entry] = {}
    for number, info in enumerate(archive().infolist()):
        inner = _safe_parts(_zip_name(info))
        if inner is None:
            passed.append(Passed(printable(info.filename), "leads out of the zip, left out"))
            continue
        parts = (*above, *inner)
        if not inner or any(_skipped(part) for part in inner):
            if inner and not info.is_dir():
                passed.append(Passed("/".join(parts), "left by a system or an editor", litter=True))
            continue
        if len(inner) > DEEPEST:
            passed.append(Passed("/".join((*above, *inner[:3], "...")), _TOO_DEEP))
            continue
        for depth in range(len(above) + 1, len(parts)):
            entries.setdefault(parts[:depth], Entry(parts[:depth], FOLDER, _no_file))
        if parts in entries and entries[parts].kind != FOLDER:
            passed.append(Passed("/".join(parts), "stands twice in the zip, the last one counts"))
        read = _reader(archive, number)
        entries[parts] = Entry(parts, _zip_kind(info), read, time or _zip_time(info))
    return list(entries.values())


def _whole_file(path: Path) -> _Opener:
    """The zip that a person named, kept open."""
    try:
        return _opened(lambda: open(path, "rb"))
    except UserError as error:
        hint = "download it again; or unpack it yourself, and name the folder"
        raise UserError(error.message, path=path, hint=hint) from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", path=path) from None


def _opened(source: Callable[[], BinaryIO]) -> _Opener:
    archive = _open_zip(source())
    return lambda: archive


def _read_again(read: Callable[[], bytes]) -> _Opener:
    """A zip inside another thing. Not all of a class's zips are held in memory at once."""
    key = object()

    def opener() -> zipfile.ZipFile:
        if key not in _lately:
            _lately[key] = _open_zip(io.BytesIO(read()))
            while len(_lately) > 4:
                _lately.popitem(last=False)
        _lately.move_to_end(key)
        return _lately[key]

    return opener


_lately: OrderedDict[object, zipfile.ZipFile] = OrderedDict()


def _open_zip(file: BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UserError(f"no zip that can be read: {error}") from None
    except Exception as error:  # struct and codecs have errors of their own
        raise UserError(f"no zip that can be read: {type(error).__name__}") from None


_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_LARGEST_DIRECTORY = 4 << 20


def _refuse_large_directory(data: bytes) -> None:
    """A student's zip whose list of names alone would fill the memory."""
    at = data.rfind(_END, max(0, len(data) - (1 << 16) - 22))
    if at < 0 or at + 22 > len(data):
        return  # no zip: said when it is opened
    (size,) = struct.unpack_from("<L", data, at + 12)
    if size > _LARGEST_DIRECTORY or data[max(0, at - 20) :].startswith(_END_64):
        refuse("there are too many files in the zip")


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name of an entry; packers that do not say so write UTF-8 all the same."""
    if info.flag_bits & 0x800 or info.filename.isascii():
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return info.filename


def _safe_parts(name: str) -> tuple[str, ...] | None:
    """The path of an entry as parts; None where it is absolute or climbs."""
    name = name.replace("\\", "/")
    parts = tuple(printable(p) for p in name.split("/") if p not in ("", "."))
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


def _zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """The time in a zip: with its zone where the packer wrote one, else this machine's."""
    extra = info.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and extra[4] & 1:
            (seconds,) = struct.unpack_from("<l", extra, 5)
            return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
        extra = extra[4 + size :]
    if info.date_time[0] <= 1980:  # nobody wrote one
        return None
    try:
        return datetime(*info.date_time).astimezone().astimezone(timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None


def _reader(archive: _Opener, number: int) -> Callable[[], bytes]:
    return lambda: _read_zipped(archive(), number)


def _read_zipped(archive: zipfile.ZipFile, number: int) -> bytes:
    info = archive.infolist()[number]
    if info.flag_bits & 1:
        refuse("it is locked with a password")
    try:
        with archive.open(info) as file:
            data = file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, RuntimeError, OSError, ValueError, EOFError) as error:
        refuse(f"cannot be read from the zip: {error}")
    except Exception as error:  # zlib, lzma and bz2 have errors of their own
        refuse(f"cannot be read from the zip: {type(error).__name__}")
    if len(data) > MAX_BYTES:
        refuse(f"the file is larger than {MAX_BYTES >> 20} MB")
    return data


def _no_file() -> bytes:
    return refuse("a folder, not a file")


def read_kept(parts: tuple[str, ...], path: Path) -> Entry:
    """A file of the inbox under the name it was handed in by."""
    return Entry(parts, FILE, lambda: _read_file(path), open=lambda: _open_file(path))
