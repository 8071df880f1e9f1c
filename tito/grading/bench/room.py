"""A scratch class folder with a synthetic class in it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path

from tito.course import Course
from tito.files import write_atomic
from tito.grading.bench.synthetic import Synthetic
from tito.grading.classroom import ROSTER, SETTINGS, Classroom
from tito.grading.roster import COLUMNS

SECRET = "00112233445566778899aabbccddeeff"


def make_room(
    folder: Path, module: str, hand_ins: Iterable[Synthetic], course: Course
) -> tuple[Classroom, dict[str, str]]:
    """The class folder, and of which kind each student's hand-in is."""
    kinds = {}
    for hand_in in hand_ins:
        kinds[hand_in.student] = hand_in.kind
        target = folder / "submitted" / hand_in.student / module / f"{module}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(hand_in.data)
    folder.mkdir(exist_ok=True)
    with open(folder / ROSTER, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([student] + [""] * (len(COLUMNS) - 1) for student in kinds)
    # TOML has JSON's strings.
    settings = {"course_id": "bench", "secret": SECRET, "course": str(course.root.resolve())}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    write_atomic(folder / SETTINGS, text)
    return Classroom.open(folder), kinds
