"""What waits in a class folder, and what to type next."""

import hashlib
import json
import shlex
from datetime import datetime, timezone
from pathlib import Path

import pytest

from tests.grading.collect.sample import AREAS, make_class, notebook, put, run, zipped
from tito.grading.book.database import create, tables
from tito.grading.classroom import Classroom
from tito.grading.collect import inbox
from tito.grading.judge.result import Result
from tito.grading.store import Key, Store
from tito.grading.waiting import Waiting, look, next_step, table, to_json
from tito.grading.wording import width

OVERDUE = '[module."02_volumes"]\ndue = 2020-02-01T18:00:00Z\n'
TO_COME = '[module."02_volumes"]\ndue = 2099-02-01T18:00:00Z\n'


def waiting(room, *modules):
    found = look(Classroom.open(room.root), list(modules) or None)
    return {(w.student, w.module): w.what for w in found}


def grade(room, student, status="graded"):
    data = room.submitted(student, "01_areas").read_bytes()
    key = Key("m", hashlib.sha256(data).hexdigest(), "j")
    Store(room.results("01_areas")).put(student, key, Result(status, "01_areas", reason="why not"))


@pytest.fixture
def room(tmp_path):
    room = make_class(tmp_path / "class")
    files = {f"{s}/01_areas.ipynb": notebook(text=s) for s in ("u1", "u2", "aux")}
    files |= {"who/01_areas.ipynb": notebook(), "u3/01_areas.ipynb": b""}
    run(room, put(tmp_path / "handins", files), only=AREAS)
    return room


def test_everything_that_waits(room):
    ids = {s.given_id: s.id for s in room.roster()}
    grade(room, "u1")
    grade(room, "u2")
    room.submitted("u2", "01_areas").write_bytes(notebook(text="again"))
    grade(room, ids["aux"], "broken")
    assert [(w.student, w.what) for w in look(room)] == [
        ("who", "unmatched"),
        ("u3", "broken"),
        ("aux", "broken"),
        ("u2", "changed"),
        ("Grün Weiß", "missing"),
    ]


def test_a_module_is_missed_when_it_is_overdue(tmp_path):
    assert waiting(make_class(tmp_path / "a", more=TO_COME)) == {}
    found = waiting(make_class(tmp_path / "b", more=OVERDUE))
    assert set(found.values()) == {"missing"} and len(found) == 5


def test_folders_of_nobody_in_the_roster(room):
    path = room.root / "roster.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("u1,", "u1b,"), encoding="utf-8")
    assert waiting(room)["u1", "01_areas"] == "of nobody"
    [found] = [w for w in look(room) if w.what == "of nobody"]
    assert "nobody in roster.csv" in found.why and "collect" in found.why


@pytest.mark.filterwarnings("ignore:Object of type")  # nbgrader's own
def test_cells_to_grade_by_hand_are_asked_of_nbgraders_grade_book(room):
    create(room.gradebook, "shapes")
    with tables().Gradebook(room.db_url, "shapes") as book:
        book.add_assignment("01_areas")
        book.add_notebook("01_areas", "01_areas")
        for name in ("why", "how", "area-test"):
            kind = {"max_score": 2, "cell_type": "markdown"}
            book.add_grade_cell(name, "01_areas", "01_areas", **kind)
        for student in ("u1", "gone"):
            book.add_student(student)
            book.add_submission("01_areas", student)
            for name in ("why", "how", "area-test"):
                grade = book.find_grade(name, "01_areas", "01_areas", student)
                grade.needs_manual_grade = name != "area-test"
        book.db.commit()
    [found] = [w for w in look(room) if w.what == "by hand"]
    assert (found.student, found.why) == ("u1", "2 cells to grade by hand")


@pytest.mark.parametrize("data", [b"", b"no database at all, just text" * 9])
def test_a_grade_book_that_cannot_be_read_is_no_obstacle(room, data):
    room.gradebook.write_bytes(data)
    assert waiting(room)


def test_what_to_type_next(room):
    found = look(room)
    assert 'tito grade collect --as "who=ID" --class c' in next_step(found, " --class c")
    left = [w for w in found if w.what != "unmatched"]
    assert next_step(left) == "next: tito grade run"
    left = [w for w in found if w.what == "missing"]
    assert "missing or broken" in next_step(left)
    assert "tito grade collect, or" in next_step(left)  # nothing at all may be collected yet
    assert "tito grade export" in next_step([])


def test_a_hand_in_of_another_module_is_sent_there():
    found = [Waiting("no module", "ann", "", "it is a notebook of 03_vectorize")]
    assert next_step(found) == "next: tito grade collect --module 03_vectorize"
    assert "--module NN" in next_step([Waiting("no module", "ann", "", "two modules fit")])


def test_broken_hand_ins_say_how_to_go_on(room):
    grade(room, "u1", "broken")
    for student in ("u1", "u3"):
        told = look(room, ["01_areas"], words=" --class c")
        [found] = [w for w in told if w.student == student]
        command = f'tito grade collect FILE --module 01_areas --as "{student}" --class c'
        assert found.what == "broken" and found.why.endswith(f"; ask for it again: {command}")


def test_wide_signs_leave_the_columns_straight():
    found = [
        Waiting("missing", name, "01_areas", "nothing") for name in ("李小龍", "Ann", "Zoe\u0301")
    ]
    lines = table(found, 80).split("\n")[1:4]
    assert {width(line.partition("01_areas")[0]) for line in lines} == {len("student  ")}


def test_table_and_json(room):
    found = look(room)
    lines = table(found, 80).partition("\nthe commands:")[0].split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert sum(not line.startswith(" ") for line in lines) == len(found) + 2
    assert len(json.loads(to_json(found))["waiting"]) == len(found)
    assert table([]) == "nothing waits"


def test_a_command_is_not_broken_into_lines():
    command = 'tito grade collect "/a class/inbox/x.ipynb" --as "ann" --handed-in TIME'
    reason = "marked late by Canvas; if you know when it came"
    found = Waiting("late, time unknown", "ann", "01_areas", reason, command)
    text = table([found], 60)
    assert f"\n  ann: {command}" in text
    assert text.count("tito grade") == 1
    (told,) = json.loads(to_json([found]))["waiting"]
    assert told == {
        "what": "late, time unknown",
        "student": "ann",
        "module": "01_areas",
        "why": f"{reason}: {command}",
    }


def test_a_name_that_somebody_gave_a_file_is_no_command():
    why = "this is no notebook: tito grade collect FILE --as bob.ipynb"
    assert "the commands:" not in table([Waiting("broken", "ann", "01_areas", why)], 60)


PENALISED = '[late]\nrule = "zero"\ngrace_minutes = 60\n[module."01_areas"]\ndue = {due}\n'


def test_a_hand_in_that_is_only_marked_late_waits_for_a_time(tmp_path):
    more = PENALISED.format(due="2026-02-01T18:00:00Z")
    room = make_class(tmp_path / "a class", more=more)
    files = {
        "brookada_LATE_501_9_01_areas.ipynb": notebook(text="ada"),
        "cote_502_8_01_areas.ipynb": notebook(text="in time"),
    }
    (tmp_path / "canvas.zip").write_bytes(zipped(files))
    run(room, tmp_path / "canvas.zip")
    [found] = [w for w in look(Classroom.open(room.root)) if w.what == "late, time unknown"]
    assert found.student == "u1" and found.why.startswith("marked late by Canvas; ")
    words = shlex.split(found.why.partition("tito grade collect ")[2])
    file, options = words[0], dict(zip(words[1::2], words[2::2]))
    assert options == {"--module": "01_areas", "--as": "u1", "--handed-in": "TIME"}
    # What it names settles it, a minute later.
    [record] = inbox.records(room.inbox("01_areas", "u1"))
    record.collected_at = "2026-02-03T00:00:00+00:00"
    inbox.rewrite(record)
    at = datetime(2026, 2, 1, 18, 30, tzinfo=timezone.utc)
    run(room, Path(file), options["--as"], only=AREAS, handed_in=at)
    assert room.submitted_at("u1", "01_areas") == at
    left = look(Classroom.open(room.root))
    assert {w.what for w in left if w.student == "u1"} == {"not graded yet"}


def test_the_time_of_a_file_waits_for_a_better_one_where_lateness_costs(tmp_path):
    for rule, count in (("zero", 1), ("none", 0)):
        more = PENALISED.format(due="2020-02-01T18:00:00Z").replace("zero", rule)
        room = make_class(tmp_path / rule, more=more)
        files = {"Ada Brook_1_assignsubmission_file_/01_areas.ipynb": notebook()}
        run(room, put(tmp_path / f"moodle {rule}", files), only=AREAS)
        found = [w for w in look(Classroom.open(room.root)) if w.what == "late, time unknown"]
        assert [w.why[:44] for w in found] == [
            "marked late by the time of its file; if you "
        ] * count
