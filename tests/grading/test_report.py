"""The table for people, JSON for programs, CSV for spreadsheets: the same facts in each."""

import csv
import io
import json
from fractions import Fraction

import pytest

from tito.grading import report
from tito.grading.batch import Row
from tito.grading.judge.result import BROKEN, FAILED, GRADED, MANUAL, PASSED, CellResult, Result
from tito.grading.wording import width


def rows():
    good = [
        CellResult("blur-test", PASSED, Fraction(7, 3), Fraction(7, 3)),
        CellResult("essay", MANUAL, Fraction(4)),
    ]
    bad = [
        CellResult(
            "blur-test", FAILED, Fraction(7, 3), Fraction(0), "wrong from row 1 on\n  got 3"
        ),
        CellResult("essay", MANUAL, Fraction(4)),
    ]
    none = Result("broken", "07_filters", reason="the file is empty")
    return [
        Row("ann", Result(module="07_filters", cells=good)),
        Row("=cmd()", Result(module="07_filters", cells=bad, deviations=["a note"])),
        Row("cy", none),
    ]


def test_nothing_waits_in_what_could_not_be_graded():
    manual = CellResult("why", MANUAL, Fraction(2))
    rows = [Row("ann", Result(BROKEN, cells=[manual], reason="no notebook"))]
    assert "come by hand" not in report.closing(rows)
    assert "come by hand" in report.closing([*rows, Row("bo", Result(GRADED, cells=[manual]))])


def test_the_table_has_a_line_a_student():
    lines = report.table(rows(), width=100).split("\n")
    assert len(lines) == 4
    assert lines[1].split()[:2] == ["ann", "2.33/2.33"]
    assert "blur-test: wrong from row 1 on" in lines[2] and "(1 note)" in lines[2]
    assert "broken: the file is empty" in lines[3]
    assert all(len(line) <= 100 for line in lines)


def test_a_long_message_is_cut_not_wrapped():
    long = rows()
    long[1].result.cells[0].message = "word " * 100
    assert max(map(len, report.table(long, width=80).split("\n"))) <= 80


def test_wide_signs_leave_the_columns_straight():
    wide = [*rows(), Row("李小龍", Result("broken", "07_filters", reason="龍" * 50))]
    lines = report.table(wide, width=60).split("\n")
    assert len({width(line.partition("broken:")[0]) for line in lines[3:]}) == 1
    assert lines[-1].endswith("...") and width(lines[-1]) <= 60


def test_the_closing_lists_what_could_not_be_graded():
    text = report.closing(rows())
    assert "2 of 3 hand-ins graded" in text and "up to 4 more points in each come by hand" in text
    assert "cy: broken, the file is empty" in text


def test_running_without_a_sandbox_is_said_loudly():
    confined = rows()
    for row in confined:
        row.result.isolation = ["landlock7", "rlimits"]
    assert "NOT ISOLATED" not in report.closing(confined)
    confined[0].result.isolation = ["rlimits"]
    assert "NOT ISOLATED" in report.closing(confined)


def test_json_has_every_field_and_exact_points():
    document = json.loads(report.to_json(rows()))
    assert document["version"] == 1
    first = document["submissions"][0]
    assert {
        "student", "module", "status", "points", "points_exact", "max_points",
        "cells", "deviations", "isolation", "before",
    } <= set(first)  # fmt: skip
    assert first["points_exact"] == "7/3"
    assert first["points"] == pytest.approx(7 / 3)
    assert set(first["cells"][0]) == {
        "id", "status", "points", "max_points", "message", "seconds"
    }  # fmt: skip


def test_csv_is_safe_in_a_spreadsheet():
    lines = list(csv.reader(io.StringIO(report.to_csv(rows()))))
    head = lines[0]
    assert head[:4] == ["student", "module", "status", "points"]
    assert head[-2:] == ["blur-test", "essay"]
    assert lines[2][0] == "'=cmd()"
    assert lines[2][-2:] == ["0", "manual"]
    assert lines[3][2] == "broken"
