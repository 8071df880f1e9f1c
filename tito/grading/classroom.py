"""The class folder: who is in the class, what is due when, and where each thing lies.

It lies outside every repository, because it holds names, hand-ins and marks.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from tito.course import find_course
from tito.errors import UsageError, UserError
from tito.files import read_text
from tito.grading.limits import Limits
from tito.grading.roster import Student, read_roster
from tito.grading.times import parse_time
from tito.near import meant
from tito.notebook.points import exact

SETTINGS, ROSTER, MATCHES = "course.toml", "roster.csv", "matches.csv"
GRADEBOOK, CONFIG = "gradebook.db", "nbgrader_config.py"
INBOX, UNMATCHED, RESULTS, EXPORTS = "inbox", "_unmatched", "results", "exports"
TREES = ("source", "release", "submitted", "autograded", "feedback")
TIMESTAMP = "timestamp.txt"
# The form that nbgrader writes and reads.
TIME_FORMAT = "%Y-%m-%d %H:%M:%S.%f %Z"
RULES = ("none", "zero", "per_day")
_LOCK = ".tito.lock"


@dataclass(frozen=True)
class LateRule:
    """What a late hand-in loses, of the points it earned.

    rule : "none", "zero" (all of them) or "per_day" (`percent` for each day begun, `at_most` in
        all); a hand-in up to `grace` after the due time is not late
    """

    rule: str = "none"
    percent: Fraction = Fraction(0)
    at_most: Fraction = Fraction(100)
    grace: timedelta = timedelta(0)

    def penalty(self, score: Fraction, seconds_late: float) -> Fraction:
        """The points that are taken off `score`."""
        late = timedelta(seconds=seconds_late)
        if self.rule == "none" or late <= max(self.grace, timedelta(0)):
            return Fraction(0)
        if self.rule == "zero":
            return score
        days = -(-late // timedelta(days=1))
        return score * min(self.percent * days, self.at_most, Fraction(100)) / 100


@dataclass(frozen=True)
class Settings:
    """course.toml, checked.

    course : the course folder with the masters, where course.toml names one
    secret : behind the seeds of hidden inputs
    """

    course_id: str
    secret: bytes
    course: Path | None = None
    late: LateRule = LateRule()
    _due: Mapping[str, datetime] = field(default_factory=dict)
    _extended: Mapping[tuple[str, str], datetime] = field(default_factory=dict)

    def due(self, module: str, student: str | None = None) -> datetime | None:
        """When a module is due, for one student with the extension; None without a due time."""
        return self._extended.get((student or "", module)) or self._due.get(module)

    def has_extension(self, module: str, student: str) -> bool:
        return (student, module) in self._extended

    @property
    def modules_due(self) -> list[str]:
        return sorted(self._due)


class Classroom:
    """A class folder. Students are named by `Student.id`, modules by their whole name."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def open(cls, path: Path | str | None = None) -> Classroom:
        """The class folder `path`, or the nearest from the current folder upwards."""
        if path is not None:
            root = Path(path)
            if not root.is_dir():
                raise UsageError("no such folder", path=root, hint=f"tito grade init {root}")
            if not is_class(root):
                raise UsageError(_NO_CLASS, path=root, hint="tito grade init FOLDER makes one")
            return cls(root.resolve())
        here = Path.cwd().resolve()
        for folder in (here, *here.parents):
            if is_class(folder):
                return cls(folder)
        raise UsageError(
            f"no class folder here: neither {here} nor a folder above it holds {SETTINGS} and "
            f"{ROSTER}",
            hint="name it with --class FOLDER; tito grade init FOLDER makes one",
        )

    def roster(self) -> list[Student]:
        """Everybody in the class, in the order of roster.csv."""
        return self._roster

    @cached_property
    def _roster(self) -> list[Student]:
        return read_roster(self.root / ROSTER)

    def settings(self) -> Settings:
        return self._settings

    @cached_property
    def _settings(self) -> Settings:
        return read_settings(self.root / SETTINGS, self.roster(), self.modules_collected())

    # -- where things lie

    @property
    def gradebook(self) -> Path:
        return self.root / GRADEBOOK

    @property
    def db_url(self) -> str:
        """As nbgrader wants it."""
        return f"sqlite:///{self.gradebook.as_posix()}"

    @property
    def exports(self) -> Path:
        return self.root / EXPORTS

    @property
    def matches(self) -> Path:
        """The file in which a person says whose an unmatched hand-in is."""
        return self.root / MATCHES

    def submitted(self, student: str, module: str) -> Path:
        """The newest collected hand-in: what is graded. It may not be there."""
        return self.root / "submitted" / student / module / f"{module}.ipynb"

    def submitted_at(self, student: str, module: str) -> datetime | None:
        """When it was handed in, in UTC; None where nobody knows."""
        return read_timestamp(self.submitted(student, module).parent / TIMESTAMP)

    def seconds_late(self, student: str, module: str) -> float:
        """How late the collected hand-in is; 0 where it is in time or no time is known."""
        at, due = self.submitted_at(student, module), self.settings().due(module, student)
        if at is None or due is None:
            return 0.0
        return max(0.0, (at - due).total_seconds())

    def inbox(self, module: str, student: str) -> Path:
        """Every hand-in of a student for a module, a folder each."""
        return self.root / INBOX / module / student

    @property
    def unmatched(self) -> Path:
        """Hand-ins of which nobody knows yet whose they are."""
        return self.root / INBOX / UNMATCHED

    def results(self, module: str) -> Path:
        return self.root / RESULTS / module

    def modules_collected(self) -> list[str]:
        """The modules of which somebody's hand-in was collected."""
        found = {p.parent.name for p in (self.root / "submitted").glob("*/*/*.ipynb")}
        inbox = self.root / INBOX
        found |= {p.name for p in inbox.glob("*") if p.is_dir() and p.name != UNMATCHED}
        return sorted(found)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only one that writes to the class folder. Within one process it may nest.

        The system gives the lock back when the process ends, however it ends.
        """
        path = self.root / _LOCK
        if path in _held:
            yield
            return
        with open(path, "a+b") as file:
            if not _try_lock(file.fileno()):
                raise UserError(
                    "another tito command is writing to this class folder",
                    path=self.root,
                    hint="wait until it has ended, then call this one again",
                )
            _held.add(path)
            try:
                yield
            finally:
                _held.discard(path)
                _unlock(file.fileno())


_NO_CLASS = f"no class folder: it holds no {SETTINGS} and {ROSTER}"
_held: set[Path] = set()


def is_class(folder: Path) -> bool:
    return (folder / SETTINGS).is_file() and (folder / ROSTER).is_file()


def _try_lock(handle: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unlock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)


# -- times


def write_timestamp(time: datetime) -> str:
    """A time with its zone as nbgrader writes it, in UTC."""
    return time.astimezone(timezone.utc).strftime(TIME_FORMAT)


def read_timestamp(path: Path) -> datetime | None:
    """The time in a timestamp.txt, in UTC; None where there is none or it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return parse_time(text)


# -- course.toml


def read_settings(path: Path, roster: list[Student], collected: Iterable[str] = ()) -> Settings:
    """The settings of a class; UserError names the file and what is wrong in it.

    collected : modules that are known beside those of the course: it may have had them once
    """
    document = _document(path)
    _refuse_unknown(document, "the class", _TABLES, path)
    course = _course(document, path)
    modules = _modules(course, collected)
    _check_limits(document, path)
    due = _due_times(document, path, modules)
    return Settings(
        course_id=_course_id(document, path),
        secret=_secret(document, path),
        course=course,
        late=_late(document, path),
        _due=due,
        _extended=_extensions(document, path, roster, modules, due),
    )


def read_late_rule(path: Path) -> LateRule:
    """The late rule alone, which needs no roster."""
    return _late(_document(path), path)


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path)[0])
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"no valid TOML: {error}", path=path) from None


_TABLES = ("course_id", "secret", "course", "late", "module", "extensions", "limits")
_LATE = ("rule", "percent", "at_most", "grace_minutes")


def _refuse_unknown(
    table: Mapping[str, Any], place: str, known: Collection[str], path: Path
) -> None:
    """A setting that nobody reads would leave its writer in the belief that it holds."""
    for name in table:
        if name not in known:
            raise UserError(
                f"{place} has no setting {name!r}{meant(name, known)}",
                path=path,
                hint=f"it may have {', '.join(known)}",
            )


def _modules(course: Path | None, collected: Iterable[str]) -> list[str]:
    """The modules that course.toml may name; none where nobody knows them from here."""
    try:
        there = course is not None and course.is_dir()
        names = [ref.name for ref in find_course(course).modules] if there else []
    except UserError:  # told by the commands that need it
        names = []
    return sorted({*names, *collected}) if names else []


def _refuse_unknown_module(name: str, place: str, known: list[str], path: Path) -> None:
    if known and name not in known:
        raise UserError(
            f"{place}: the course has no module {name!r}{meant(name, known)}",
            path=path,
            hint=f"its modules are {', '.join(known)}",
        )


def _check_limits(document: Mapping[str, Any], path: Path) -> None:
    table = _table(document, "limits", path)
    _refuse_unknown(table, "[limits]", [limit.name for limit in fields(Limits)], path)
    try:
        Limits().changed(table)
    except UserError as error:
        raise UserError(f"[limits] {error.message}", path=path) from None


def _course_id(document: Mapping[str, Any], path: Path) -> str:
    value = document.get("course_id")
    if not isinstance(value, str) or not value.strip():
        raise UserError('course_id must be a text, as in course_id = "kernels"', path=path)
    return value


def _secret(document: Mapping[str, Any], path: Path) -> bytes:
    value = document.get("secret")
    try:
        secret = bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        secret = b""
    if len(secret) < 16:
        raise UserError(
            "secret must be at least 32 hexadecimal digits",
            path=path,
            hint="put back the one that tito grade init wrote; another one changes hidden inputs",
        )
    return secret


def _course(document: Mapping[str, Any], path: Path) -> Path | None:
    value = document.get("course")
    if value in (None, ""):
        return None
    if not isinstance(value, str):
        raise UserError("course must be the path of the course folder", path=path)
    return path.parent / Path(value).expanduser()


def _table(document: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise UserError(f"{name} is no table; write [{name}] on a line of its own", path=path)
    return value


def _late(document: Mapping[str, Any], path: Path) -> LateRule:
    table = _table(document, "late", path)
    _refuse_unknown(table, "[late]", _LATE, path)
    rule = table.get("rule", "none")
    if rule not in RULES:
        words = ", ".join(f'"{r}"' for r in RULES)
        raise UserError(f"[late] rule is one of {words}, not {rule!r}", path=path)
    percent = _number(table, "percent", 0, 100, path)
    at_most = _number(table, "at_most", 100, 100, path)
    grace = _number(table, "grace_minutes", 0, 1_000_000, path)
    return LateRule(rule, percent, at_most, timedelta(minutes=float(grace)))


def _number(table: Mapping[str, Any], name: str, default: int, most: int, path: Path) -> Fraction:
    value = table.get(name, default)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= most:
        raise UserError(
            f"[late] {name} must be a number from 0 to {most}, not {value!r}", path=path
        )
    return exact(value)


def _due_times(document: Mapping[str, Any], path: Path, modules: list[str]) -> dict[str, datetime]:
    times = {}
    for module, table in _table(document, "module", path).items():
        if not isinstance(table, dict):
            raise UserError(f'write [module."{module}"] and below it due = ...', path=path)
        place = f'[module."{module}"]'
        _refuse_unknown(table, place, ("due",), path)
        if "due" in table:
            # One without is harmless, and stays behind where a course has renamed a module.
            _refuse_unknown_module(module, place, modules, path)
            times[module] = _time(table["due"], f"due of {module}", path)
    return times


def _time(value: object, what: str, path: Path) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise UserError(
            f"{what} must be a time with its zone",
            path=path,
            hint="write it as 2026-12-01T23:59:00+01:00, without quotes",
        )
    return value


def _extensions(
    document: Mapping[str, Any],
    path: Path,
    roster: list[Student],
    modules: list[str],
    due: Mapping[str, datetime],
) -> dict[tuple[str, str], datetime]:
    """(student, module) -> the time; a name that is in no roster would be no extension at all."""
    ids = {name: s.id for s in roster for name in (s.id, s.given_id)}
    times = {}
    for name, table in _table(document, "extensions", path).items():
        if name not in ids:
            given = [s.given_id for s in roster]
            hint = "mend the id, or take the extension out if they have left"
            raise UserError(
                f"[extensions] names {name!r}, who is not in {ROSTER}{meant(name, given)}",
                path=path,
                hint=hint,
            )
        if not isinstance(table, dict):
            raise UserError(f'write [extensions."{name}"] and below it MODULE = TIME', path=path)
        for module, value in table.items():
            _refuse_unknown_module(module, f'[extensions."{name}"]', modules, path)
            time = _time(value, f"extension of {name} for {module}", path)
            _refuse_shorter(time, due.get(module), f"the extension of {name} for {module}", path)
            times[ids[name], module] = time
    return times


def _refuse_shorter(time: datetime, due: datetime | None, what: str, path: Path) -> None:
    if due is not None and time < due:
        raise UserError(
            f"{what}, {time}, ends before the module is due, {due}",
            path=path,
            hint="mend one of the two times, or take the extension out",
        )
