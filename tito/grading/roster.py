"""Who is in the class: roster.csv as spreadsheets write it, and ids that can name folders."""

from __future__ import annotations

import csv
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tito.errors import Problems, UserError
from tito.near import nearest

COLUMNS = ("id", "name", "email", "group", "canvas_id", "moodle_id")
LONGEST = 64
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")
# Names that Windows takes for devices, with any ending: nul.txt is one too.
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d) *(\..*)?", re.I | re.S)
# Between what can be read of a name and its hash. It stands in no plain id, so that a made id
# never equals a given one.
_MARK = "~"
# What a spreadsheet makes of a long number: 1.23457E+11. The digits are lost.
_ROUNDED = re.compile(r"\d[.,]\d+E\+\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Student:
    """One line of the roster.

    id : names the student's folders and the student in the grade book; safe on every system
    given_id : the id as it stands in roster.csv
    """

    id: str
    name: str = ""
    email: str = ""
    group: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    given_id: str = ""
    line: int = 0


def is_plain(given: str) -> bool:
    """Whether an id can name a folder everywhere as it is."""
    return (
        len(given) <= LONGEST
        and _PLAIN.fullmatch(given) is not None
        and not given.endswith(".")
        and not is_device(given)
    )


def is_device(name: str) -> bool:
    """Whether Windows takes the name for a device."""
    return _DEVICES.fullmatch(name) is not None


def folder_id(given: str) -> str:
    """The id that names folders: the given one where it is plain, else a readable part and a hash.

    It depends on the id alone (in NFC, without blanks around it), so that it never changes when
    the roster does.

    >>> folder_id("s01"), folder_id("Zoë Müller")
    ('s01', 'zoe-muller~d6e575a6b5')
    """
    given = _normal(given)
    return given if is_plain(given) else _marked(given)


def _marked(given: str) -> str:
    digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{readable(given)}{_MARK}{digest}"


def readable(text: str, longest: int = 40) -> str:
    """The letters and digits of a name in lower case ASCII, for people; not unique."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:longest].strip("-") or "student"


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def read_roster(path: Path) -> list[Student]:
    """The students of roster.csv, in its order; Problems name every line that must be mended."""
    header, lines = _table(path)
    problems = list(_too_long(path, header, lines))
    if not problems:  # what a comma has moved to another column is no further mistake
        rows = [(number, _row(header, values)) for number, values in lines if any(values)]
        problems = [*_bad_ids(path, rows), *_repeated(path, rows)]
    if problems:
        raise Problems(problems)
    return _students(rows)


def _students(rows: list[tuple[int, dict[str, str]]]) -> list[Student]:
    """Folders of ids that differ in case only are told apart by the hash, all of them: then the
    order of the roster decides nothing, and nobody takes over another one's folder."""
    alike = Counter(row["id"].casefold() for _, row in rows)
    students = []
    for number, row in rows:
        given = row["id"]
        own = _marked(given) if alike[given.casefold()] > 1 else folder_id(given)
        others = {column: row[column] for column in COLUMNS[1:]}
        students.append(Student(id=own, given_id=given, line=number, **others))
    return students


def doubtful_columns(path: Path) -> list[str]:
    """Remarks on columns that are not read and look like one that is missing. Any other column is
    the instructor's own."""
    header, _ = _table(path)
    missing = [column for column in COLUMNS if column not in header]
    guesses = [(name, nearest(name, missing)) for name in header if name not in COLUMNS]
    return [f"the column {n!r} is not read; did you mean {g}?" for n, g in guesses if n and g]


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and (line number, values), whatever spreadsheet wrote the file."""
    lines = _text(path).splitlines()
    start = 1 if lines and re.fullmatch(r"sep=.", lines[0].strip()) else 0  # Excel's own hint
    if not lines[start:]:
        raise _no_header(path, start + 1, "")
    separator, header = _header(path, lines[start], start + 1)
    reader = csv.reader(lines[start + 1 :], delimiter=separator)
    # The line it ends on: a value in quotes may hold line ends.
    rows = [(start + 1 + reader.line_num, [_normal(v) for v in values]) for values in reader]
    return header, rows


def _row(header: list[str], values: list[str]) -> dict[str, str]:
    """The value of each of our columns."""
    cells = dict(zip(header, values))
    return {column: cells.get(column, "") for column in COLUMNS}


def _too_long(
    path: Path, header: list[str], rows: Iterable[tuple[int, list[str]]]
) -> Iterator[UserError]:
    """Rows in which a value was taken for two: all behind it stands in the wrong column."""
    for number, values in rows:
        if len(values) > len(header) and any(values):
            yield UserError(
                f"{len(values)} fields, {len(header)} columns",
                path=path,
                line=number,
                text=", ".join(values),
                hint='put a value that holds the separator in quotes, as "Lee, Ann"',
            )


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError("no such file", path=path, hint="tito grade init writes one") from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", path=path) from None
    encodings = ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _header(path: Path, line: str, number: int) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    for separator in (",", ";", "\t"):
        names = [_column(v) for v in next(csv.reader([line], delimiter=separator), [])]
        twice = [n for n in COLUMNS if names.count(n) > 1]
        if twice:
            raise UserError(f"the column {twice[0]} stands there twice", path=path, line=number)
        if set(names) >= _CANVAS_GRADEBOOK and "name" not in names:
            raise _no_roster(path, number)
        if "id" in names:
            return separator, names
    raise _no_header(path, number, line)


def _column(text: str) -> str:
    name = re.sub(r"[\s_-]+", "_", text.strip().lower())
    return "email" if name == "e_mail" else name


_CANVAS_GRADEBOOK = {"student", "id", "section"}


def _no_roster(path: Path, number: int) -> UserError:
    return UserError(
        "this is Canvas's gradebook, no roster",
        path=path,
        line=number,
        hint=f"make a table with the columns {','.join(COLUMNS)}: its ID is the canvas_id, its "
        "SIS User ID may be the id",
    )


def _no_header(path: Path, number: int, line: str) -> UserError:
    return UserError(
        "the first line names no column id",
        path=path,
        line=number,
        text=line[:120] or None,
        hint=f"begin the file with {','.join(COLUMNS)}",
    )


def _bad_ids(path: Path, rows: Iterable[tuple[int, dict[str, str]]]) -> Iterator[UserError]:
    for number, row in rows:
        if not row["id"]:
            who = row["name"] or row["email"] or "this student"
            yield UserError(f"{who} has no id", path=path, line=number)
        for column in ("id", "canvas_id", "moodle_id"):
            if _ROUNDED.fullmatch(row[column]):
                yield UserError(
                    f"{column} {row[column]} is a number that a spreadsheet has rounded",
                    path=path,
                    line=number,
                    hint="format the column as text before you fill it in",
                )


def _repeated(path: Path, rows: Iterable[tuple[int, dict[str, str]]]) -> Iterator[UserError]:
    """What must belong to one student alone."""
    seen: dict[tuple[str, str], int] = {}
    for number, row in rows:
        for column in ("id", "canvas_id", "moodle_id"):
            if not row[column]:
                continue
            first = seen.setdefault((column, row[column]), number)
            if first != number:
                yield UserError(
                    f"the {column} {row[column]} stands on line {first} already",
                    path=path,
                    line=number,
                )
