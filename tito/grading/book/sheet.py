"""A platform's own sheet with some cells filled in, and every other byte as it was.

Canvas and Moodle take back what they gave out: separator, byte-order mark, quotes, line ends and
all columns that are not ours must stay. So nothing is written anew; only the text between two
separators is replaced.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import Path

from tito.errors import UserError

SEPARATORS = (",", ";", "\t")


@dataclass
class Field:
    """One cell: where its text stands in the file, quotes included, and what it says."""

    start: int
    end: int
    value: str
    quoted: bool = False


@dataclass
class Sheet:
    """A CSV file as rows of fields, and the changes made to it."""

    path: Path
    text: str
    encoding: str
    separator: str
    rows: list[list[Field]]
    _changes: dict[int, tuple[Field, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """The sheet in `path`; UserError where it is no CSV."""
        data = path.read_bytes()
        if data.startswith(b"PK\x03\x04"):
            raise UserError(
                "this is an Excel file", path=path, hint="download the sheet as CSV and name that"
            )
        encoding = _encoding(data)
        text = data.decode(encoding)
        separator = _separator(text)
        try:
            rows = list(_rows(text, separator))
        except ValueError as error:
            raise UserError(str(error), path=path) from None
        if not rows:
            raise UserError("the sheet is empty", path=path)
        return cls(path, text, encoding, separator, rows)

    def value(self, row: int, column: int) -> str:
        """What a cell says; empty beyond the end of a short row."""
        fields = self.rows[row]
        return fields[column].value if column < len(fields) else ""

    def put(self, row: int, column: int, value: str) -> bool:
        """Write a cell; True where it said something else. Only rows that have it can take it."""
        fields = self.rows[row]
        if column >= len(fields):
            raise UserError(
                f"line {row + 1} of the sheet is too short", path=self.path, text=self.row_text(row)
            )
        old = fields[column]
        if old.value == value:
            return False
        self._changes[old.start] = (old, _written(value, old, fields, self.separator))
        return True

    def row_text(self, row: int) -> str:
        fields = self.rows[row]
        return self.text[fields[0].start : fields[-1].end]

    def to_bytes(self) -> bytes:
        """The file with the changes."""
        parts, at = [], 0
        for start in sorted(self._changes):
            old, new = self._changes[start]
            parts += [self.text[at:start], new]
            at = old.end
        return "".join([*parts, self.text[at:]]).encode(self.encoding)


def _encoding(data: bytes) -> str:
    """One that gives the same bytes back. A byte-order mark is kept as a character."""
    for mark, encoding in (
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark) and len(data) % 2 == 0:
            return encoding
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _separator(text: str) -> str:
    """The one that parts the most columns of the first line."""
    best, most = ",", 0
    for separator in SEPARATORS:
        first = next(_rows(text, separator), [])
        if len(first) > most:
            best, most = separator, len(first)
    return best


def _rows(text: str, separator: str):
    """Rows of fields by the rules of CSV; a quoted field may hold separators and line ends."""
    at, end = (1 if text.startswith("\ufeff") else 0), len(text)
    while at < end:
        row: list[Field] = []
        while True:
            cell = _field(text, at, separator)
            row.append(cell)
            at = cell.end
            if at < end and text[at] == separator:
                at += 1
                continue
            break
        at += 2 if text.startswith("\r\n", at) else 1
        yield row


def _field(text: str, start: int, separator: str) -> Field:
    if text[start : start + 1] != '"':
        end = start
        while end < len(text) and text[end] not in (separator, "\r", "\n"):
            end += 1
        return Field(start, end, text[start:end])
    parts, at = [], start + 1
    while True:
        close = text.find('"', at)
        if close < 0:
            raise ValueError("a quotation mark in the sheet is never closed")
        parts.append(text[at:close])
        if text[close + 1 : close + 2] != '"':
            break
        parts.append('"')
        at = close + 2
    end = close + 1
    rest = end
    while rest < len(text) and text[rest] not in (separator, "\r", "\n"):
        rest += 1
    return Field(start, rest, "".join(parts) + text[end:rest], quoted=True)


def _written(value: str, old: Field, row: list[Field], separator: str) -> str:
    """As the sheet writes its cells: quoted where this one or all others of its row are."""
    others = [f for f in row if f is not old and f.end > f.start]
    all_quoted = bool(others) and all(f.quoted for f in others)
    if old.quoted or all_quoted or any(c in value for c in (separator, '"', "\n", "\r")):
        return '"' + value.replace('"', '""') + '"'
    return value
