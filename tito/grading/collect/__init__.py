"""Hand-ins of a class, from whatever a platform gives, into the class folder.

Nothing is guessed and nothing is dropped: each entry of a source ends in somebody's inbox, in
inbox/_unmatched, or in the list of what was passed over; everybody in the roster has a row in the
modules that a source is of.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tito.errors import UsageError
from tito.grading.collect import inbox, lateness
from tito.grading.collect.choosing import Wanted
from tito.grading.collect.collector import Collector
from tito.grading.collect.inbox import Record
from tito.grading.collect.platforms import PLAIN, Claim
from tito.grading.collect.rows import Collection, Row
from tito.grading.collect.sources import read_kept
from tito.grading.collect.units import Finder, Unit, Upload

__all__ = ["Collection", "Collector", "Row", "Wanted", "collect", "collect_again"]


def collect(
    collector: Collector,
    source: Path,
    whose: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Collection:
    """Take everything in a source; with `whose`, as one hand-in of that student.

    progress : hears how many hand-ins are done, and of how many
    """
    finder = Finder(collector.matcher, collector.divider.names)
    if whose is None:
        units = finder.find(source)
        _refuse_time_of_several(collector, units, source)
    else:
        _refuse_a_class_as_one(collector, source, whose)
        units = finder.whole(source, whose)
    for number, unit in enumerate(units, 1):
        collector.take(unit, source.resolve().name)
        if progress:
            progress(number, len(units))
    found = {unit.claim.found for unit in units}
    return Collection(collector.finish(), [*finder.passed, *collector.passed], found)


def collect_again(collector: Collector) -> Collection:
    """Look again at what is kept as nobody's: matches.csv or the roster may say more by now."""
    folders = sorted(collector.classroom.unmatched.glob("*"))
    kept = [r for folder in folders for r in inbox.counting(inbox.records(folder))]
    units = [_unit_of(record) for record in kept]
    _refuse_time_of_several(collector, units)
    for unit, record in zip(units, kept):
        collector.take(unit, record.source, record)
    return Collection(collector.finish(), [], {record.found for record in kept})


def _refuse_time_of_several(
    collector: Collector, units: list[Unit], source: Path | None = None
) -> None:
    """One time is no class's: with it all others would be late, or in time."""
    if collector.handed_in is None or collector.handed_in_of is not None:
        return
    people = {_owner(collector, unit) or unit.claim.found for unit in units}
    if len(people) > 1:
        raise UsageError(
            f"--handed-in is the time of one hand-in, and here are those of {len(people)}",
            path=source,
            hint=f'name whose it is: --as "FOUND=ID", as "{units[0].claim.found}=ID"',
        )


def _refuse_a_class_as_one(collector: Collector, source: Path, whose: str) -> None:
    """A download of a class under one student's name would mix everybody's answers."""
    units = Finder(collector.matcher, collector.divider.names).find(source)
    people = {_owner(collector, unit) for unit in units} - {None}
    if len(people) > 1:
        raise UsageError(
            f"--as {whose} takes all of SOURCE as one hand-in, and here are those of "
            f"{len(people)} people",
            path=source,
            hint=f'say which is theirs: --as "FOUND={whose}"; or name the one file or folder',
        )


def _owner(collector: Collector, unit: Unit) -> str | None:
    """Whose a hand-in is: a student, or whom a platform names; None where nothing says so."""
    student = collector.matcher.match(unit.claim).student
    if student is not None:
        return student.id
    return unit.claim.found if unit.claim.platform != PLAIN else None


def _unit_of(record: Record) -> Unit:
    """A hand-in of the inbox as it was found."""
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
