"""Hand-ins into the class folder, one by one; then the newest of each to where it is graded."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from tito.errors import UserError
from tito.files import write_atomic
from tito.grading.classroom import TIMESTAMP, Classroom, read_timestamp, write_timestamp
from tito.grading.collect import inbox, lateness
from tito.grading.collect.choosing import Choice, Wanted
from tito.grading.collect.dividing import Divider, Part
from tito.grading.collect.inbox import Contents, Record
from tito.grading.collect.matching import NOBODY, Match, Matcher, read_matches, same
from tito.grading.collect.names import safe_name
from tito.grading.collect.platforms import NBGRADER
from tito.grading.collect.rows import ASIDE, NEW, NEWER, UNCHANGED, UNMATCHED, Row
from tito.grading.collect.sources import Budget, Entry, Passed, unpacked
from tito.grading.collect.units import Unit
from tito.grading.judge.result import AMBIGUOUS, BROKEN, MISSING
from tito.grading.judge.submission import read_submission
from tito.grading.roster import Student
from tito.grading.times import parse_time
from tito.grading.wording import counted

_FEW = 4  # of how many hand-ins one is a stray
# Matches that need no word: the source had the very id.
_PLAIN_MATCHES = ("id", "canvas_id", "moodle_id", "matches.csv")


@dataclass
class Collector:
    """Takes hand-ins into a class folder. Whoever writes holds the classroom's lock.

    modules : of the course; `only` is the one asked for
    handed_in : the time of what is called as in `handed_in_of` (None: of everything), where the
        platform gives none
    said : whose hand-ins are, by a person's word: found -> Student.id or "-"
    """

    classroom: Classroom
    modules: Sequence[Wanted]
    only: Wanted | None = None
    handed_in: datetime | None = None
    dry_run: bool = False
    said: dict[str, str] = field(default_factory=dict)
    handed_in_of: frozenset[str] | None = None

    def __post_init__(self) -> None:
        roster = self.classroom.roster()
        self.settings = self.classroom.settings()
        known = read_matches(self.classroom.matches, roster)
        self.matcher = Matcher(roster, {**known, **self.said})
        self.divider = Divider(self.modules, self.only)
        self.now = datetime.now(timezone.utc).replace(microsecond=0)
        self._places: dict[tuple[str, str], _Place] = {}
        self._of_nobody: list[Row] = []
        self.passed: list[Passed] = []
        self.set_aside: set[str] = set()

    def take(self, unit: Unit, source: str, kept: Record | None = None) -> None:
        """Keep one hand-in where it belongs.

        kept : its note, where it lies in the inbox already, of nobody
        """
        match = self.matcher.match(unit.claim)
        owner = self._owner_of_aside(unit, match)
        passed: list[Passed] = []
        entries = unit.entries
        if not any(e.is_notebook for e in entries):
            entries = list(unpacked(entries, passed, Budget()))
        troubles = [f"{p.path}: {p.why}" for p in passed if not p.litter]
        for part in self.divider.parts(unit, entries, troubles):
            record, contents = self._describe(part, unit, source, troubles)
            if kept is not None:
                record = _as_kept(record, kept)
            record.student = match.student.id if match.student else ""
            if not record.files and not record.left_out:
                self.passed.append(Passed(record.found, "an empty folder"))
            elif owner is not None:
                self._set_aside(record, contents, owner, kept)
            elif match.student is None or part.module is None:
                self._keep_aside(record, contents, match, part.why)
            else:
                self._keep(record, contents, match)

    def finish(self) -> list[Row]:
        """Put the newest hand-ins where they are graded; a row for everybody of whom something
        came, and in modules that the source is of for all others."""
        modules = {module for _, module in self._places}
        modules |= {self.only.name} if self.only else set()
        roster = self.classroom.roster()
        of_source = self._modules_of_source()
        rows = [
            self._finish(student, m)
            for m in sorted(modules)
            for student in roster
            if m in of_source or self._place(student.id, m).history
        ]
        return rows + self._of_nobody

    def _modules_of_source(self) -> set[str]:
        """Without those of which a few came among a class's hand-ins of another one, unless they
        are due: nobody asked who is missing there."""
        if self.only is not None:
            return {self.only.name}
        counts = Counter(module for _, module in self._places)
        most = max(counts.values(), default=0)
        due = {m for m in self.settings.modules_due if self.now > self.settings.due(m)}
        return {m for m, count in counts.items() if m in due or count * _FEW >= most}

    # -- what it is

    def _describe(
        self, part: Part, unit: Unit, source: str, troubles: list[str]
    ) -> tuple[Record, Contents]:
        """The note of a hand-in, and its files. What lies in a zip is kept in the zip, but for
        the notebook that is graded."""
        own = {id(e) for e in part.entries}
        files = [e for e in unit.entries if id(e) in own]
        chosen = part.choice.entry
        if chosen is not None and not any(e is chosen for e in files):
            files.append(chosen)
        record = self._record(part, unit, source)
        contents = inbox.read_files(files, record)
        record.left_out += troubles
        _settle_notebook(record, part.choice, contents)
        record.key = inbox.content_key(record)
        return record, contents

    def _record(self, part: Part, unit: Unit, source: str) -> Record:
        claim, at, time_from = unit.claim, *self._time(unit, part.choice)
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
        if self.handed_in is not None and self._is_meant(unit.claim.found):
            return self.handed_in, lateness.YOU
        # A download of Canvas has the time of the download.
        return (None, "") if unit.claim.canvas_id else (unit.saved, lateness.FROM_FILE)

    def _is_meant(self, found: str) -> bool:
        """Whether the time that a person gave is this hand-in's."""
        return self.handed_in_of is None or same(found) in self.handed_in_of

    # -- where it is kept

    def _keep(self, record: Record, contents: Contents, match: Match) -> None:
        place = self._place(record.student, record.module)
        known = next((r for r in place.history if r.key == record.key), None)
        if known is not None:
            self._repeat(known, record)
            return
        if match.by not in _PLAIN_MATCHES:
            record.remarks.append(f"matched by its {match.by}: {record.found}")
        if not self.dry_run:
            self._store(record, contents, self.classroom.inbox(record.module, record.student))
        place.history.append(record)
        place.new.append(record)

    def _repeat(self, known: Record, record: Record) -> None:
        """The same hand-in again: only a time that a person gives is news."""
        if known.set_aside:
            return
        if record.time_from == lateness.YOU and known.handed_in != record.handed_in:
            known.handed_in, known.time_from = record.handed_in, lateness.YOU
            if not self.dry_run:
                inbox.rewrite(known)

    def _store(self, record: Record, contents: Contents, folder: Path) -> None:
        """Into its folder; a copy of it that was kept as nobody's moves there."""
        if record.folder is None:
            aside = inbox.records(self._aside(record.found))
            same = next((r for r in aside if r.key == record.key), None)
            if same is None:
                inbox.keep(record, contents, folder)
                return
            record = _take_over(record, same)
        inbox.move(record, folder)
        inbox.rewrite(record)

    def _keep_aside(self, record: Record, contents: Contents, match: Match, why: str) -> None:
        """Nobody's yet, or of no module yet."""
        folder = self._aside(record.found)
        same = next((r for r in inbox.records(folder) if r.key == record.key), None)
        settled = same is not None and same.set_aside
        state = ASIDE if match.aside or settled else UNMATCHED
        why = match.why or why
        self._of_nobody.append(_row(state, record, match.student, why))
        record.status, record.problem = state, why
        if self.dry_run or settled:
            return
        if same is None:
            inbox.keep(record, contents, folder)
        elif (same.status, same.problem, same.student) != (state, why, record.student):
            inbox.rewrite(_take_over(record, same))

    def _owner_of_aside(self, unit: Unit, match: Match) -> Student | None:
        """The student whose hand-in a person sets aside now. Only what is here is meant: later
        ones of the same name are this student's again."""
        now = {same(found) for found, student in self.said.items() if student == NOBODY}
        if not match.aside or same(unit.claim.found) not in now:
            return None
        return self.matcher.by_evidence(unit.claim).student

    def _set_aside(
        self, record: Record, contents: Contents, owner: Student, kept: Record | None
    ) -> None:
        """Where it lies, in the student's inbox or among what is nobody's, it counts no more."""
        self.set_aside.add(record.found)
        self._of_nobody.append(_row(ASIDE, record, owner, "set aside"))
        there = kept or self._known(record, owner)
        if self.dry_run:
            return
        if there is None:
            record.student = owner.id
            there = inbox.keep(record, contents, self._aside(record.found))
        if not there.set_aside:
            inbox.set_aside(there)

    def _known(self, record: Record, owner: Student) -> Record | None:
        """The same hand-in, where it is kept."""
        filed = self._place(owner.id, record.module).history if record.module else []
        aside = inbox.records(self._aside(record.found))
        return next((r for r in [*filed, *aside] if r.key == record.key), None)

    def _aside(self, found: str) -> Path:
        return self.classroom.unmatched / safe_name(found)

    def _place(self, student: str, module: str) -> _Place:
        if (student, module) not in self._places:
            history = inbox.records(self.classroom.inbox(module, student))
            self._places[student, module] = _Place(history, bool(history))
        return self._places[student, module]

    # -- what is graded

    def _finish(self, student: Student, module: str) -> Row:
        place = self._place(student.id, module)
        due = self.settings.due(module, student.id)
        counting = inbox.counting(place.history)
        if not counting:
            late = "overdue" if due is not None and self.now > due else ""
            why = "all of it was set aside" if place.history else "nothing was handed in"
            self._withdraw(student, module, place)
            return Row(MISSING, module, student, late=late, why=why)
        best = inbox.newest(place.history)
        if best is None:
            self._withdraw(student, module, place)
            last = counting[-1]
            row = _row(last.status, last, student, last.problem)
            told = f"{row.why} {row.remarks}"
            row.remarks += [t for t in last.left_out[:3] if t.partition(":")[0] not in told]
            return row
        at, remark = lateness.counted_time(best, self.settings, student.id)
        if not self.dry_run:
            self._submit(best, at, place)
        row = _row(place.state(best), best, student, best.problem)
        row.late = lateness.told(at, due)
        newer = inbox.newer_in_trouble(place.history, best)
        row.newer_broken = any(r.status == BROKEN for r in newer) and best.status != BROKEN
        row.remarks = [*([remark] if remark else []), *row.remarks, *place.others(best)]
        return row

    def _withdraw(self, student: Student, module: str, place: _Place) -> None:
        """What a person has set aside, where nothing else counts: graded no more."""
        target = self.classroom.submitted(student.id, module)
        if self.dry_run or not target.is_file():
            return
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        if digest in {inbox.notebook_digest(r) for r in place.history if r.set_aside}:
            target.unlink()
            (target.parent / TIMESTAMP).unlink(missing_ok=True)

    def _submit(self, record: Record, at: datetime | None, place: _Place) -> None:
        """The newest hand-in to nbgrader's submitted/, with its time."""
        target = self.classroom.submitted(record.student, record.module)
        if place.new or not target.exists() or place.is_outdated(target, record):
            write_atomic(target, inbox.notebook_of(record))
        stamp = target.parent / TIMESTAMP
        if at is None:
            stamp.unlink(missing_ok=True)
        elif read_timestamp(stamp) != at:
            write_atomic(stamp, write_timestamp(at))


@dataclass
class _Place:
    """A student's hand-ins for a module: all that are kept, and those that this call added."""

    history: list[Record]
    had_some: bool
    new: list[Record] = field(default_factory=list)

    def state(self, best: Record) -> str:
        if best.status == BROKEN:
            return BROKEN
        if not any(best is r for r in self.new):
            return UNCHANGED
        return NEWER if self.had_some else NEW

    def others(self, best: Record) -> list[str]:
        """Remarks on the hand-ins that do not count."""
        later = inbox.newer_in_trouble(self.history, best)
        remarks = [f"a later hand-in cannot be graded: {r.problem}; this one counts" for r in later]
        others = len(inbox.counting(self.history)) - 1 - len(later)
        if others:
            remarks.append(f"{counted(others, 'other hand-in')} in the inbox")
        if aside := len(self.history) - len(inbox.counting(self.history)):
            remarks.append(f"{counted(aside, 'hand-in')} set aside")
        return remarks

    def is_outdated(self, target: Path, best: Record) -> bool:
        """Whether an older hand-in is there, as after a call that was ended in the middle. What
        somebody mended by hand is none, and stays until a newer hand-in comes."""
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        older = {inbox.notebook_digest(r) for r in self.history if r is not best}
        return digest in older and digest != inbox.notebook_digest(best)


def _row(state: str, record: Record, student: Student | None, why: str | None) -> Row:
    return Row(
        state,
        record.module,
        student,
        record.found,
        record.platform,
        record.at,
        record.time_from,
        why=why or "",
        remarks=list(record.remarks),
    )


def _settle_notebook(record: Record, choice: Choice, contents: Contents) -> None:
    """Which kept file is graded, and whether it can be read."""
    if choice.entry is None:
        return
    path = choice.entry.parts[1:] or choice.entry.parts
    if path not in contents:
        shown = choice.entry.shown
        why = next((t for t in record.left_out if t.startswith(shown)), f"{shown}: not kept")
        record.status, record.problem = BROKEN, why
        return
    record.notebook = next(f["kept"] for f in record.files if f["path"] == "/".join(path))
    try:
        read_submission(contents[path])
    except UserError as error:
        record.status, record.problem = BROKEN, error.message


def _nbgraders_time(unit: Unit, choice: Choice) -> datetime | None:
    """The timestamp.txt beside the notebook, in a tree that nbgrader made."""
    if unit.claim.platform != NBGRADER or choice.entry is None:
        return None
    beside = (*choice.entry.parts[:-1], TIMESTAMP)
    stamp: Entry | None = next((e for e in unit.entries if e.parts == beside), None)
    try:
        return parse_time(stamp.read().decode("utf-8", "replace")) if stamp else None
    except UserError:
        return None


def _as_kept(record: Record, kept: Record) -> Record:
    """A hand-in that lies in the inbox already, with what is known of it now."""
    notebook = None
    if record.notebook is not None:
        path = next(f["path"] for f in record.files if f["kept"] == record.notebook)
        notebook = next((f["kept"] for f in kept.files if f["path"] == path), None)
    changes = {"notebook": notebook, "files": kept.files, "left_out": kept.left_out}
    if record.time_from != lateness.YOU:
        changes |= {"handed_in": kept.handed_in, "time_from": kept.time_from}
    return _take_over(replace(record, key=kept.key, source=kept.source, **changes), kept)


def _take_over(record: Record, kept: Record) -> Record:
    """The same hand-in where it lies already."""
    record.folder, record.collected_at = kept.folder, kept.collected_at
    return record
