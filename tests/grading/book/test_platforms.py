"""Marks into Canvas's and Moodle's own sheets: the right row or none."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

import pytest

from tito.errors import UserError
from tito.grading.book import CellMark, Marks, Sheet, fill
from tito.grading.roster import Student

ROSTER = [
    Student("ann", "Ann Arendt", "ann@example.org", "A", "101", "2001", "ann"),
    Student("ben", "Ben Bloch", "ben@example.org", "A", "102", "2002", "ben"),
    Student("cem~1", "Cem Öz", "cem@example.org", "B", "", "", "Cem Öz"),
]
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,02 Loops (11),Old loops (7),Current Score
,,,,,Manual Posting,,
    Points Possible,,,,,21,10,(read only)
"Arendt, Ann",101,S1,ann,1,,9,
"Bloch, Ben",102,S2,x,1,3.50,9,
"Öz, Cem",103,Cem Öz,,1,,9,
"Student, Test",900,,,1,,,
"""
MOODLE = """\
Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,Notes
Participant 9001,Ann Arendt,,ANN@example.org,Submitted,,21.00,Yes,"=1+1"
Participant 9002,Ben Bloch,ben,,Submitted,3.50,21.00,No,
Participant 9003,Cem Öz,Cem Öz,,Submitted,,21.00,Yes,
"""


def marks(student, points, penalty=0):
    cells = {"a": CellMark(Fraction(points))}
    return Marks(student, datetime(2026, 12, 1), Fraction(penalty), cells)


ALL = {s.id: marks(s.id, p) for s, p in zip(ROSTER, ("21/2", "7/2", "20/3"))}


def filled(tmp_path, platform, text, **more):
    path = tmp_path / "sheet.csv"
    path.write_text(text, encoding="utf-8", newline="")
    given = {"marks": ALL, "module": "02_loops", "max_score": Fraction(21), "column": None, **more}
    return fill(platform, Sheet.read(path), ROSTER, **given)


def text_of(result):
    return result.sheet.to_bytes().decode()


def test_canvas(tmp_path):
    result = filled(tmp_path, "canvas", CANVAS)
    assert text_of(result) == CANVAS.replace(",ann,1,,", ",ann,1,10.5,").replace(
        "Cem Öz,,1,,", "Cem Öz,,1,6.67,"
    )
    assert result.filled == ["ann", "ben", "cem~1"]
    assert result.changed == ["ann", "cem~1"]  # 3.50 is 3.5 already
    assert (result.left, result.without_row, result.notes) == ([], [], [])
    assert result.column == "02 Loops (11)"


def test_moodle(tmp_path):
    result = filled(tmp_path, "moodle", MOODLE)
    assert text_of(result) == MOODLE.replace("org,Submitted,,", "org,Submitted,10.5,").replace(
        "Öz,,Submitted,,", "Öz,,Submitted,6.67,"
    )
    assert result.left == [("Ben Bloch", "Moodle does not let this grade be changed")]


def test_a_penalty_is_taken_off(tmp_path):
    late = {"ann": marks("ann", 10, "5/2")}
    assert ",ann,1,7.5," in text_of(filled(tmp_path, "canvas", CANVAS, marks=late))


def test_what_came_instead_of_a_notebook_is_said(tmp_path):
    why = "no notebook was handed in (there is answers.pdf)"
    result = filled(tmp_path, "canvas", CANVAS, marks={"ann": ALL["ann"]}, doubtful={"ben": why})
    assert ("Bloch, Ben", why) in result.left


def test_rows_and_students_without_each_other_are_listed(tmp_path):
    text = CANVAS.replace('"Bloch, Ben",102,S2,x', '"Lee, D",999,S9,y')
    result = filled(tmp_path, "canvas", text)
    assert result.left == [("Lee, D", "not in the roster")]
    assert result.without_row == ["ben"]
    result = filled(tmp_path, "canvas", CANVAS, marks={"ann": ALL["ann"]})
    assert result.left == [
        ("Bloch, Ben", "nothing was handed in"),
        ("Öz, Cem", "nothing was handed in"),
    ]


@pytest.mark.parametrize(
    ("platform", "text", "row", "key"),
    [
        ("canvas", CANVAS.replace("103,Cem Öz", "103,S3"), "Öz, Cem", "canvas_id"),
        ("moodle", MOODLE.replace("Cem Öz,Cem Öz", "Cem Öz,"), "Cem Öz", "moodle_id"),
    ],
)
def test_whom_only_the_name_fits_is_told_what_the_roster_lacks(tmp_path, platform, text, row, key):
    result = filled(tmp_path, platform, text)
    assert (row, f"only the name fits cem~1: fill in {key} in roster.csv") in result.left
    assert "cem~1" in result.without_row


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("102,S2,x", "102,ann,x", "it could be ben or ann"),
        ("102,S2,x", "999,ben,x", "it could be ben, whose canvas_id is 102"),
        ("102,S2,x", "101,S2,x", "ann stands on line 4 already"),
        ("1,3.50", "1,EX", "excused in Canvas"),
        ("1,3.50", "1, ex", "excused in Canvas"),
    ],
)
def test_a_row_in_doubt_is_left_as_it_was(tmp_path, old, new, why):
    text = CANVAS.replace(old, new)
    result = filled(tmp_path, "canvas", text)
    assert ("Bloch, Ben", why) in result.left
    line = next(x for x in text.splitlines() if x.startswith('"Bloch'))
    assert line in text_of(result).splitlines()


def test_points_that_should_not_go_out_do_not(tmp_path):
    result = filled(tmp_path, "canvas", CANVAS, doubtful={"ann": "a broken upload"})
    assert result.left == [("Arendt, Ann", "a broken upload")]


def test_moodle_s_number_counts_only_with_the_same_name(tmp_path):
    blind = "Identifier,Status,Grade\nParticipant 2001,Submitted,\n"
    assert text_of(filled(tmp_path, "moodle", blind)).endswith("Submitted,10.5\n")
    named = "Identifier,Full name,Grade\nParticipant 2001,Arendt Ann,\nParticipant 2002,D Lee,\n"
    result = filled(tmp_path, "moodle", named)
    assert result.filled == ["ann"]
    assert result.left == [("D Lee", "its number is the moodle_id of ben, its name is another")]


def test_a_moodle_in_another_language_is_told_its_column(tmp_path):
    text = "ID;Vollständiger Name;Bewertung\nTeilnehmer/in2001;Ann Arendt;\n"
    with pytest.raises(UserError, match="no column Grade") as caught:
        filled(tmp_path, "moodle", text)
    assert "'Bewertung'" in caught.value.hint
    result = filled(tmp_path, "moodle", text, column="bewertung")
    assert text_of(result).endswith("Arendt;10.5\n")


@pytest.mark.parametrize("column", ["02 Loops (11)", "02 loops", "11"])
def test_the_column_by_its_name_or_number(tmp_path, column):
    assert filled(tmp_path, "canvas", CANVAS, column=column).column == "02 Loops (11)"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Module A (11)", "no column of the sheet speaks of 02_loops"),
        ("Loops again (11)", "more than one column of the sheet speaks of 02_loops"),
    ],
)
def test_a_column_is_not_guessed(tmp_path, header, said):
    text = CANVAS.replace("02 Loops (11)", header)
    text = text if "again" in header else text.replace("Old loops (7)", "Old (7)")
    with pytest.raises(UserError, match=said) as caught:
        filled(tmp_path, "canvas", text)
    assert header in caught.value.hint


@pytest.mark.parametrize("name", ["02_loops", "Loops 2", "Module 2: loops", "2"])
@pytest.mark.parametrize("other", ["Old loops", "Essay", "12"])
def test_the_column_that_speaks_most_of_the_module_is_it(tmp_path, name, other):
    text = CANVAS.replace("02 Loops (11)", f"{name} (11)").replace("Old loops (7)", f"{other} (7)")
    if (name, other) == ("2", "Old loops"):  # one has the number, one the name
        with pytest.raises(UserError, match="more than one"):
            filled(tmp_path, "canvas", text)
    else:
        assert filled(tmp_path, "canvas", text).column == f"{name} (11)"


@pytest.mark.parametrize("platform", ["canvas", "moodle"])
def test_another_maximum_is_noted(tmp_path, platform):
    text = {"canvas": CANVAS.replace(",21,", ",100,"), "moodle": MOODLE.replace("21.00", "100.00")}
    result = filled(tmp_path, platform, text[platform])
    assert "100 points at most, the module 21" in result.notes[0]


def test_the_wrong_file_is_said_so(tmp_path):
    with pytest.raises(UserError, match="no grade book of Canvas"):
        filled(tmp_path, "canvas", MOODLE)
