"""Downloads of every kind into a class folder: nothing guessed, nothing dropped."""

import json
import os
import stat
import tracemalloc
import zipfile
from datetime import datetime, timedelta, timezone
from functools import partial

import pytest

from tests.grading.collect.sample import (
    AREAS,
    ROSTER,
    VOLUMES,
    make_class,
    notebook,
    put,
    row,
    run,
    states,
    tree,
    zipped,
)
from tito.errors import UsageError
from tito.grading.classroom import Classroom
from tito.grading.collect import Collector, collect_again, inbox, sources
from tito.grading.collect.showing import closing, table, to_json
from tito.grading.collect.sources import Budget

posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
DUE = '[module."01_areas"]\ndue = 2030-02-01T18:00:00Z\n'
AT_DUE = datetime(2030, 2, 1, 18, tzinfo=timezone.utc)


@pytest.fixture
def room(tmp_path):
    return make_class(tmp_path / "class", more=DUE)


def submitted(room, student, module="01_areas"):
    ids = {s.given_id: s.id for s in room.roster()}
    path = room.submitted(ids[student], module)
    return path.read_bytes() if path.is_file() else None


def zip_file(tmp_path, files, name="download.zip"):
    path = tmp_path / name
    path.write_bytes(zipped(files))
    return path


# -- Canvas


def test_what_is_no_notebook_is_named_and_the_command_that_settles_it_can_be_copied(tmp_path, room):
    found = run(room, zip_file(tmp_path, {"brookada_501_9_answers.pdf": b"%PDF-1.4"}))
    text = closing(found, words=' --class "a class"')
    assert "which module? no notebook in it says so (there is answers.pdf)" in text
    assert '  which module: tito grade collect --module NN --class "a class"\n' in text + "\n"


def test_a_download_of_canvas(tmp_path, room):
    source = zip_file(
        tmp_path,
        {
            "brookada_501_71_01_areas.ipynb": notebook(text="first"),
            "brookada_501_74_01_areas-1.ipynb": notebook(text="second"),
            "coteemile_LATE_502_72_solution.ipynb": notebook(text="cote"),
            "grunweiss_504_73_01_areas.ipynb": b"<html>log in</html>",
            "someone_599_75_01_areas.ipynb": notebook(text="whose"),
        },
    )
    found = run(room, source)
    assert states(found) == {
        "u1": "new",
        "u2": "new",
        "u3": "missing",
        "Grün Weiß": "broken",
        "aux": "missing",
        "someone_599": "unmatched",
    }
    assert b"second" in submitted(room, "u1")
    assert "the newest upload is 01_areas-1.ipynb" in row(found, "u1").remarks
    assert row(found, "u1").handed_in is None  # a zip of Canvas has the time of the download
    history = inbox.records(room.inbox("01_areas", "u1"))
    assert sorted(r.number for r in history) == [0, 1]
    assert row(found, "u2").late == "1 s late"
    assert any("solution.ipynb: taken" in r for r in row(found, "u2").remarks)
    assert room.submitted_at("u2", "01_areas") == AT_DUE + timedelta(seconds=1)
    assert room.submitted_at("u1", "01_areas") is None  # in time, as Canvas says nothing else
    # A web page is graded too: as nothing, with the reason.
    assert submitted(room, "Grün Weiß") == b"<html>log in</html>"


@pytest.mark.parametrize("order", [1, -1])
def test_canvas_counts_uploads_whatever_is_collected_first(tmp_path, room, order):
    names = [("brookada_501_9_01_areas.ipynb", "one"), ("brookada_501_10_01_areas-1.ipynb", "two")]
    for number, (name, text) in enumerate(names[::order]):
        run(room, zip_file(tmp_path, {name: notebook(text=text)}, f"{number}.zip"))
    assert b"two" in submitted(room, "u1")


def test_uploads_of_one_zip_count_by_number_in_any_order(tmp_path, room):
    names = [f"brookada_501_{9 + n}_01_areas{f'-{n}' if n else ''}.ipynb" for n in (2, 10, 0, 1)]
    run(room, zip_file(tmp_path, {name: notebook(text=name) for name in names}))
    assert b"01_areas-10.ipynb" in submitted(room, "u1")
    assert len(inbox.records(room.inbox("01_areas", "u1"))) == 4


def test_an_extension_outweighs_canvas(tmp_path):
    more = DUE + '[extensions.u1]\n"01_areas" = 2030-02-05T18:00:00Z\n'
    room = make_class(tmp_path / "class", more=more)
    found = run(room, zip_file(tmp_path, {"brookada_LATE_501_9_01_areas.ipynb": notebook()}))
    assert row(found, "u1").late == "in time"
    assert any("extension" in r for r in row(found, "u1").remarks)


def test_a_zip_of_tito_submit_within_canvas(tmp_path, room):
    packed = zipped({"01_areas.ipynb": notebook(text="packed"), "manifest.json": b"{}"})
    found = run(room, zip_file(tmp_path, {"brookada_501_9_01_areas.zip": packed}))
    assert row(found, "u1").state == "new"
    assert b"packed" in submitted(room, "u1")
    [record] = inbox.records(room.inbox("01_areas", "u1"))
    assert {f["path"] for f in record.files} == {"01_areas.zip", "01_areas.zip/01_areas.ipynb"}


# -- Moodle, nbgrader


def test_a_download_of_moodle_in_folders_and_without(tmp_path, room):
    source = zip_file(
        tmp_path,
        {
            "Ada Brook_31_assignsubmission_file_/01_areas.ipynb": notebook(),
            "Émile Côté_9002_assignsubmission_file_01_areas.ipynb": notebook(),
            "Finn O'Hara_33_assignsubmission_file_/notes.txt": b"sorry",
            "Participant_34_assignsubmission_file_/01_areas.ipynb": notebook(),
        },
    )
    found = run(room, source, only=AREAS)
    assert {k: v for k, v in states(found).items() if v != "missing"} == {
        "u1": "new",
        "u2": "new",
        "Participant_34": "unmatched",
    }
    assert "notes.txt" in row(found, "u3").why


def test_nbgraders_exchange_and_the_newest_by_its_time(tmp_path, room):
    when = "2030-02-0{} 10:00:00.000000 UTC"
    source = put(
        tmp_path / "inbound",
        {
            f"u1+01_areas+{when.format(1)}+abc/01_areas.ipynb": notebook(text="old"),
            f"u1+01_areas+{when.format(3)}+def/01_areas.ipynb": notebook(text="new"),
            f"u1+01_areas+{when.format(3)}+def/timestamp.txt": b"1999-01-01 00:00:00 UTC",
            f"u2+02_volumes+{when.format(1)}+ghi/02_volumes.ipynb": notebook(VOLUMES),
        },
    )
    found = run(room, source)
    assert b"new" in submitted(room, "u1") and submitted(room, "u2", "02_volumes")
    assert room.submitted_at("u1", "01_areas").day == 3
    assert row(found, "u1", "01_areas").late == "1 d 16 h late"


def test_nbgraders_submitted_tree_with_its_times(tmp_path, room):
    source = put(
        tmp_path / "submitted",
        {
            "u1/01_areas/01_areas.ipynb": notebook(),
            "u1/01_areas/timestamp.txt": b"2030-02-01 17:00:00.000000 UTC",
            "aux/02_volumes/02_volumes.ipynb": notebook(VOLUMES),
        },
    )
    found = run(room, source)
    assert states(found)["u1 01_areas"] == "new" and states(found)["aux 02_volumes"] == "new"
    assert row(found, "u1", "01_areas").time_from == "platform"
    assert room.submitted_at("u1", "01_areas").hour == 17


def test_a_students_own_timestamp_says_nothing(tmp_path, room):
    source = put(
        tmp_path / "handins",
        {"u1/01_areas.ipynb": notebook(), "u1/timestamp.txt": b"1999-01-01 00:00:00 UTC"},
    )
    late = (AT_DUE + timedelta(days=1)).timestamp()
    for path in (source / "u1").iterdir():
        os.utime(path, (late, late))
    found = run(room, source)
    assert row(found, "u1").late == "1 d late" and row(found, "u1").time_from == "file"
    assert "time of the file itself" in row(found, "u1").remarks[0]


def test_a_time_that_a_person_gives(tmp_path, room):
    source = put(tmp_path / "handins", {"u1/01_areas.ipynb": notebook()})
    late = (AT_DUE + timedelta(days=1)).timestamp()
    os.utime(source / "u1" / "01_areas.ipynb", (late, late))
    run(room, source)
    found = run(room, source, handed_in=AT_DUE)
    assert row(found, "u1").late == "in time" and row(found, "u1").state == "unchanged"
    assert room.submitted_at("u1", "01_areas") == AT_DUE


OF_TWO = {
    "brookada_LATE_501_7_01_areas.ipynb": notebook(text="ada"),
    "coteemile_LATE_502_8_01_areas.ipynb": notebook(text="cote"),
}
TIME = AT_DUE + timedelta(days=3)


def test_a_time_holds_for_those_alone_whom_as_names(tmp_path, room):
    source = zip_file(tmp_path, OF_TWO)
    named = {"said": {"coteemile_502": "u2"}, "handed_in_of": frozenset({"coteemile_502"})}
    found = run(room, source, handed_in=TIME, **named)
    assert row(found, "u2").late == "3 d late"
    assert room.submitted_at("u1", "01_areas") == AT_DUE + timedelta(seconds=1)


def test_a_time_for_a_whole_class_is_refused_before_anything_is_written(tmp_path, room):
    before = tree(room.root)
    with pytest.raises(UsageError, match="those of 2") as error:
        run(room, zip_file(tmp_path, OF_TWO), handed_in=TIME)
    assert '--as "FOUND=ID"' in str(error.value) and "download.zip" in str(error.value)
    assert tree(room.root) == before


def test_a_time_for_several_strangers_in_the_inbox_is_refused(tmp_path, room):
    files = {f"x{n}_{n}_7_01_areas.ipynb": notebook(text=str(n)) for n in range(2)}
    run(room, zip_file(tmp_path, files))
    with pytest.raises(UsageError, match="those of 2"):
        collect_again(Collector(Classroom.open(room.root), [AREAS], AREAS, TIME))


def test_a_class_is_not_filed_as_one_students_hand_in(tmp_path, room):
    before = tree(room.root)
    with pytest.raises(UsageError, match="2 people") as error:
        run(room, zip_file(tmp_path, OF_TWO), whose="u1")
    assert '"FOUND=u1"' in str(error.value)
    assert tree(room.root) == before
    own = {"01_areas.ipynb": notebook(), "old.ipynb": notebook(text="old", marked=False)}
    assert row(run(room, zip_file(tmp_path, own), whose="u1"), "u1").state == "new"


# -- folders, names, modules


def test_renamed_notebooks_find_their_module_by_what_is_inside(tmp_path, room):
    source = put(
        tmp_path / "handins",
        {
            "u1/final (2).ipynb": notebook(),
            "u2/week/one.ipynb": notebook(),
            "u2/week/two.ipynb": notebook(VOLUMES),
            "u3/01_areas.json": notebook(),
            "Grün Weiß/01_areas/x.ipynb": notebook(marked=False),
            "aux/a.ipynb": notebook(text="a"),
            "aux/b.ipynb": notebook(text="b"),
        },
    )
    found = run(room, source)
    got = {k: v for k, v in states(found).items() if v != "missing"}
    assert got == {
        "u1 01_areas": "new",
        "u2 01_areas": "new",
        "u2 02_volumes": "new",
        "Grün Weiß 01_areas": "new",
        "aux 01_areas": "ambiguous",
        "u3 ": "unmatched",
    }
    assert submitted(room, "aux") is None
    assert "a.ipynb, b.ipynb" in row(found, "aux", "01_areas").why
    # With the module named there is just one file that can be it.
    assert states(run(room, source, only=AREAS))["u3"] == "new"


def test_a_notebook_of_another_module_is_not_counted_for_this_one(tmp_path, room):
    source = put(tmp_path / "handins", {"u1/01_areas.ipynb": notebook(VOLUMES)})
    found = run(room, source, only=AREAS)
    [open_] = [r for r in found.rows if r.state == "unmatched"]
    assert "02_volumes" in open_.why and submitted(room, "u1") is None
    again = collect_again(Collector(Classroom.open(room.root), [AREAS, VOLUMES], VOLUMES))
    assert row(again, "u1").state == "new" and submitted(room, "u1", "02_volumes")
    assert list(room.unmatched.glob("*")) == []


@pytest.mark.parametrize("roster", ["id\nAnn\nann\n", "id\nJosé Ö\nA/B\n", "id\n..\nnul\n"])
def test_difficult_names_have_folders_of_their_own(tmp_path, roster):
    room = make_class(tmp_path / "class", roster)
    for number, student in enumerate(room.roster()):
        name = f"{number}.ipynb"
        source = put(tmp_path / str(number), {name: notebook(text=f"of {number}.")}) / name
        run(room, source, whose=student.given_id, said={student.given_id: student.id})
    for number, student in enumerate(room.roster()):
        assert f"of {number}.".encode() in room.submitted(student.id, "01_areas").read_bytes()
        assert room.submitted(student.id, "01_areas").is_relative_to(room.root / "submitted")


def test_wrappers_are_seen_through(tmp_path, room):
    inner = zipped({"u2/01_areas.ipynb": notebook(), "u3/01_areas.ipynb": notebook()})
    source = zip_file(
        tmp_path,
        {
            "all/group 1/u1/01_areas.ipynb": notebook(),
            "all/group 2/tuesday.zip": inner,
            "all/loose/aux_01_areas.ipynb": notebook(),
            "all/loose/Grün Weiß.ipynb": notebook(),
        },
    )
    found = run(room, source)
    assert set(states(found).values()) == {"new"}


def test_a_strangers_folder_is_no_wrapper(tmp_path, room):
    """Somebody who is in no roster hands in a folder with a student's name in its file's."""
    source = put(tmp_path / "handins", {"stranger/u1.ipynb": notebook(), "u2/x.ipynb": notebook()})
    found = run(room, source)
    assert states(found)["stranger"] == "unmatched" and states(found)["u1"] == "missing"


U1S = {"u1/01_areas.ipynb": notebook(text="not u1's own")}
NAMED_AS_AN_UPLOAD = {"brookada_501_77_01_areas.ipynb": notebook(text="not u1's own")}
TWO = {f"{s}.ipynb": notebook(text="not u1's own") for s in ("u1", "u3")}
TREE = {"submitted/u1/01_areas/01_areas.ipynb": notebook(text="not u1's own")}


BESIDE_KNOWN, ALONE = ["u2/01_areas.ipynb", "u2.ipynb"], ["stranger/x.ipynb", ""]


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize(
    ("inside", "beside"),
    [
        *((inside, b) for inside in (U1S, NAMED_AS_AN_UPLOAD, TWO, TREE) for b in BESIDE_KNOWN),
        # Several names, or one that a platform gave, may as well be the download of a class.
        *((inside, b) for inside in (U1S, TREE) for b in ALONE),
    ],
)
def test_what_a_stranger_calls_by_anothers_name_is_a_strangers(
    tmp_path, room, inside, packed, beside
):
    files = (
        {"nobody.zip": zipped(inside)} if packed else {f"nobody/{n}": d for n, d in inside.items()}
    )
    files |= {beside: notebook()} if beside else {}
    found = run(room, put(tmp_path / "handins", files))
    assert row(found, "nobody").state == "unmatched"
    assert "collect it by itself" in closing(found)
    assert not room.submitted("u1", "01_areas").exists()
    assert not room.submitted("u3", "01_areas").exists()
    if beside.startswith("u2"):
        assert row(found, "u2").state == "new"


def test_the_folder_around_hand_ins_can_be_collected_by_itself(tmp_path, room):
    source = put(
        tmp_path / "h", {f"nobody/{n}": d for n, d in U1S.items()} | {"u2/x.ipynb": notebook()}
    )
    assert states(run(room, source))["nobody"] == "unmatched"
    assert states(run(room, source / "nobody"))["u1"] == "new"


@pytest.mark.parametrize("name", ["01_areas", "A"])
def test_a_module_or_a_group_of_the_class_is_nobodys_name(tmp_path, room, name):
    source = put(tmp_path / "h", {f"{name}/u1/x.ipynb": notebook(), "u2/x.ipynb": notebook()})
    found = run(room, source)
    assert [states(found)[s] for s in ("u1", "u2")] == ["new", "new"]


def test_loose_notebooks_and_zips_are_named_after_their_files(tmp_path, room):
    source = put(
        tmp_path / "handins",
        {
            "u1_01_areas.ipynb": notebook(),
            "01_areas-u2.ipynb": notebook(),
            "Finn O'Hara.ipynb": notebook(),
            "aux.zip": zipped({"01_areas.ipynb": notebook()}),
            "readme.txt": b"not a hand-in",
        },
    )
    found = run(room, source)
    assert [k for k, v in states(found).items() if v == "new"] == ["u1", "u2", "u3", "aux"]
    assert [p.path for p in found.passed] == ["readme.txt"]


# -- again, later, by whom


def test_collecting_again_changes_nothing(tmp_path, room):
    source = put(
        tmp_path / "handins",
        {"u1/01_areas.ipynb": notebook(), "u2/data.csv": b"1", "who/01_areas.ipynb": notebook()},
    )
    run(room, source, only=AREAS)
    before = tree(room.root)
    found = run(room, source, only=AREAS)
    assert tree(room.root) == before
    assert states(found)["u1"] == "unchanged"


def test_a_dry_run_writes_nothing_and_says_the_same(tmp_path, room):
    source = put(tmp_path / "handins", {"u1/01_areas.ipynb": notebook(), "who/x.ipynb": b"?"})
    before = tree(room.root)
    dry = run(room, source, only=AREAS, dry_run=True)
    assert tree(room.root) == before
    assert states(dry) == states(run(room, source, only=AREAS))


def test_later_hand_ins_replace_and_keep_the_earlier(tmp_path, room):
    source = tmp_path / "handins"
    for number, text in enumerate(("one", "two", "three")):
        path = put(source, {"u1/01_areas.ipynb": notebook(text=text)}) / "u1" / "01_areas.ipynb"
        os.utime(path, (1_800_000_000 + number,) * 2)
        found = run(room, source)
        assert text.encode() in submitted(room, "u1")
    assert row(found, "u1").state == "newer"
    assert "2 other hand-ins in the inbox" in row(found, "u1").remarks
    assert len(inbox.records(room.inbox("01_areas", "u1"))) == 3


def test_an_older_download_collected_later_does_not_count(tmp_path, room):
    source = tmp_path / "handins"
    for text, when in (("new", 1_800_000_500), ("old", 1_800_000_000)):
        path = put(source, {"u1/01_areas.ipynb": notebook(text=text)}) / "u1" / "01_areas.ipynb"
        os.utime(path, (when, when))
        found = run(room, source)
    assert b"new" in submitted(room, "u1") and row(found, "u1").state == "unchanged"


def test_a_later_hand_in_that_cannot_be_read_leaves_the_earlier_and_is_told(tmp_path, room):
    run(room, put(tmp_path / "a", {"u1/01_areas.ipynb": notebook(text="good")}))
    found = run(room, put(tmp_path / "b", {"u1/01_areas.zip": b"no zip"}), only=AREAS)
    assert b"good" in submitted(room, "u1")
    assert any("later hand-in" in r for r in row(found, "u1").remarks)


TORN = notebook(text="torn")[:-20]


def good_then_torn(tmp_path, room):
    """Uploads of Canvas: the newer one was torn on its way."""
    run(room, zip_file(tmp_path, {"ada_501_7_01_areas.ipynb": notebook(text="good")}))
    return run(room, zip_file(tmp_path, {"ada_501_8_01_areas-1.ipynb": TORN}))


def test_a_torn_upload_does_not_take_away_what_was_handed_in_before(tmp_path, room):
    found = good_then_torn(tmp_path, room)
    assert b"good" in submitted(room, "u1")
    one = row(found, "u1")
    assert one.state == "unchanged" and one.waits
    assert any("cannot be graded" in r and "this one counts" in r for r in one.remarks)
    assert "rename what should not in inbox/01_areas/u1" in closing(found)
    status, why = inbox.trouble(inbox.records(room.inbox("01_areas", "u1")))
    assert status == "broken" and "the earlier hand-in counts" in why and "begin with _" in why


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_torn_upload_that_is_older_is_no_trouble(tmp_path, room, order):
    uploads = {"ada_501_7_01_areas.ipynb": TORN, "ada_501_8_01_areas-1.ipynb": notebook(text="new")}
    for number in order:
        found = run(room, zip_file(tmp_path, dict([[*uploads.items()][number]])))
    assert b"new" in submitted(room, "u1") and not row(found, "u1").waits
    assert inbox.trouble(inbox.records(room.inbox("01_areas", "u1"))) is None


def test_two_torn_uploads_are_broken(tmp_path, room):
    for number in range(2):
        name = f"ada_501_{number}_01_areas-{number}.ipynb"
        found = run(room, zip_file(tmp_path, {name: TORN + b" " * number}))
    assert row(found, "u1").state == "broken"


def set_aside(room, number):
    record = inbox.records(room.inbox("01_areas", "u1"))[number]
    record.folder.rename(record.folder.with_name("_" + record.folder.name))


def test_a_person_decides_that_another_hand_in_counts(tmp_path, room):
    good_then_torn(tmp_path, room)
    set_aside(room, 0)
    found = collect_again(Collector(Classroom.open(room.root), [AREAS], AREAS))
    assert row(found, "u1").state == "broken" and submitted(room, "u1") == TORN
    assert "1 hand-in set aside" in row(found, "u1").remarks
    again = run(room, zip_file(tmp_path, {"ada_501_7_01_areas.ipynb": notebook(text="good")}))
    assert row(again, "u1").state == "broken"  # collected again, it stays aside
    set_aside(room, 0)
    found = collect_again(Collector(Classroom.open(room.root), [AREAS], AREAS))
    assert row(found, "u1").why == "all of it was set aside" and submitted(room, "u1") is None


def test_a_hand_in_of_nobody_that_was_set_aside_stays_so(tmp_path, room):
    source = zip_file(tmp_path, {"who_9_7_01_areas.ipynb": notebook()})
    run(room, source)
    [kept] = (room.unmatched / "who_9").iterdir()
    kept.rename(kept.with_name("_" + kept.name))
    assert row(run(room, source), "who_9").state == "set aside"
    assert collect_again(Collector(Classroom.open(room.root), [AREAS])).rows == []
    run(room, source, said={"who_9": "u3"})
    assert submitted(room, "u3") == notebook()


OTHER_MODULE = {"ada_501_7_02_volumes.ipynb": notebook(VOLUMES)}


def test_a_notebook_of_another_module_is_settled_by_what_is_offered(tmp_path, room):
    found = run(room, zip_file(tmp_path, OTHER_MODULE), only=AREAS)
    said = closing(found)
    assert "--module 02_volumes counts it there" in said and '--as "ada_501=-"' in said
    assert "--module NN" not in said
    assert not row(run(room, zip_file(tmp_path, OTHER_MODULE), only=VOLUMES), "u1").waits
    assert submitted(room, "u1", "02_volumes") == notebook(VOLUMES)


def again(room, only=AREAS, **said):
    collector = Collector(Classroom.open(room.root), [AREAS, VOLUMES], only, **said)
    return collect_again(collector)


def test_a_students_hand_in_is_set_aside_and_the_next_one_counts(tmp_path, room):
    run(room, zip_file(tmp_path, OTHER_MODULE), only=AREAS)
    found = again(room, said={"ada_501": "-"})
    assert [r.state for r in found.rows if r.found] == ["set aside"]
    assert again(room).rows[0].state == "missing" and len(again(room).rows) == 5
    later = {**OTHER_MODULE, "ada_501_9_01_areas.ipynb": notebook()}
    found = run(room, zip_file(tmp_path, later), only=AREAS)
    assert row(found, "u1", "01_areas").state == "new"


def test_what_was_filed_under_a_student_can_be_taken_out(tmp_path, room):
    source = zip_file(tmp_path, {"ada_501_7_01_areas.ipynb": notebook(text="not hers")})
    run(room, source)
    run(room, source, said={"ada_501": "-"}, dry_run=True)
    assert b"not hers" in submitted(room, "u1")
    found = run(room, source, said={"ada_501": "-"})
    assert submitted(room, "u1") is None
    assert found.rows[0].why == "all of it was set aside"


def test_who_is_missing_is_told_of_the_module_that_came_and_not_of_a_stray_one(tmp_path, room):
    files = {f"{who}/01_areas.ipynb": notebook(text=who) for who in ("u1", "u2", "u3", "aux")}
    files["Grün Weiß/02_volumes.ipynb"] = notebook(VOLUMES)
    files["u1/02_volumes.ipynb"] = notebook(VOLUMES)
    found = run(room, put(tmp_path / "both", files))
    assert len([r for r in found.rows if r.module == "02_volumes"]) == 5
    del files["u1/02_volumes.ipynb"]
    more = make_class(tmp_path / "more", ROSTER + "u6,Ola,,,,\nu7,Per,,,,\n")
    files |= {f"{who}/01_areas.ipynb": notebook(text=who) for who in ("u6", "u7")}
    found = run(more, put(tmp_path / "stray", files))
    assert [r.student.id for r in found.rows if r.module == "02_volumes"] == ["grun-wei~b4ca7e726c"]
    assert len([r for r in found.rows if r.module == "01_areas"]) == 7
    assert len([r for r in run(more, tmp_path / "stray", only=VOLUMES).rows]) >= 7


def test_a_call_that_was_ended_in_the_middle_is_made_good(tmp_path, room, monkeypatch):
    source = put(tmp_path / "a", {"u1/01_areas.ipynb": notebook(text="one")})
    os.utime(source / "u1" / "01_areas.ipynb", (1_700_000_000,) * 2)
    run(room, source)
    put(source, {"u1/01_areas.ipynb": notebook(text="two")})
    with monkeypatch.context() as patch:
        patch.setattr(Collector, "finish", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(room, source)
    assert b"one" in submitted(room, "u1")
    run(room, source)
    assert b"two" in submitted(room, "u1")


def test_what_was_mended_by_hand_stays_until_something_newer_comes(tmp_path, room):
    source = put(tmp_path / "a", {"u1/01_areas.ipynb": notebook(text="one")})
    run(room, source)
    room.submitted("u1", "01_areas").write_bytes(notebook(text="mended"))
    run(room, source)
    assert b"mended" in submitted(room, "u1")
    run(room, put(source, {"u1/01_areas.ipynb": notebook(text="two")}))
    assert b"two" in submitted(room, "u1")


def test_a_stranger_becomes_known_later(tmp_path, room):
    source = put(tmp_path / "a", {"E. Cote/01_areas.ipynb": notebook(text="mine")})
    assert states(run(room, source))["E. Cote"] == "unmatched"
    room.matches.write_text("found,student\nE. Cote,u2\n")
    found = collect_again(Collector(Classroom.open(room.root), [AREAS, VOLUMES]))
    assert row(found, "u2").state == "new" and b"mine" in submitted(room, "u2")
    assert list(room.unmatched.glob("*")) == []
    before = tree(room.root)
    assert states(run(room, source))["u2"] == "unchanged"
    assert tree(room.root) == before


def test_a_stranger_who_is_known_now_is_moved_by_the_same_download_too(tmp_path, room):
    source = put(tmp_path / "a", {"E. Cote/01_areas.ipynb": notebook(text="mine")})
    run(room, source)
    run(room, source, said={"E. Cote": "u2"})
    assert b"mine" in submitted(room, "u2") and list(room.unmatched.glob("*")) == []


# -- hostile and broken


def test_bombs_are_refused_with_a_row(tmp_path, room, monkeypatch):
    monkeypatch.setattr("tito.grading.collect.sources.MAX_BYTES", 20_000)
    deep = notebook()
    for level in range(6):
        deep = zipped({f"{level}.zip" if level else "01_areas.ipynb": deep})
    source = put(
        tmp_path / "handins",
        {
            "u1/01_areas.zip": zipped({"01_areas.ipynb": b" " * 100_000}),
            "u2/deep.zip": deep,
            "Grün Weiß/01_areas.ipynb": notebook(),
        },
    )
    found = run(room, source, only=AREAS)
    got = states(found)
    assert [got[s] for s in ("u1", "u2")] == ["broken"] * 2
    assert "larger" in row(found, "u1").why and "zip within" in row(found, "u2").why
    assert got["Grün Weiß"] == "new"


@pytest.mark.parametrize(
    "limit, value, why",
    [("entries", 20, "too many files"), ("zips", 1, "too much"), ("unpacked", 10, "too much")],
)
def test_a_hand_in_makes_us_unpack_so_much_and_no_more(
    tmp_path, room, monkeypatch, limit, value, why
):
    small = partial(Budget, **{limit: value})
    monkeypatch.setattr("tito.grading.collect.collector.Budget", small)
    inner = zipped({f"{i}.txt": b"" for i in range(30)})
    source = put(tmp_path / "h", {"u1/a.zip": zipped({"b.zip": inner})})
    found = run(room, source, only=AREAS)
    assert row(found, "u1").state == "broken" and why in row(found, "u1").why


def test_a_directory_that_would_fill_the_memory_is_refused(tmp_path, room, monkeypatch):
    monkeypatch.setattr("tito.grading.collect.sources._LARGEST_DIRECTORY", 1000)
    packed = zipped({f"{i}.txt": b"" for i in range(50)})
    found = run(room, put(tmp_path / "h", {"u1/01_areas.zip": packed}), only=AREAS)
    assert "too many files" in row(found, "u1").why


@posix
def test_folders_nest_so_deep_and_no_deeper(tmp_path, room):
    """30,000 folders in one name of a zip would be gigabytes of paths."""
    deep = zipped({"a/" * 30_000 + "x.txt": b"", "01_areas.ipynb": notebook()})
    source = put(tmp_path / "h", {"u1/hand-in.zip": deep, "u2/01_areas.ipynb": notebook()})
    os.makedirs(source / "u2" / "/".join("d" * 300))
    tracemalloc.start()
    try:
        found = run(room, source, only=AREAS)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert {states(found)[s] for s in ("u1", "u2")} == {"new"}
    assert [p.why for p in found.passed] == ["folders within 100 folders, left out"]
    [kept] = inbox.records(room.inbox("01_areas", "u1"))
    assert kept.left_out == ["u1/hand-in.zip/a/a/a/...: folders within 100 folders, left out"]
    assert peak < 20e6


def test_zips_of_zips_of_zips_are_not_opened_for_ever(tmp_path, room, monkeypatch):
    """Who looks for hand-ins in a stranger's zip opens 50 zips of it, not 6 to the power of 6."""
    opened = []
    real = sources._open_zip
    monkeypatch.setattr(sources, "_open_zip", lambda file: opened.append(1) or real(file))
    packed = zipped({"x.txt": b""})
    for level in range(6):
        packed = zipped({f"{level}-{i}.zip": packed for i in range(6)})
    source = put(tmp_path / "h", {"stranger.zip": packed, "u1/01_areas.ipynb": notebook()})
    found = run(room, source, only=AREAS)
    assert states(found)["u1"] == "new" and states(found)["stranger"] == "unmatched"
    assert len(opened) < 1000


def test_a_locked_zip_says_so(tmp_path, room):
    packed = bytearray(zipped({"01_areas.ipynb": notebook()}))
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    found = run(room, put(tmp_path / "h", {"u1/a.zip": bytes(packed)}), only=AREAS)
    assert "locked with a password" in row(found, "u1").why


@pytest.mark.parametrize(
    "name", ["../x.ipynb", "u1/../../x.ipynb", "/x.ipynb", "C:\\x.ipynb", "..\\x.ipynb"]
)
def test_entries_never_leave(tmp_path, room, name):
    source = zip_file(tmp_path, {name: notebook(), "u2/01_areas.ipynb": notebook()})
    found = run(room, source)
    assert [p.why for p in found.passed] == ["leads out of the zip, left out"]
    assert not list(tmp_path.rglob("x.ipynb"))


@posix
def test_links_and_pipes_are_named_and_never_followed(tmp_path, room):
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(notebook(text="SECRET"))
    source = put(tmp_path / "handins", {"u1/01_areas.ipynb": notebook()})
    (source / "u1" / "data.txt").symlink_to(secret)
    for student in ("u2", "u3"):
        (source / student).mkdir()
    (source / "u2" / "01_areas.ipynb").symlink_to(secret)
    os.mkfifo(source / "u3" / "01_areas.ipynb")
    (source / "aux").symlink_to(source / "u1", target_is_directory=True)
    (source / "elsewhere").symlink_to(tmp_path, target_is_directory=True)
    link = zipfile.ZipInfo("01_areas.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    put(source, {"Grün Weiß.zip": zipped({link: str(secret)})})
    found = run(room, source, only=AREAS)
    assert states(found) == {
        "u1": "new",
        "u2": "broken",
        "u3": "broken",
        "Grün Weiß": "broken",
        "aux": "missing",
    }
    assert any("data.txt: a link" in r for r in row(found, "u1").remarks)
    assert [(p.path, p.why) for p in found.passed] == [("elsewhere", "a link, not followed")]
    assert not any(b"SECRET" in data for data in tree(room.root).values())
    assert not any(p.is_symlink() for p in room.root.rglob("*"))


NOT_NOTEBOOKS = {
    "empty": b"",
    "torn": notebook()[:80],
    "page": b"<!doctype html><title>Sign in</title>",
    "list": b"[1]",
    "null": b"null",
    "cells": b'{"nbformat": 4}',
    "future": notebook().replace(b'"nbformat": 4', b'"nbformat": 77'),
    "merge": b"{\n<<<<<<< HEAD\n" + notebook(),
    "nan": notebook().replace(b'"cell_type": "code"', b'"n": NaN, "cell_type": "code"', 1),
    "binary": bytes(range(256)),
    "deep": b"[" * 20_000,
}


@pytest.mark.parametrize("kind", NOT_NOTEBOOKS)
def test_what_is_no_notebook_is_a_row_with_the_reason(tmp_path, room, kind):
    source = put(tmp_path / "h", {"u1/01_areas.ipynb": NOT_NOTEBOOKS[kind]})
    put(source, {"u2/01_areas.ipynb": notebook()})
    found = run(room, source, only=AREAS)
    assert row(found, "u1").state == "broken" and row(found, "u1").why
    assert row(found, "u2").state == "new"
    assert submitted(room, "u1") == NOT_NOTEBOOKS[kind]  # as it came


def test_a_folder_in_place_of_the_notebook(tmp_path, room):
    found = run(room, put(tmp_path / "h", {"u1/01_areas.ipynb/x.txt": b""}), only=AREAS)
    assert row(found, "u1").state == "broken" and "is a folder" in row(found, "u1").why


def test_every_entry_has_a_place(tmp_path, room):
    """Whatever the source holds is in somebody's inbox, or named as passed over or left out."""
    names = [
        "u1/01_areas.ipynb",
        "u1/.ipynb_checkpoints/01_areas-checkpoint.ipynb",
        "u1/venv/lib/big.bin",
        "u1/CON.txt",
        "u2/sub/02_volumes.ipynb",
        "u2/sub/A.txt",
        "u2/sub/a.txt",
        "nobody/notes.txt",
        "readme.md",
        "__MACOSX/u1/._x",
    ]
    contents = {n: notebook(VOLUMES) if "volumes" in n else n.encode() for n in names}
    contents["u1/01_areas.ipynb"] = notebook()
    source = zip_file(tmp_path, contents)
    found = run(room, source)
    notes = [inbox.read_record(p) for p in (room.root / "inbox").rglob("handin.json")]
    placed = {f"{r.found}/{f['path']}" for r in notes for f in r.files}
    placed |= {p.path for p in found.passed}
    assert set(names) <= placed
    for note in notes:
        for file in note.files:
            kept = (note.folder / "files" / file["kept"]).read_bytes()
            assert kept == contents[f"{note.found}/{file['path']}"]


def test_nobody_is_named_outside_the_class_folder(tmp_path, room):
    source = put(tmp_path / "h", {"Ada Brook/01_areas.ipynb": notebook(), "x/y.ipynb": b"?"})
    outside = {p for p in tmp_path.rglob("*") if not p.is_relative_to(room.root)}
    run(room, source)
    assert {p for p in tmp_path.rglob("*") if not p.is_relative_to(room.root)} == outside


def test_the_table_and_the_json_say_everything(tmp_path, room):
    source = put(
        tmp_path / "h",
        {"u1/01_areas.ipynb": notebook(), "u2/01_areas.ipynb": b"", "who/a.ipynb": b"?"},
    )
    found = run(room, source, only=AREAS)
    lines = table(found, 100).split("\n")
    assert all(len(line) <= 100 for line in lines)
    assert sum(not line.startswith(" ") for line in lines) == 1 + 5 + 1
    end = closing(found)
    assert '--as "who=ID"' in end and "the file is empty" in end
    document = json.loads(to_json(found))
    assert [r["state"] for r in document["rows"]] == [
        "new",
        "broken",
        "missing",
        "missing",
        "missing",
    ]
    assert document["unmatched"][0]["found"] == "who"
