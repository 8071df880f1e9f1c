"""Whose a hand-in is: by what is certain, else by a person."""

import pytest

from tests.grading.collect.sample import make_class
from tito.errors import Problems
from tito.grading.collect.matching import Matcher, add_matches, read_matches
from tito.grading.collect.platforms import Claim, read_claim

TWINS = """\
id,name,email,group,canvas_id,moodle_id
t1,Kim Lee,kim@a.example,,1,
t2,Lee Kim,kim@b.example,,,
t3,Ola Nord,ola@b.example,B,3,77
t4,Per Sund,,,4,78
"""


def matcher(tmp_path, roster=None, **matches):
    room = make_class(tmp_path / "class", *([roster] if roster else []))
    return Matcher(room.roster(), matches)


def plain(name):
    return Claim(name, name=name)


@pytest.mark.parametrize(
    "name, student, by",
    [
        ("u1", "u1", "id"),
        ("U1", "u1", "id"),
        ("ada.brook@uni.example", "u1", "email"),
        ("Ada.Brook", "u1", "email"),
        ("Ada Brook", "u1", "name"),
        ("Brook, Ada", "u1", "name"),
        ("brook_ada", "u1", "name"),
        ("Cote Emile", "u2", "name"),
        ("E\u0301mile C\u00f4t\u00e9", "u2", "name"),
        ("finn-ohara", "u3", "name"),
        ("GRÜN WEISS", "Grün Weiß", "id"),
        ("aux", "aux", "id"),
        ("brookada_501_1_x.ipynb", "u1", "canvas_id"),
        ("oharafinn_777_1_x.ipynb", "u3", "name"),
        ("Émile Côté_9002_assignsubmission_file_", "u2", "moodle_id"),
        ("Ada Brook_4_assignsubmission_file_", "u1", "name"),
        ("A-Ada Brook_4_assignsubmission_file_", "u1", "name"),
    ],
)
def test_what_fits_one_student(tmp_path, name, student, by):
    found = matcher(tmp_path).match(read_claim(name) or plain(name))
    assert (found.student.given_id, found.by) == (student, by)


@pytest.mark.parametrize("name", ["Ada", "Brook", "u", "u11", "ada brook jr", "", "-", "u1 u2"])
def test_what_fits_in_part_is_not_guessed(tmp_path, name):
    assert matcher(tmp_path).match(plain(name)).student is None


@pytest.mark.parametrize("name", ["Kim Lee", "kim", "leekim_9_1_x.ipynb"])
def test_what_fits_several_names_them(tmp_path, name):
    claim = read_claim(name) or plain(name)
    match = matcher(tmp_path, TWINS).match(claim)
    if claim.canvas_id:  # t1 has another number there
        assert match.student.given_id == "t2"
        return
    assert match.student is None and "t1" in match.why and "t2" in match.why


@pytest.mark.parametrize(
    "name",
    ["sundper_3_1_x.ipynb", "Per Sund_77_assignsubmission_file_"],
)
def test_a_number_against_a_name_is_for_a_person(tmp_path, name):
    match = matcher(tmp_path, TWINS).match(read_claim(name))
    assert match.student is None and {s.given_id for s in match.candidates} == {"t3", "t4"}


def test_a_name_with_another_number_at_canvas_is_another_person(tmp_path):
    assert matcher(tmp_path, TWINS).match(read_claim("nordola_99_1_x.ipynb")).student is None


def test_a_persons_word_comes_first(tmp_path):
    own = matcher(tmp_path, TWINS, **{"Kim Lee": "t2", "Ola Nord": "-"})
    assert own.match(plain("Kim Lee")).student.id == "t2"
    aside = own.match(plain("Ola Nord"))
    assert aside.student is None and aside.aside


def test_matches_are_kept_and_read_again(tmp_path):
    room = make_class(tmp_path / "class")
    add_matches(room.matches, {"Some, One_7": "Grün Weiß"})
    add_matches(room.matches, {"test account": "-"})
    weiss = room.roster()[3].id
    found = read_matches(room.matches, room.roster())
    assert found == {"Some, One_7": weiss, "test account": "-"}


def test_matches_as_excel_writes_them_and_their_mistakes(tmp_path):
    room = make_class(tmp_path / "class")
    room.matches.write_bytes(b"\xef\xbb\xbffound;student\r\nx, y;u1\r\n;\r\n")
    assert read_matches(room.matches, room.roster()) == {"x, y": "u1"}
    room.matches.write_text("found,student\nx,u99\nalone\n")
    with pytest.raises(Problems) as error:
        read_matches(room.matches, room.roster())
    assert "matches.csv:2" in str(error.value) and "matches.csv:3" in str(error.value)
