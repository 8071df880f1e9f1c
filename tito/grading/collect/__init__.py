"""Hand-ins of a class, from whatever a platform gives, into the class folder.

Nothing is guessed and nothing is dropped: each entry of a source ends in somebody's inbox, in
inbox/_unmatched, or in the list of what was passed over; everybody in the roster has a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from tito.errors import UserError
from tito.files import write_atomic
from tito.grading.classroom import TIMESTAMP, Classroom, read_timestamp, write_timestamp
from tito.grading.collect import inbox, lateness
from tito.grading.collect.choosing import Choice, Wanted, choose, share
from tito.grading.collect.inbox import Record
from tito.grading.collect.matching import Match, Matcher, read_matches
from tito.grading.collect.names import safe_name
from tito.grading.collect.platforms import NBGRADER, Claim
from tito.grading.collect.sources import Budget, Entry, Passed, read_kept, unpacked
from tito.grading.collect.units import Finder, Unit, Upload
from tito.grading.judge.result import AMBIGUOUS, BROKEN, MISSING
from tito.grading.judge.submission import read_submission
from tito.grading.roster import Student
from tito.grading.times import parse_time

__all__ = ["Collection", "Row", "Wanted", "collect", "collect_again"]

NEW, NEWER, UNCHANGED, UNMATCHED, ASIDE = "new", "newer", "unchanged", "unmatched", "set aside"


@dataclass
class Row:
    """One student and module, or one hand-in of which that is not known.

    state : new, newer (than what was there), unchanged, missing; for a person: unmatched,
        ambiguous, broken; "set aside" where a person has said so
    """

    state: str
    module: str = ""
    student: Student | None = None
    found: str = ""
    platform: str = ""
    handed_in: datetime | None = None
    time_from: str = ""
    late: str = ""
    why: str = ""
    remarks: list[str] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether a person has to look at it."""
        return self.state in (UNMATCHED, AMBIGUOUS, BROKEN)


@dataclass
class Collection:
    """What came of a source: a row for each student and module, then those of nobody yet."""

    rows: list[Row]
    passed: list[Passed]
    found: set[str]

    @property
    def modules(self) -> list[str]:
        return sorted({row.module for row in self.rows if row.module})


@dataclass
class Collector:
    """Takes hand-ins one by one into the class folder.

    modules : of the course; `only` is the one asked for
    handed_in : the time of everything whose platform gives none
    """

    classroom: Classroom
    modules: Sequence[Wanted]
    only: Wanted | None = None
    handed_in: datetime | None = None
    dry_run: bool = False
    said: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        roster = self.classroom.roster()
        self.settings = self.classroom.settings()
        known = read_matches(self.classroom.matches, roster)
        self.matcher = Matcher(roster, {**known, **self.said})
        self.now = datetime.now(timezone.utc).replace(microsecond=0)
        self._history: dict[tuple[str, str], list[Record]] = {}
        self._known: dict[tuple[str, str], set[str]] = {}
        self._new: dict[tuple[str, str], list[Record]] = {}
        self._of_nobody: list[Row] = []

    # -- one hand-in

    def take(self, unit: Unit, source: str, kept: Record | None = None) -> None:
        """Keep one hand-in where it belongs. `kept` is its note where it lies in the inbox already,
        of nobody."""
        match = self.matcher.match(unit.claim)
        troubles: list[Passed] = []
        entries = unit.entries
        if not any(e.is_notebook for e in entries):
            entries = list(unpacked(entries, troubles, Budget()))
        said = [f"{p.path}: {p.why}" for p in troubles if not p.litter]
        for part in self._parts(unit, entries, said):
            self._take_part(part, match, unit, source, kept, said)

    def _parts(self, unit: Unit, entries: list[Entry], troubles: list[str]) -> Iterator[_Part]:
        """The modules in one hand-in, each with its files."""
        if self.only is not None:
            yield self._only_part(entries, troubles)
            return
        by_module: dict[str, list[Entry]] = {}
        unknown, others = [], []
        for entry in entries:
            module = self._module_of(entry) if entry.is_notebook else _module_in(entry, self.names)
            if module:
                by_module.setdefault(module, []).append(entry)
            else:
                (unknown if entry.is_notebook else others).append(entry)
        if not any(e.is_notebook for found in by_module.values() for e in found):
            module = unit.claim.module if unit.claim.module in self.names else None
            module = module or (next(iter(by_module)) if len(by_module) == 1 else None)
            yield self._whole(module, entries, troubles)
            return
        for number, (module, own) in enumerate(sorted(by_module.items())):
            # What belongs to no module goes with the first.
            files = own + (others + unknown if number == 0 else [])
            yield self._whole(module, files, troubles if number == 0 else [])

    def _whole(self, module: str | None, entries: list[Entry], troubles: list[str]) -> _Part:
        if module is None:
            return _Part(None, entries, Choice(), "which module? no notebook in it says so")
        return _Part(module, entries, choose(entries, self._wanted(module), troubles))

    def _only_part(self, entries: list[Entry], troubles: list[str]) -> _Part:
        """Everything is for the module asked for, but a notebook that holds another one."""
        other = {e.parts: m for e in entries if e.is_notebook and (m := self._another(e))}
        fitting = [e for e in entries if e.parts not in other]
        if other and not any(e.is_notebook for e in fitting):
            names = ", ".join(sorted(set(other.values())))
            return _Part(None, entries, Choice(), f"it is a notebook of {names}")
        choice = choose(fitting, self.only, troubles)
        choice.remarks += [f"not looked at: {'/'.join(p[1:])}, of {m}" for p, m in other.items()]
        return _Part(self.only.name, entries, choice)

    def _another(self, entry: Entry) -> str | None:
        """The module that a notebook belongs to where it is not the one asked for."""
        module = self._module_by_ids(entry)
        return module if module not in (None, self.only.name) else None

    @property
    def names(self) -> list[str]:
        return [wanted.name for wanted in self.modules]

    def _wanted(self, module: str) -> Wanted:
        return next(w for w in self.modules if w.name == module)

    def _module_of(self, entry: Entry) -> str | None:
        """By the grade_ids inside, else by its name, else by its folder's."""
        if module := self._module_by_ids(entry):
            return module
        return (
            entry.notebook_stem
            if entry.notebook_stem in self.names
            else _module_in(entry, self.names)
        )

    def _module_by_ids(self, entry: Entry) -> str | None:
        shares = {w.name: share(entry, w.grade_ids) for w in self.modules if w.grade_ids}
        most = max(shares.values(), default=0.0)
        best = [name for name, value in shares.items() if value == most]
        return best[0] if most >= 0.5 and len(best) == 1 else None

    def _take_part(
        self,
        part: _Part,
        match: Match,
        unit: Unit,
        source: str,
        kept: Record | None,
        troubles: list[str],
    ) -> None:
        direct = [e for e in unit.entries if e in part.entries]
        chosen = part.choice.entry
        files = direct + ([chosen] if chosen is not None and chosen not in direct else [])
        record = self._record(part, unit, source, files)
        contents = inbox.describe(files, record)
        record.left_out += troubles
        self._settle_notebook(record, part.choice, contents)
        record.key = inbox.content_key(record)
        if kept is not None:
            record = _as_kept(record, kept)
        if match.student is None or part.module is None:
            self._keep_aside(record, contents, match, part.why)
        else:
            record.student = match.student.id
            self._keep(record, contents, match)

    def _record(self, part: _Part, unit: Unit, source: str, files: list[Entry]) -> Record:
        claim = unit.claim
        at, time_from = self._time(unit, part.choice)
        return Record(
            key="",
            module=part.module or "",
            found=claim.found,
            platform=claim.platform,
            source=source,
            collected_at=self.now.isoformat(),
            name=claim.name,
            canvas_id=claim.canvas_id,
            moodle_id=claim.moodle_id,
            handed_in=at.isoformat() if at else "",
            time_from=time_from if at else "",
            late=claim.late,
            file=unit.upload.file,
            number=unit.upload.number,
            upload=unit.upload.upload,
            status=part.choice.status if part.module else AMBIGUOUS,
            problem=part.choice.reason or part.why or None,
            remarks=[*unit.remarks, *part.choice.remarks],
        )

    def _time(self, unit: Unit, choice: Choice) -> tuple[datetime | None, str]:
        if at := unit.claim.at or _nbgraders_time(unit, choice):
            return at, lateness.PLATFORM
        if self.handed_in is not None:
            return self.handed_in, lateness.YOU
        return (None, "") if unit.claim.canvas_id else (unit.saved, lateness.FROM_FILE)

    def _settle_notebook(
        self, record: Record, choice: Choice, contents: dict[tuple[str, ...], bytes]
    ) -> None:
        """Which kept file is graded, and whether it can be read."""
        if choice.entry is None:
            return
        path = choice.entry.parts[1:] or choice.entry.parts
        kept = {f["path"]: f["kept"] for f in record.files}.get("/".join(path))
        if kept is None:
            record.status = BROKEN
            record.problem = next(
                (t for t in record.left_out if t.startswith(choice.entry.shown)), "not kept"
            )
            return
        record.notebook = kept
        try:
            read_submission(contents[path])
        except UserError as error:
            record.status, record.problem = BROKEN, error.message

    # -- where it is kept

    def _keep(self, record: Record, contents: dict[tuple[str, ...], bytes], match: Match) -> None:
        place = record.student, record.module
        history = self.history(*place)
        known = next((r for r in history if r.key == record.key), None)
        if known is not None:
            self._repeat(known, record)
            self._new.setdefault(place, [])
            return
        if match.by not in ("id", "matches.csv"):
            record.remarks.append(f"matched by its {match.by}: {record.found}")
        if not self.dry_run:
            self._store(record, contents, self.classroom.inbox(record.module, record.student))
        history.append(record)
        self._new.setdefault(place, []).append(record)

    def _repeat(self, known: Record, record: Record) -> None:
        """The same hand-in again: only a time that a person gives is news."""
        if record.time_from == lateness.YOU and known.handed_in != record.handed_in:
            known.handed_in, known.time_from = record.handed_in, lateness.YOU
            if not self.dry_run:
                inbox.rewrite(known)

    def _store(self, record: Record, contents: dict[tuple[str, ...], bytes], folder: Path) -> None:
        """Into its folder; a copy of it that was kept of nobody moves there."""
        if record.folder is None:
            aside = inbox.records(self._aside(record.found))
            same = next(
                (r for r in aside if r.key == record.key and r.folder.parent != folder), None
            )
            if same is not None:
                record.folder, record.collected_at = same.folder, same.collected_at
        if record.folder is None:
            inbox.keep(record, contents, folder)
        elif record.folder.parent != folder:
            inbox.move(record, folder)
            inbox.rewrite(record)

    def _keep_aside(
        self, record: Record, contents: dict[tuple[str, ...], bytes], match: Match, why: str
    ) -> None:
        """Of nobody yet, or of no module yet."""
        row = Row(
            ASIDE if match.aside else UNMATCHED,
            record.module,
            match.student,
            record.found,
            record.platform,
            record.at,
            record.time_from,
            why=match.why or why,
            remarks=record.remarks,
        )
        self._of_nobody.append(row)
        record.problem = record.problem or row.why
        folder = self._aside(record.found)
        if self.dry_run or any(r.key == record.key for r in inbox.records(folder)):
            return
        inbox.keep(record, contents, folder)

    def _aside(self, found: str) -> Path:
        return self.classroom.unmatched / safe_name(found)

    def history(self, student: str, module: str) -> list[Record]:
        """Everything kept of a student for a module, with what this call adds."""
        place = student, module
        if place not in self._history:
            self._history[place] = inbox.records(self.classroom.inbox(module, student))
            self._known[place] = {r.key for r in self._history[place]}
        return self._history[place]

    # -- what is graded

    def finish(self) -> list[Row]:
        """Put the newest hand-ins where they are graded; the rows of everybody."""
        modules = {module for _, module in self._new} | ({self.only.name} if self.only else set())
        rows = [
            self._finish(student, module)
            for module in sorted(modules)
            for student in self.classroom.roster()
        ]
        return rows + self._of_nobody

    def _finish(self, student: Student, module: str) -> Row:
        place = student.id, module
        history = self.history(*place)
        new = self._new.get(place, [])
        if not history:
            row = Row(MISSING, module, student, why="nothing was handed in")
            row.late = self._overdue(student, module)
            return row
        best = inbox.newest(history)
        if best is None:
            return self._without_notebook(student, module, history[-1])
        at, remark = lateness.counted_time(best, self.settings, student.id)
        if not self.dry_run:
            self._submit(best, at, bool(new))
        row = self._row(best, student, module, new)
        row.late = lateness.told(at, self.settings.due(module, student.id))
        row.remarks += [remark] if remark else []
        row.remarks += self._about_others(history, best)
        return row

    def _row(self, best: Record, student: Student, module: str, new: list[Record]) -> Row:
        before = self._known[student.id, module]
        state = (NEWER if before else NEW) if best in new else UNCHANGED
        if best.status == BROKEN:
            state = BROKEN
        return Row(
            state,
            module,
            student,
            best.found,
            best.platform,
            best.at,
            best.time_from,
            why=best.problem or "",
            remarks=list(best.remarks),
        )

    def _without_notebook(self, student: Student, module: str, last: Record) -> Row:
        remarks = [*last.remarks, *last.left_out[:3]]
        return Row(
            last.status,
            module,
            student,
            last.found,
            last.platform,
            last.at,
            last.time_from,
            why=last.problem or "",
            remarks=remarks,
        )

    def _about_others(self, history: list[Record], best: Record) -> list[str]:
        """The hand-ins that do not count."""
        others = [r for r in history if r is not best]
        later = [r for r in others if r.notebook is None and history.index(r) > history.index(best)]
        remarks = [f"a later hand-in cannot be graded: {r.problem}" for r in later]
        earlier = len(others) - len(later)
        if earlier:
            remarks.append(f"{earlier} other hand-in{'s' if earlier > 1 else ''} in the inbox")
        return remarks

    def _overdue(self, student: Student, module: str) -> str:
        due = self.settings.due(module, student.id)
        return "overdue" if due is not None and self.now > due else ""

    def _submit(self, record: Record, at: datetime | None, new: bool) -> None:
        """The newest hand-in to nbgrader's submitted/. A file that somebody mended by hand stays
        until something newer comes."""
        target = self.classroom.submitted(record.student, record.module)
        if new or not target.exists():
            data = (record.folder / inbox.FILES / record.notebook).read_bytes()
            write_atomic(target, data)
        stamp = target.parent / TIMESTAMP
        if at is not None and read_timestamp(stamp) != at:
            write_atomic(stamp, write_timestamp(at))
        elif at is None:
            stamp.unlink(missing_ok=True)


@dataclass
class _Part:
    """What one hand-in holds of one module."""

    module: str | None
    entries: list[Entry]
    choice: Choice
    why: str = ""


def _module_in(entry: Entry, names: Iterable[str]) -> str | None:
    """The module that a folder above the entry is called after."""
    return next((name for name in names if name in entry.parts[1:-1]), None)


def _nbgraders_time(unit: Unit, choice: Choice) -> datetime | None:
    """The timestamp.txt beside the notebook, in a tree that nbgrader made."""
    if unit.claim.platform != NBGRADER or choice.entry is None:
        return None
    beside = (*choice.entry.parts[:-1], TIMESTAMP)
    stamp = next((e for e in unit.entries if e.parts == beside), None)
    try:
        return parse_time(stamp.read().decode("utf-8", "replace")) if stamp else None
    except UserError:
        return None


def _as_kept(record: Record, kept: Record) -> Record:
    """A hand-in that lies in the inbox already, with what is known of it now."""
    notebook = None
    if record.notebook is not None:
        path = next(f["path"] for f in record.files if f["kept"] == record.notebook)
        notebook = next(f["kept"] for f in kept.files if f["path"] == path)
    changes = {"notebook": notebook, "files": kept.files, "left_out": kept.left_out}
    if record.time_from != lateness.YOU:
        changes |= {"handed_in": kept.handed_in, "time_from": kept.time_from}
    same = {name: getattr(kept, name) for name in ("key", "source", "folder", "collected_at")}
    return replace(record, **changes, **same)


def collect(
    collector: Collector,
    source: Path,
    whose: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Collection:
    """Take everything in a source; with `whose`, as one hand-in of that student."""
    finder = Finder(collector.matcher, collector.names)
    units = finder.find(source) if whose is None else finder.whole(source, whose)
    name = source.resolve().name
    for number, unit in enumerate(units, 1):
        collector.take(unit, name)
        if progress:
            progress(number, len(units))
    found = {unit.claim.found for unit in units}
    return Collection(collector.finish(), finder.passed, found)


def collect_again(collector: Collector) -> Collection:
    """Look again at what is kept of nobody: matches.csv or the roster may say more by now."""
    notes = sorted(collector.classroom.unmatched.glob("*"))
    kept = [record for folder in notes for record in inbox.records(folder)]
    for record in kept:
        collector.take(_unit_of(record), record.source, record)
    return Collection(collector.finish(), [], {record.found for record in kept})


def _unit_of(record: Record) -> Unit:
    claim = Claim(
        record.found,
        record.platform,
        name=record.name,
        canvas_id=record.canvas_id,
        moodle_id=record.moodle_id,
        upload=record.upload,
        late=record.late,
        at=record.at if record.time_from == lateness.PLATFORM else None,
        module=record.module,
    )
    entries = [
        read_kept((record.found, *f["path"].split("/")), record.folder / inbox.FILES / f["kept"])
        for f in record.files
    ]
    return Unit(claim, entries, Upload(record.file, record.number, record.upload))
