"""When a hand-in counts as handed in, and how that is told."""

from __future__ import annotations

from datetime import datetime, timedelta

from tito.grading.classroom import Settings
from tito.grading.collect.inbox import Record
from tito.grading.collect.platforms import CANVAS

PLATFORM, YOU, FROM_FILE = "platform", "you", "file"


def counted_time(
    record: Record, settings: Settings, student: str
) -> tuple[datetime | None, str | None]:
    """(the time for timestamp.txt, None where it is in time or nobody knows; a remark).

    Canvas gives no time but says what is late: nothing else is, and by how much is not known.
    """
    due = settings.due(record.module, student)
    if record.at and record.time_from in (PLATFORM, YOU):
        return record.at, None
    if record.platform == CANVAS:
        return _canvas_time(record, due, settings.has_extension(record.module, student))
    if record.at and due and record.at > due:
        return record.at, "late by the time of the file itself, which copying may have changed"
    return record.at, None


def _canvas_time(
    record: Record, due: datetime | None, extended: bool
) -> tuple[datetime | None, str | None]:
    if not record.late:
        return None, None
    if due is None:
        return None, "Canvas marks it late; course.toml has no due time for it"
    if extended:
        return None, "Canvas marks it late; it has an extension, so it counts as in time"
    return (
        due + timedelta(seconds=1),
        "Canvas marks it late and gives no time: counted as one second late; "
        "collect it again with --handed-in TIME if you know better",
    )


def told(at: datetime | None, due: datetime | None) -> str:
    """Late or in time, in a few words; empty without a due time."""
    if due is None:
        return ""
    if at is None or at <= due:
        return "in time"
    return f"{duration(at - due)} late"


def duration(time: timedelta) -> str:
    """ "2 d 3 h", "5 h 10 min", "40 s"."""
    seconds = max(1, round(time.total_seconds()))
    parts = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            parts.append(f"{seconds // size} {unit}")
            seconds %= size
    return " ".join(parts[:2])
