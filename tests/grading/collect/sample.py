"""A class of five with two modules, and hand-ins in every shape that platforms give them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

from tito.grading.classroom import Classroom
from tito.grading.collect import Collection, Collector, Wanted, collect

AREAS = Wanted("01_areas", ("area", "area-test", "why"))
VOLUMES = Wanted("02_volumes", ("volume", "volume-test"))
SETTINGS = """\
course_id = "shapes"
secret = "{secret}"
{more}
"""
ROSTER = """\
id,name,email,group,canvas_id,moodle_id
u1,Ada Brook,ada.brook@uni.example,A,501,
u2,"Côté, Émile",emile@uni.example,A,502,9002
u3,Finn O'Hara,finn@uni.example,B,,
Grün Weiß,Grün Weiß,,B,504,
aux,Ivo Kern,,,,
"""


def make_class(root: Path, roster: str = ROSTER, more: str = "") -> Classroom:
    """A class folder without a grade book."""
    root.mkdir(parents=True)
    (root / "course.toml").write_text(SETTINGS.format(secret="ab" * 32, more=more))
    (root / "roster.csv").write_text(roster, encoding="utf-8")
    return Classroom.open(root)


def notebook(wanted: Wanted = AREAS, text: str = "", marked: bool = True) -> bytes:
    """A hand-in of a module; another `text` makes another one."""
    cells = []
    for grade_id in wanted.grade_ids:
        meta = {"nbgrader": {"grade_id": grade_id, "solution": True}} if marked else {}
        cells.append(
            {"cell_type": "code", "metadata": meta, "source": f"x = 1  # {text}", "outputs": []}
        )
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


def zipped(files: dict) -> bytes:
    """A zip; the names may be ZipInfo."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def put(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def run(classroom: Classroom, source: Path, whose: str | None = None, **options) -> Collection:
    """Collect as the command does; the class is read anew."""
    modules = [AREAS, VOLUMES]
    only = options.pop("only", None)
    collector = Collector(Classroom.open(classroom.root), modules, only, **options)
    return collect(collector, source, whose)


def states(collection: Collection) -> dict[str, str]:
    """Who is in which state; a student of several modules as "id module"."""
    many = len(collection.modules) > 1
    return {
        (r.student.given_id if r.student else r.found) + (f" {r.module}" if many else ""): r.state
        for r in collection.rows
    }


def row(collection: Collection, student: str, module: str | None = None):
    [found] = [
        r
        for r in collection.rows
        if (r.student.given_id if r.student else r.found) == student and module in (None, r.module)
    ]
    return found


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a class folder, but the lock."""
    return {
        str(p.relative_to(root)): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and p.name != ".tito.lock"
    }
