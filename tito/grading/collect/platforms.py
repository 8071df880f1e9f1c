"""Names that platforms give to hand-ins: who, which upload, when.

Canvas      lastfirst_[LATE_]userid_uploadid_name[-N].ipynb      (N: a later upload of it)
Moodle      Full Name_participant_assignsubmission_file_/name.ipynb, or without the folder
nbgrader    student+assignment+time+random/ (the exchange's inbound), submitted/student/...
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from tito.grading.times import parse_time

CANVAS, MOODLE, EXCHANGE, NBGRADER, PLAIN = "Canvas", "Moodle", "exchange", "nbgrader", "files"

_CANVAS = re.compile(
    r"(?P<who>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL
)
_MOODLE = re.compile(
    r"(?P<who>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<file>.*)", re.DOTALL
)
_EXCHANGE = (
    # The zone may hold a plus, 12:00:00.0 +0200, and so may a student's name.
    re.compile(
        r"(?P<who>.+)\+(?P<module>[^+]+)\+"
        r"(?P<time>\d{4}-\d\d-\d\d[ T_][^+]+\+\d\d:?\d\d)(\+[^+]*)?",
        re.DOTALL,
    ),
    re.compile(
        r"(?P<who>.+)\+(?P<module>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d[ T_][^+]+)(\+[^+]*)?",
        re.DOTALL,
    ),
)
_LATER_UPLOAD = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})(?P<ending>\.[A-Za-z.]+)")


@dataclass(frozen=True)
class Claim:
    """What a source says about whose a hand-in is.

    found : how a person finds it in the source, and names it in matches.csv
    name : an id, an email or a name, whatever the source has
    file : the name that the student gave the file, where it stands behind the platform's own
    upload : numbers that grow with each upload
    """

    found: str
    platform: str = PLAIN
    name: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    file: str = ""
    upload: int = 0
    late: bool = False
    at: datetime | None = None
    module: str = ""


def read_claim(name: str) -> Claim | None:
    """What the name of a file or folder says in the manner of a platform; None for other names.

    A student chooses how the name ends, so what stands first in it counts: a file that is called
    as another one's upload is still of the one whom the platform has put in front.

    >>> read_claim("leeann_LATE_77_1234_02_loops-1.ipynb").file
    '02_loops-1.ipynb'
    """
    return _exchange(name) or _canvas(name) or _moodle(name)


def _canvas(name: str) -> Claim | None:
    match = _CANVAS.fullmatch(name)
    if match is None:
        return None
    return Claim(
        f"{match['who']}_{match['user']}",
        CANVAS,
        name=match["who"],
        canvas_id=match["user"],
        file=match["file"],
        upload=int(match["upload"][:18]),
        late=match["late"] is not None,
    )


def _moodle(name: str) -> Claim | None:
    match = _MOODLE.fullmatch(name)
    if match is None:
        return None
    who, number = match["who"], match["id"]
    return Claim(f"{who}_{number}", MOODLE, name=who, moodle_id=number, file=match["file"])


def _exchange(name: str) -> Claim | None:
    for form in _EXCHANGE:
        match = form.fullmatch(name)
        if match and (at := parse_time(match["time"])):
            who = match["who"]
            return Claim(who, EXCHANGE, name=who, at=at, module=match["module"])
    return None


def later_upload(file: str) -> tuple[str, int]:
    """The name a file had when it was handed in first, and which upload of it this is.

    >>> later_upload("02_loops-3.ipynb"), later_upload("02_loops.ipynb")
    (('02_loops.ipynb', 3), ('02_loops.ipynb', 0))
    """
    match = _LATER_UPLOAD.fullmatch(file)
    return (match["stem"] + match["ending"], int(match["number"])) if match else (file, 0)
