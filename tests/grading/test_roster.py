"""Rosters as spreadsheets write them, and ids that can name folders on every system."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.errors import Problems, UserError
from tito.grading.roster import LONGEST, doubtful_columns, folder_id, is_plain, read_roster

ROSTER = "id,name,email,group,canvas_id,moodle_id\nu1,Zoë Ahl,z@x.example,A,17,\nu2,Šime,,,,9\n"


def read(tmp_path, data):
    path = tmp_path / "roster.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_roster(path)


@pytest.mark.parametrize(
    "data",
    [
        ROSTER.encode(),
        b"\xef\xbb\xbf" + ROSTER.encode(),
        ROSTER.encode("cp1252"),
        ROSTER.replace(",", ";").encode("cp1252"),
        ROSTER.replace(",", "\t").encode("utf-16"),
        b"sep=;\r\n" + ROSTER.replace(",", ";").replace("\n", "\r\n").encode(),
        ROSTER.replace("id,name,email", "ID, Name ,E-Mail", 1).encode(),
        (ROSTER + "\n,,,,,\n").encode(),
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path, data):
    first, second = read(tmp_path, data)
    assert (first.id, first.name, first.email, first.group) == ("u1", "Zoë Ahl", "z@x.example", "A")
    assert (first.canvas_id, second.moodle_id, second.name) == ("17", "9", "Šime")


def test_latin_1_is_read_too(tmp_path):
    [student] = read(tmp_path, b"id,name\nu1,Fran\xe7ois\n")
    assert student.name == "François"


def test_missing_and_repeated_ids_are_named_all_at_once_with_their_lines(tmp_path):
    with pytest.raises(Problems) as error:
        read(tmp_path, "id,name,canvas_id\nu1,Ann,5\n,Bob,\nu1,Cy,\nu4,Di,5\n")
    text = str(error.value)
    assert "roster.csv:3: Bob has no id" in text
    assert "roster.csv:4: the id u1 stands on line 2 already" in text
    assert "roster.csv:5: the canvas_id 5 stands on line 2 already" in text


def test_the_same_id_in_two_unicode_forms_is_repeated(tmp_path):
    with pytest.raises(Problems) as error:
        read(tmp_path, "id\nJos\u00e9\nJose\u0301\n")
    assert "line 2 already" in str(error.value)


def test_a_number_that_a_spreadsheet_has_rounded_is_named(tmp_path):
    with pytest.raises(Problems) as error:
        read(tmp_path, "id,name\n1.23457E+11,Ann\n")
    assert "rounded" in str(error.value)


@pytest.mark.parametrize("text", ["", "name,email\nAnn,a@x\n", "id,id\n1,2\n"])
def test_a_file_without_the_column_id_says_how_to_begin(tmp_path, text):
    with pytest.raises(UserError, match="id"):
        read(tmp_path, text)


def test_a_line_end_in_a_name_keeps_the_line_numbers(tmp_path):
    with pytest.raises(Problems) as error:
        read(tmp_path, 'id,name\nu1,"Ann\nLee"\n,Bob\n')
    assert "roster.csv:4" in str(error.value)


def test_a_comma_that_splits_a_name_is_named_with_its_line(tmp_path):
    with pytest.raises(Problems) as error:
        read(tmp_path, ROSTER + "u3,Lee, Ann,ann@x.example,,40,70\nu4,Kern, Ivo,,,,\n")
    text = str(error.value)
    assert "roster.csv:4: 7 fields, 6 columns" in text and "quotes" in text
    assert "roster.csv:5: 7 fields, 6 columns" in text


def test_a_gradebook_of_canvas_is_no_roster(tmp_path):
    head = "Student,ID,SIS User ID,SIS Login ID,Section,02_loops (9)"
    with pytest.raises(UserError, match="Canvas's gradebook") as error:
        read(tmp_path, f'{head}\n"Lee, Ann",501,u1,ann,A,\n"Student, Test",9,,x,A,\n')
    assert "canvas_id" in error.value.hint


@pytest.mark.parametrize(
    "header, said",
    [
        ("id,name,canvas", ["the column 'canvas' is not read; did you mean canvas_id?"]),
        ("ID;Names", ["the column 'names' is not read; did you mean name?"]),
        ("id,name,tutor,seat", []),
        ("id,canvas_id,canvas", []),
        ("id,name,,", []),
    ],
)
def test_a_column_that_is_nearly_one_of_ours_is_named_and_others_are_allowed(
    tmp_path, header, said
):
    read(tmp_path, f"{header}\nu1\n")
    assert doubtful_columns(tmp_path / "roster.csv") == said


@pytest.mark.parametrize("name", ["u1", "S1234567", "ann.lee@uni.example", "a-b_c", "7"])
def test_plain_ids_stay(name):
    assert folder_id(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "con",
        "NUL",
        "com1.txt",
        "lpt9",
        "a.",
        "a b",
        "a/b",
        "..",
        "a\\b",
        "José",
        "*",
        "-a",
        "x" * 99,
        "_unmatched",
        "a~b",
        ".hidden",
        "a:b",
        "",
    ],
)
def test_difficult_ids_become_safe_ones(name):
    assert_safe(folder_id(name))
    assert folder_id(name) != name


def assert_safe(made):
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@~-]*", made) and len(made) <= LONGEST
    assert not re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", made, re.IGNORECASE)
    assert not made.endswith((".", " ")) and not made.startswith("_")


@given(st.text(max_size=80))
def test_every_id_is_safe_and_stays_so(name):
    made = folder_id(name)
    assert_safe(made)
    assert folder_id(f"  {name} ") == made


@given(st.sets(st.text(alphabet="aA.~é 1", max_size=6), max_size=8))
def test_different_ids_get_different_folders_even_without_case(tmp_path_factory, names):
    names = {n.strip() for n in names} - {""}
    path = tmp_path_factory.mktemp("r") / "roster.csv"
    path.write_text("id\n" + "".join(f"{n}\n" for n in sorted(names)), encoding="utf-8")
    if not names:
        assert read_roster(path) == []
        return
    made = [s.id for s in read_roster(path)]
    assert len({m.casefold() for m in made}) == len(names)


def test_ids_that_differ_in_case_are_told_apart_whatever_their_order(tmp_path):
    one = {s.given_id: s.id for s in read(tmp_path, "id\nAnn\nann\nbob\n")}
    two = {s.given_id: s.id for s in read(tmp_path, "id\nbob\nann\nAnn\n")}
    assert one == two and one["bob"] == "bob"
    assert len({i.casefold() for i in one.values()}) == 3
    assert not is_plain(one["ann"]) and not is_plain(one["Ann"])
