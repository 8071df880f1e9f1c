"""Marks into the sheet that a learning platform gave out: Canvas's grade book, Moodle's worksheet.

Only the cells of one column are filled, of rows that belong to one student of the roster without
doubt. Whatever else stands in the sheet stays, and what was not filled is listed with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tito.errors import UserError
from tito.grading.book.cents import cents
from tito.grading.book.marks import Marks
from tito.grading.book.sheet import Sheet
from tito.grading.classroom import ROSTER
from tito.grading.roster import Student

CANVAS, MOODLE = "canvas", "moodle"
EXCUSED = "EX"

# What a row says of its student: (value in the sheet, what it is compared with in the roster).
Identity = list[tuple[str, str]]
# The student of a row, or why there is none.
Match = tuple[Student | None, str | None]


@dataclass
class Filled:
    """What came of a sheet.

    filled : students whose mark stands in it now; changed: those of whom another stood there
    left : (row as people find it, why it was left as it was)
    without_row : students with marks whom the sheet does not name
    column : the column that was filled, as the sheet calls it
    notes : what a person should know before the sheet goes back
    """

    sheet: Sheet
    column: str
    filled: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    without_row: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fill(
    platform: str,
    sheet: Sheet,
    roster: list[Student],
    marks: Mapping[str, Marks],
    module: str,
    max_score: Fraction,
    *,
    column: str | None = None,
    doubtful: Mapping[str, str] | None = None,
) -> Filled:
    """Put each student's score into the sheet.

    marks : of those with a hand-in; nobody else's row is touched
    column : the column to fill, where it is not to be guessed
    doubtful : students whose score should not go out, and why
    """
    kind = _Canvas if platform == CANVAS else _Moodle
    filler = kind(sheet, module, column)
    result = Filled(sheet, sheet.value(0, filler.column))
    result.notes += filler.notes(max_score)
    people = _People(roster)
    seen: dict[str, int] = {}
    for row in filler.rows():
        student, why = filler.match(row, people)
        why = why or filler.refusal(row)
        if student and student.id in seen:
            why = f"{student.id} stands on line {seen[student.id] + 1} already"
        if student:
            seen.setdefault(student.id, row)
            why = why or _reason(student.id, marks, doubtful or {})
        if student is None or why:
            result.left.append((filler.name(row), why or _unknown(filler, row, roster)))
            continue
        if _put(sheet, row, filler.column, marks[student.id].score):
            result.changed.append(student.id)
        result.filled.append(student.id)
    result.without_row = [s.id for s in roster if s.id in marks and s.id not in seen]
    return result


def _put(sheet: Sheet, row: int, column: int, score: Fraction) -> bool:
    """Write the score unless the cell says as much, in whatever way; whether it was written."""
    return _number(sheet.value(row, column)) != _number(cents(score)) and sheet.put(
        row, column, cents(score)
    )


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip().replace(",", "."))
    except (ValueError, ZeroDivisionError):
        return None


def _reason(student: str, marks: Mapping[str, Marks], doubtful: Mapping[str, str]) -> str | None:
    return doubtful.get(student, None if student in marks else "nothing was handed in")


def _unknown(filler: _Canvas | _Moodle, row: int, roster: list[Student]) -> str:
    """Why nobody fits. A name alone decides nothing, but it says whose number is not filled in."""
    alike = [s.id for s in roster if _same_name(filler.name(row), s.name)]
    if not alike:
        return "not in the roster"
    return f"only the name fits {' or '.join(alike)}: fill in {filler.key} in {ROSTER}"


class _People:
    """The roster by everything that a sheet may name a student by."""

    def __init__(self, roster: list[Student]) -> None:
        self._by: dict[str, dict[str, list[Student]]] = {}
        for key in ("id", "email", "canvas_id", "moodle_id"):
            values = self._by.setdefault(key, {})
            for student in roster:
                own = (student.given_id or student.id) if key == "id" else getattr(student, key)
                if own:
                    values.setdefault(_plain(own), []).append(student)

    def find(self, identity: Identity) -> Match:
        """The one student whom all that the row says of itself names; else why there is none."""
        found: list[Student] = []
        for value, key in identity:
            for student in self._by[key].get(_plain(value), []):
                if student not in found:
                    found.append(student)
        if len(found) > 1:
            return None, f"it could be {' or '.join(s.id for s in found)}"
        return (found[0], None) if found else (None, None)


def _plain(value: str) -> str:
    return value.strip().casefold()


class _Canvas:
    """Columns Student, ID, SIS User ID, SIS Login ID, Section, then one an assignment: the name
    with Canvas's number behind it. Above the students stand rows of other kinds, `Points Possible`
    among them; a made-up `Student, Test` may follow.
    """

    key = "canvas_id"

    def __init__(self, sheet: Sheet, module: str, column: str | None) -> None:
        self._sheet = sheet
        self._columns = _columns(sheet)
        if "student" not in self._columns or "id" not in self._columns:
            raise UserError(
                "this is no grade book of Canvas: it has no columns Student and ID",
                path=sheet.path,
                hint="in Canvas: Grades, Export, Export Entire Gradebook",
            )
        self.column = _find_column(sheet, module, column, _canvas_assignments(sheet))

    def rows(self) -> Iterator[int]:
        """The students' rows: those with a number that Canvas knows them by."""
        for row in range(1, len(self._sheet.rows)):
            if self._value(row, "id").strip() and not _is_test_student(self.name(row)):
                yield row

    def match(self, row: int, people: _People) -> Match:
        own, user = self._value(row, "id"), self._value(row, "sis user id")
        login = self._value(row, "sis login id")
        student, why = people.find(
            _given((own, "canvas_id"), (user, "id"), (login, "id"), (login, "email"))
        )
        if student and student.canvas_id and _plain(student.canvas_id) != _plain(own):
            return None, f"it could be {student.id}, whose canvas_id is {student.canvas_id}"
        return student, why

    def refusal(self, row: int) -> str | None:
        value = self._sheet.value(row, self.column).strip()
        return "excused in Canvas" if value.upper() == EXCUSED else None

    def name(self, row: int) -> str:
        return self._value(row, "student")

    def notes(self, max_score: Fraction) -> Iterator[str]:
        for row in range(1, len(self._sheet.rows)):
            if self.name(row).strip().lower() == "points possible":
                yield from _other_maximum(self._sheet.value(row, self.column), max_score)

    def _value(self, row: int, name: str) -> str:
        at = self._columns.get(name)
        return "" if at is None else self._sheet.value(row, at)


def _is_test_student(name: str) -> bool:
    return name.strip().lower() in ("student, test", "test student")


_NUMBERED = re.compile(r"(?P<name>.*?)\s*\((?P<number>\d+)\)\s*")


def _canvas_assignments(sheet: Sheet) -> dict[int, tuple[str, ...]]:
    """Column -> what an assignment's column may be called: whole, without its number, the number.

    Columns without a number are Canvas's own sums.
    """
    found = {}
    for at, cell in enumerate(sheet.rows[0]):
        if match := _NUMBERED.fullmatch(cell.value):
            found[at] = (cell.value, match["name"], match["number"])
    return found


class _Moodle:
    """Columns Identifier ("Participant 123"), Full name, ID number, Email address, Status, Grade,
    Maximum grade, Grade can be changed, ...; the name of each depends on the site's language.
    """

    key = "moodle_id"

    def __init__(self, sheet: Sheet, module: str, column: str | None) -> None:
        self._sheet = sheet
        self._columns = _columns(sheet)
        choices = {at: (cell.value,) for at, cell in enumerate(sheet.rows[0])}
        if column is None and "grade" not in self._columns:
            raise UserError(
                "this is no grading worksheet of Moodle: it has no column Grade",
                path=sheet.path,
                hint=f"name the column with --column, one of: {_names(sheet, choices)}",
            )
        self.column = (
            _find_column(sheet, module, column, choices) if column else self._columns["grade"]
        )

    def rows(self) -> Iterator[int]:
        for row in range(1, len(self._sheet.rows)):
            if any(cell.value.strip() for cell in self._sheet.rows[row]):
                yield row

    def match(self, row: int, people: _People) -> Match:
        """By ID number and address. The participant's number is another in each assignment: it
        counts only where the row says nothing else, and the name, if it has one, is the same.
        """
        known = self._value(row, "id number")
        address = self._value(row, "email address") or self._value(row, "email")
        student, why = people.find(_given((known, "id"), (address, "email")))
        if student or why:
            return student, why
        # The first column in every language: a word and the number of the participant.
        number = re.search(r"(\d+)\s*$", self._sheet.value(row, 0))
        student, why = people.find(_given((number[1] if number else "", "moodle_id")))
        name = self._value(row, "full name")
        if student and name and not _same_name(name, student.name):
            return None, f"its number is the moodle_id of {student.id}, its name is another"
        return student, why

    def refusal(self, row: int) -> str | None:
        changeable = self._value(row, "grade can be changed").strip().lower()
        return "Moodle does not let this grade be changed" if changeable == "no" else None

    def name(self, row: int) -> str:
        return self._value(row, "full name") or self._sheet.value(row, 0)

    def notes(self, max_score: Fraction) -> Iterator[str]:
        values = {self._value(row, "maximum grade") for row in self.rows()} - {""}
        for value in sorted(values):
            yield from _other_maximum(value, max_score)

    def _value(self, row: int, name: str) -> str:
        at = self._columns.get(name)
        return "" if at is None else self._sheet.value(row, at)


def _same_name(one: str, other: str) -> bool:
    words = [sorted(_plain(name).replace(",", " ").split()) for name in (one, other)]
    return words[0] == words[1]


def _columns(sheet: Sheet) -> dict[str, int]:
    """Names of the first line, without case; the first of those with one name."""
    found: dict[str, int] = {}
    for at, cell in enumerate(sheet.rows[0]):
        found.setdefault(" ".join(cell.value.lower().split()), at)
    return found


def _find_column(
    sheet: Sheet, module: str, column: str | None, choices: dict[int, tuple[str, ...]]
) -> int:
    """The column that is called so; without a name the only one that speaks of the module."""
    if column is not None:
        wanted = _plain(column)
        found = [at for at, names in choices.items() if wanted in map(_plain, names)]
        what = f"is called {column!r}"
    else:
        likeness = {at: _likeness(module, names[:2][-1]) for at, names in choices.items()}
        best = max(likeness.values(), default=0)
        found = [at for at, how in likeness.items() if best and how == best]
        what = f"speaks of {module}"
    if len(found) == 1:
        return found[0]
    raise UserError(
        f"{'more than one' if found else 'no'} column of the sheet {what}",
        path=sheet.path,
        hint=f"name it with --column, one of: {_names(sheet, choices)}",
    )


def _likeness(module: str, column: str) -> int:
    """How much a column's name speaks of "02_loops": of nothing else 3, of its number and name 2,
    of one of them 1."""
    words = {word.lstrip("0") or "0" for word in re.findall(r"[^\W_]+", column.casefold())}
    number, _, rest = module.casefold().partition("_")
    numbers, names = {number.lstrip("0")}, set(rest.split("_"))
    if words == numbers | names:
        return 3
    return (numbers <= words) + (names <= words)


def _names(sheet: Sheet, choices: dict[int, tuple[str, ...]]) -> str:
    return ", ".join(repr(sheet.value(0, at)) for at in choices) or "none"


def _given(*identity: tuple[str, str]) -> Identity:
    return [(value, key) for value, key in identity if value.strip()]


def _other_maximum(text: str, max_score: Fraction) -> Iterator[str]:
    platform = _number(text)
    if platform is not None and platform != max_score:
        yield (
            f"the sheet gives {cents(platform)} points at most, the module {cents(max_score)}: "
            "set the platform's maximum to the module's before you upload"
        )
