"""A course with one module of two small exercises, hand-ins for it, and a class that hands them in.

Grading one takes a few milliseconds, so that a test can grade hundreds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tito.course import Course
from tito.grading.classroom import Classroom

NAME = "01_tiny"
SECRET = "5ec2e7" * 6
MASTER = '''\
# %% [markdown]
# # 01 Tiny

# %% nbgrader={"grade": false, "grade_id": "twice", "locked": false, "schema_version": 3, "solution": true, "task": false}
def twice(x):
    """2 x"""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "twice-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert twice(3) == 6, "twice 3"

# %% nbgrader={"grade": true, "grade_id": "twice-hidden", "locked": true, "points": 0.5, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests"]
assert twice("ab") == "abab", "a text"

# %% nbgrader={"grade": false, "grade_id": "less", "locked": false, "schema_version": 3, "solution": true, "task": false}
def less(x):
    """x - 1"""
    ### BEGIN SOLUTION
    return x - 1
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "less-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert less(3) == 2, "3 less 1"
'''  # noqa: E501 (a cell's metadata stands on one line)
RIGHT = {"twice": "return 2 * x", "less": "return x - 1"}


def make_course(folder: Path) -> Course:
    module = folder / "modules" / NAME
    module.mkdir(parents=True)
    (module / f"{NAME}.py").write_text(MASTER)
    (folder / "tinykernels").mkdir()
    (folder / "tinykernels" / "__init__.py").write_text("")
    return Course(folder)


def hand_in(**bodies: str) -> bytes:
    """A notebook with these bodies; what is not named is right."""
    cells = []
    for name, body in {**RIGHT, **bodies}.items():
        meta = {"grade": False, "grade_id": name, "solution": True, "locked": False}
        cell = {"cell_type": "code", "id": name, "metadata": {"nbgrader": meta}}
        source = f"def {name}(x):\n    {body}\n"
        cells.append({**cell, "source": source, "outputs": [], "execution_count": None})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def make_class(folder: Path, course: Course, handed_in: Mapping[str, bytes | None]) -> Classroom:
    """A class folder in which these students handed these files in; None is nothing."""
    folder.mkdir()
    (folder / "roster.csv").write_text("id,name\n" + "".join(f"{s},\n" for s in handed_in))
    toml = f'course_id = "tiny"\nsecret = "{SECRET}"\ncourse = {json.dumps(str(course.root))}\n'
    (folder / "course.toml").write_text(toml)
    room = Classroom.open(folder)
    for student, data in handed_in.items():
        if data is not None:
            submit(room, student, data)
    return room


def submit(room: Classroom, student: str, data: bytes) -> None:
    path = room.submitted(student, NAME)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
