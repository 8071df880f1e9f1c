"""Files that belong to somebody: written whole or not at all, backed up before replacement."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from datetime import datetime
from pathlib import Path

from tito.errors import UsageError, UserError


def write_atomic(path: Path, content: str | bytes) -> bool:
    """Write `content` to `path` in one step; True if the file changed.

    Text is written as UTF-8 with the line ends it has. A reader sees the old file or the new
    one, never half of it; a file that already holds `content` is not touched.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    path = Path(path)
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target: os.replace is atomic only within one file system.
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return True


def torn(path: Path) -> list[Path]:
    """What processes that were killed while they wrote `path` have left beside it."""
    # The names that tempfile makes up, and SQLite's own files beside such a one.
    name = re.compile(re.escape(f".{path.name}.") + r"[a-z0-9_]{8}(-journal|-wal|-shm)?")
    if not path.parent.is_dir():
        return []
    return [p for p in path.parent.iterdir() if name.fullmatch(p.name) and not p.is_dir()]


def remove_torn(path: Path) -> None:
    """Delete that. Nobody else may be writing `path` now."""
    for left in torn(path):
        left.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The file's own permissions, or what the umask gives a new one."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def back_up(path: Path, folder: Path) -> Path:
    """Copy `path` into `folder` under a name with the time of the copy; an older copy stays."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now().strftime("%Y-%m-%d_%H%M%S")
    for number in range(1000):
        suffix = f"-{number}" if number else ""
        target = folder / f"{path.stem}.{stamp}{suffix}{path.suffix}"
        if not target.exists():
            write_atomic(target, path.read_bytes())
            return target
    raise UserError("a thousand backups within one second", path=folder)


def read_text(path: Path) -> tuple[str, list[str]]:
    """The text of a file and remarks on how it had to be read; see `decode`."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError("no such file", path=path) from None
    except IsADirectoryError:
        raise UsageError("this is a folder, a file was wanted", path=path) from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", path=path) from None
    return decode(data)


def decode(data: bytes) -> tuple[str, list[str]]:
    """Bytes of any editor to text with `\\n` line ends, and remarks for the report.

    UTF-8 with or without a byte-order mark, UTF-16 with one, else Latin-1.
    """
    notes: list[str] = []
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text, encoding = data.decode("utf-16", errors="replace"), "UTF-16"
    else:
        try:
            text, encoding = data.decode("utf-8-sig"), None
        except UnicodeDecodeError:
            text, encoding = data.decode("latin-1"), "Latin-1"
    if encoding:
        notes.append(f"the file was read as {encoding}; save it as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes
