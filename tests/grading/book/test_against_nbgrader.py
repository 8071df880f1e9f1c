"""The tables hold what nbgrader itself writes for the same module and the same hand-ins."""

from __future__ import annotations

import csv
import os
import sqlite3
import sys
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from tests.grading.book.sample import HANDINS, NAME, Class, source_ipynb
from tito.grading.book import read_marks
from tito.grading.book.database import create

# What nbgrader writes, whose version is one for all; what we write is tried on every Python.
pytestmark = pytest.mark.newest

HANDIN = """submitted_notebook n JOIN submitted_assignment a ON a.id = n.assignment_id"""
TABLES = {
    "assignment": "SELECT name, duedate, course_id FROM assignment",
    "notebook": "SELECT n.name, kernelspec, a.name FROM notebook n "
    "JOIN assignment a ON a.id = n.assignment_id",
    "cells": "SELECT c.name, c.type, g.max_score, g.cell_type, t.max_score, t.cell_type "
    "FROM base_cell c LEFT JOIN grade_cells g ON g.id = c.id LEFT JOIN task_cells t ON t.id = c.id",
    "source cells": "SELECT name, cell_type, locked, source, checksum FROM source_cell",
    "students": "SELECT id FROM student WHERE id IN (SELECT student_id FROM submitted_assignment)",
    "hand-ins": "SELECT student_id, timestamp, extension, flagged, late_submission_penalty "
    f"FROM {HANDIN}",
    "grades": "SELECT student_id, c.name, c.type, auto_score, manual_score, extra_credit, "
    f"needs_manual_grade FROM grade g JOIN base_cell c ON c.id = g.cell_id, {HANDIN} "
    "WHERE n.id = g.notebook_id",
    "comments": "SELECT student_id, c.name, c.type, auto_comment, manual_comment "
    f"FROM comment g JOIN base_cell c ON c.id = g.cell_id, {HANDIN} WHERE n.id = g.notebook_id",
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory) -> Class:
    """nbgrader's own run over the class: in this process, which has imported it already."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    own = Class(tmp_path_factory.mktemp("nbgrader") / "class")
    source = own.root / "source" / NAME
    source.mkdir(parents=True)
    (source / f"{NAME}.ipynb").write_text(source_ipynb())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        )
        patch.setenv("IPYTHONDIR", str(own.root.parent / "ipython"))
        config = PyFileConfigLoader("nbgrader_config.py", path=str(own.root)).load_config()
        config.LoggingConfigurable.log_level = 50
        api = NbGraderAPI(CourseDirectory(root=str(own.root), config=config), config=config)
        assert api.generate_assignment(NAME)["success"]
        with closing(api.gradebook) as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate="2026-12-01 11:00:00 UTC")
            for student in HANDINS:
                gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission(NAME, "cem")
            gradebook.grant_extension(NAME, "cem", days=2)
        for student in HANDINS:
            done = api.autograde(NAME, student)
            assert done["success"], done
    return own


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_nbgrader_s(template, theirs, table):
    rows = sorted(Class.at(template).query(TABLES[table]), key=str)
    assert rows == sorted(theirs.query(TABLES[table]), key=str)
    assert rows


def test_an_empty_book_is_as_nbgrader_makes_it(tmp_path, monkeypatch):
    """Its tables and their version, for which nbgrader asks a program."""
    from nbgrader.api import Gradebook

    folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    Gradebook(f"sqlite:///{tmp_path / 'theirs.db'}", "kernels").close()
    create(tmp_path / "ours.db", "kernels")
    for query in (
        "SELECT name, sql FROM sqlite_master ORDER BY name",
        "SELECT * FROM alembic_version",
        "SELECT * FROM course",
    ):
        found = []
        for name in ("ours.db", "theirs.db"):
            with closing(sqlite3.connect(tmp_path / name)) as book:
                found.append([str(row) for row in book.execute(query)])
        assert found[0] == found[1] != []


def test_nbgrader_exports_the_same_marks(own, tmp_path):
    """Ten tenths, thirds, extra credit and a penalty: the sums agree to the cent."""
    from nbgrader.api import Gradebook
    from nbgrader.plugins.export import CsvExportPlugin

    for cell in ("total-test", "total-hidden", "mean-test", "own", "reflect-1"):
        own.give("ann", cell, 0.1)
        own.give("cem", cell, 1 / 3)
    own.change("UPDATE grade SET extra_credit=0.7 WHERE rowid=(SELECT min(rowid) FROM grade)")
    [ours], _ = read_marks(own.room)
    target = tmp_path / "theirs.csv"
    with closing(Gradebook(own.room.db_url, "kernels")) as gradebook:
        CsvExportPlugin(to=str(target)).export(gradebook)
    with target.open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert rows.keys() == {"ann", "ben", "cem", "dua"}
    for student, marks in ours.students.items():
        for name, value in (
            ("raw_score", marks.raw_score),
            ("late_submission_penalty", marks.penalty),
            ("score", marks.score),
        ):
            assert abs(Fraction(rows[student][name]) - value) < Fraction(1, 10**9)
    assert ours.students["cem"].raw_score == Fraction(5, 3)
    assert ours.students["ann"].raw_score == Fraction(1, 2) + Fraction(7, 10)
    assert {Fraction(row["max_score"]) for row in rows.values()} == {ours.max_score}
