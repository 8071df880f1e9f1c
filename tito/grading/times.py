"""Times as platforms write them, to one kind: with a zone, in UTC."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

_TIME = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[ T_](?P<time>\d\d[:-]\d\d(?:[:-]\d\d)?(?:\.\d+)?)\s*(?P<zone>\S*)"
)
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")


def parse_time(text: str) -> datetime | None:
    """ "2026-12-01 22:59:00.000000 UTC", also with +0100, Europe/Berlin or no zone (UTC, as
    nbgrader reads it); None for what is no time or names a zone that is not known here.
    """
    match = _TIME.fullmatch(text.strip())
    zone = _zone(match["zone"]) if match else None
    if match is None or zone is None:
        return None
    clock, _, fraction = match["time"].replace("-", ":").partition(".")
    try:
        time = datetime.fromisoformat(f"{match['date']}T{clock}")
        time = time.replace(microsecond=int(fraction[:6].ljust(6, "0")), tzinfo=zone)
        return time.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None


def _zone(name: str) -> timezone | ZoneInfo | None:
    if name in ("", "Z", "UTC", "GMT"):
        return timezone.utc
    if match := _OFFSET.fullmatch(name):
        ahead = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-ahead if match[1] == "-" else ahead) if ahead.days < 1 else None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # no such zone, or no zones on this system
        return None
