"""Whose a hand-in is. What is not certain is left to a person."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tito.errors import Problems, UserError
from tito.files import read_text, write_atomic
from tito.grading.collect.platforms import CANVAS, MOODLE, Claim
from tito.grading.roster import Student

NOBODY = "-"  # in matches.csv: known, and of no student (a test account)
_COLUMNS = ("found", "student")


@dataclass(frozen=True)
class Match:
    """Who handed in, or why nobody can say.

    by : what it was matched by: "canvas_id", "moodle_id", "id", "email", "name", "matches.csv"
    candidates : those it could be, where there are several
    aside : a person has said that it is nobody's
    """

    student: Student | None = None
    by: str = ""
    why: str = ""
    candidates: tuple[Student, ...] = ()
    aside: bool = False


def squashed(text: str) -> str:
    """Letters and digits alone, without case and accents: what platforms leave of a name."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", text).casefold())
    return "".join(c for c in plain.casefold() if c.isalnum())


def same(text: str) -> str:
    """A name in the form in which two are compared."""
    return unicodedata.normalize("NFC", text).strip()


def _is_another(student: Student, claim: Claim) -> bool:
    """Whether the student is known to have another number at Canvas. (Moodle's numbers are new
    for each assignment: another one says nothing.)"""
    return bool(claim.canvas_id and student.canvas_id and claim.canvas_id != student.canvas_id)


def _orders(name: str) -> Iterator[str]:
    """A name squashed, beginning with each of its words in turn: Ann Lee, Lee, Ann."""
    words = name.replace(",", " ").split()
    for first in range(len(words)):
        yield squashed("".join(words[first:] + words[:first]))


class Matcher:
    """The roster, looked up by what platforms write; a person's own word comes first."""

    def __init__(self, roster: Iterable[Student], matches: dict[str, str]) -> None:
        self._students = list(roster)
        self._by_id = {name: s for s in self._students for name in (s.id, s.given_id)}
        self._matches = {same(found): student for found, student in matches.items()}
        self._groups = sorted({s.group for s in self._students if s.group}, key=len, reverse=True)
        self._tables: dict[str, dict[str, set[Student]]] = {
            name: defaultdict(set)
            for name in ("canvas_id", "moodle_id", "id", "email", "mailbox", "name")
        }
        for student in self._students:
            self._enter(student)

    def _enter(self, student: Student) -> None:
        tables = self._tables
        for column in ("canvas_id", "moodle_id"):
            if number := getattr(student, column):
                tables[column][number].add(student)
        for name in {student.id, same(student.given_id)}:
            tables["id"][name.casefold()].add(student)
        if student.email:
            mail = same(student.email).casefold()
            tables["email"][mail].add(student)
            tables["mailbox"][mail.partition("@")[0]].add(student)
        for order in _orders(student.name):
            if order:
                tables["name"][order].add(student)

    def by_id(self, word: str) -> Student | None:
        """The student of an id, in either form."""
        return self._by_id.get(same(word))

    def match(self, claim: Claim) -> Match:
        """Whose it is: as matches.csv says, else by number, id, email, name, in this order."""
        said = self._matches.get(same(claim.found))
        if said == NOBODY:
            return Match(by="matches.csv", aside=True, why="set aside in matches.csv")
        if said is not None:
            return Match(self._by_id[said], "matches.csv")
        return self.by_evidence(claim)

    def by_evidence(self, claim: Claim) -> Match:
        """The same without a person's word."""
        for by, found in self._evidence(claim):
            if len(found) == 1:
                return self._unless_contradicted(claim, by, next(iter(found)))
            if found:
                return self._several(f"the {by} fits several", found)
        return Match(why="nobody in roster.csv fits")

    def knows(self, name: str) -> bool:
        """Whether a folder's name is somebody's in the class, or one that a person set aside."""
        match = self.match(Claim(name, name=name))
        return match.student is not None or match.aside

    def is_group(self, name: str) -> bool:
        """Whether a group of the class is called like that."""
        return name in self._groups

    def _evidence(self, claim: Claim) -> Iterator[tuple[str, set[Student]]]:
        """(what was compared, who fits), the surest first."""
        tables = self._tables
        if claim.canvas_id:
            yield "canvas_id", tables["canvas_id"].get(claim.canvas_id, set())
        if claim.moodle_id:
            yield "moodle_id", tables["moodle_id"].get(claim.moodle_id, set())
        by_word = [*self._by_word(same(claim.name)), ("name", self._with_name(claim.name))]
        if claim.platform in (CANVAS, MOODLE):
            by_word = by_word[-1:] + by_word[:-1]  # these two write names, not ids
        for by, found in by_word:
            yield by, {s for s in found if not _is_another(s, claim)}

    def _by_word(self, word: str) -> Iterator[tuple[str, set[Student]]]:
        if exact := self._by_id.get(word):
            yield "id", {exact}
        word = word.casefold()
        for by, table in (("id", "id"), ("email", "email"), ("email", "mailbox")):
            yield by, self._tables[table].get(word, set())

    def _with_name(self, name: str) -> set[Student]:
        table = self._tables["name"]
        found = table.get(squashed(name), set())
        for group in self._groups if not found else ():  # Moodle: "Group A-Ann Lee"
            if name.startswith(f"{group}-"):
                return table.get(squashed(name[len(group) + 1 :]), set())
        return found

    def _unless_contradicted(self, claim: Claim, by: str, student: Student) -> Match:
        """A number that is one student's beside the name of another is for a person."""
        if by in ("canvas_id", "moodle_id"):
            named = self._with_name(claim.name)
            if named and student not in named:
                return self._several(
                    f"the {by} is one student's, the name another's", {student, *named}
                )
        return Match(student, by)

    def _several(self, why: str, found: set[Student]) -> Match:
        candidates = tuple(sorted(found, key=lambda s: s.line))
        who = ", ".join(f"{s.given_id} ({s.name})" if s.name else s.given_id for s in candidates)
        return Match(why=f"{why}: {who}", candidates=candidates)


# -- matches.csv


def read_matches(path: Path, roster: Iterable[Student]) -> dict[str, str]:
    """found -> student id (Student.id) or "-"; an unknown student is a Problem with its line."""
    if not path.is_file():
        return {}
    lines = read_text(path)[0].splitlines()
    separator = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    ids = {name: s.id for s in roster for name in (s.id, s.given_id)}
    matches, problems = {}, []
    for number, row in enumerate(csv.reader(lines, delimiter=separator), 1):
        cells = [same(cell) for cell in row]
        if not any(cells) or (number == 1 and tuple(cells[:2]) == _COLUMNS):
            continue
        if len(cells) < 2 or not cells[0]:
            problems.append(UserError("write found,student", path=path, line=number))
        elif cells[1] == NOBODY:
            matches[cells[0]] = NOBODY
        elif cells[1] in ids:
            matches[cells[0]] = ids[cells[1]]
        elif cells[1]:
            problems.append(
                UserError(
                    f"no {cells[1]!r} in roster.csv",
                    path=path,
                    line=number,
                    text=row[0],
                    hint="mend the id, or take the line out if they have left",
                )
            )
    if problems:
        raise Problems(problems)
    return matches


def add_matches(path: Path, new: dict[str, str]) -> None:
    """Keep what a person said with --as: found -> the id as roster.csv has it, or "-"."""
    text = read_text(path)[0] if path.is_file() else ",".join(_COLUMNS) + "\n"
    separator = ";" if text.partition("\n")[0].count(";") else ","
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(new.items())
    write_atomic(path, text + ("" if text.endswith("\n") else "\n") + out.getvalue())
