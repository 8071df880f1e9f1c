"""The class folder: found, read, locked."""

import subprocess
import sys
from datetime import datetime, timedelta, timezone
from fractions import Fraction

import pytest

from tests.grading.collect.sample import make_class
from tito.errors import UsageError, UserError
from tito.grading.classroom import Classroom, LateRule, read_timestamp, write_timestamp

DUE = """
[module."01_areas"]
due = 2030-02-01T20:00:00+02:00
[extensions."Grün Weiß"]
"01_areas" = 2030-02-03T20:00:00+02:00
"""


def at(day, hour=18):
    return datetime(2030, 2, day, hour, tzinfo=timezone.utc)


def test_it_is_found_upwards(tmp_path, monkeypatch):
    room = make_class(tmp_path / "class")
    below = room.root / "submitted" / "u1"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert Classroom.open().root == room.root
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no class folder"):
        Classroom.open()
    with pytest.raises(UsageError, match=r"course\.toml"):
        Classroom.open(tmp_path)


def test_due_times_know_extensions(tmp_path):
    room = make_class(tmp_path / "class", more=DUE)
    settings = room.settings()
    other = room.roster()[3].id
    assert settings.due("01_areas") == settings.due("01_areas", "u1") == at(1)
    assert settings.due("01_areas", other) == at(3)
    assert settings.due("02_volumes", "u1") is None
    assert settings.has_extension("01_areas", other)
    assert settings.secret == bytes.fromhex("ab" * 32)


def test_how_late_a_hand_in_is(tmp_path):
    room = make_class(tmp_path / "class", more=DUE)
    path = room.submitted("u1", "01_areas")
    path.parent.mkdir(parents=True)
    assert room.seconds_late("u1", "01_areas") == 0
    for time, late in ((at(1), 0), (at(1) + timedelta(seconds=5), 5), (at(1, 3), 0)):
        (path.parent / "timestamp.txt").write_text(write_timestamp(time))
        assert room.submitted_at("u1", "01_areas") == time
        assert room.seconds_late("u1", "01_areas") == late


def test_nbgrader_reads_the_times_we_write():
    from tito.grading.book.database import tables

    tables()
    from nbgrader.utils import parse_utc

    assert parse_utc(write_timestamp(at(1))) == at(1).replace(tzinfo=None)


def test_a_torn_timestamp_is_none(tmp_path):
    for data in (b"", b"soon", b"\xff\xfe\x00"):
        (tmp_path / "t").write_bytes(data)
        assert read_timestamp(tmp_path / "t") is None


@pytest.mark.parametrize(
    "more, what",
    [
        ('[module."01_areas"]\ndue = 2030-02-01T20:00:00', "zone"),
        ('[module."01_areas"]\ndue = "tomorrow"', "zone"),
        ('[extensions.nobody]\n"01_areas" = 2030-02-01T20:00:00Z', "nobody"),
        ('[late]\nrule = "daily"', "per_day"),
        ("[late]\npercent = -1", "percent"),
        ("[late]\npercent = nan", "percent"),
        ("late = 3", "table"),
        ("course = 3", "course"),
        ("[[[", "TOML"),
    ],
)
def test_what_is_wrong_in_the_settings_is_said(tmp_path, more, what):
    room = make_class(tmp_path / "class", more=more)
    with pytest.raises(UserError, match=what) as error:
        room.settings()
    assert "course.toml" in str(error.value)


TYPOS = [
    ('[module."01_areas"]\ndeu = 2030-02-01T20:00:00Z', "has no setting 'deu'; did you mean due?"),
    ('[module."01_area"]\ndue = 2030-02-01T20:00:00Z', "'01_area'; did you mean 01_areas?"),
    ('[module."02"]\ndue = 2030-02-01T20:00:00Z', "'02'; did you mean 02_volumes?"),
    ('[extensions.u1]\n"01_ares" = 2030-02-01T20:00:00Z', "'01_ares'; did you mean 01_areas?"),
    ('[extensions.u11]\n"01_areas" = 2030-02-01T20:00:00Z', "roster.csv; did you mean u1?"),
    ("[late]\ngrace_minuts = 5", "'grace_minuts'; did you mean grace_minutes?"),
    ('[lates]\nrule = "zero"', "'lates'; did you mean late?"),
    ("[limits]\nsolutoin = 30", "'solutoin'; did you mean solution?"),
    ("[limits]\nsolution = -1", "[limits] limit solution must be"),
    ("[late]\npercent = 1000", "percent must be a number from 0 to 100"),
    ("[late]\nat_most = 101", "at_most must be a number from 0 to 100"),
    (DUE.replace("-02-03", "-01-31"), "ends before the module is due"),
]


@pytest.fixture
def course_beside(tmp_path):
    for name in ("modules/01_areas", "modules/02_volumes", "tinykernels"):
        (tmp_path / "course" / name).mkdir(parents=True)
    return 'course = "../course"\n'


@pytest.mark.parametrize("more, what", TYPOS)
def test_a_setting_that_nobody_reads_is_refused_with_what_it_may_be(
    tmp_path, course_beside, more, what
):
    room = make_class(tmp_path / "class", more=course_beside + more)
    with pytest.raises(UserError) as error:
        room.settings()
    assert what in str(error.value) and "course.toml: " in str(error.value)


def test_settings_that_were_valid_stay_so(tmp_path, course_beside):
    """A module that the course once had, and one without a time."""
    more = '[module."00_gone"]\ndue = 2030-02-01T20:00:00Z\n[module."09_renamed"]\n'
    room = make_class(tmp_path / "class", more=course_beside + more + DUE)
    (room.root / "inbox" / "00_gone").mkdir(parents=True)
    assert room.settings().modules_due == ["00_gone", "01_areas"]
    alone = make_class(tmp_path / "alone", more=more)  # nobody knows its course's modules
    assert alone.settings().modules_due == ["00_gone"]


@pytest.mark.parametrize("secret", ["", "abcd", "no hex digits at all, none of them"])
def test_a_short_secret_is_refused(tmp_path, secret):
    room = make_class(tmp_path / "class")
    (room.root / "course.toml").write_text(f'course_id = "x"\nsecret = "{secret}"\n')
    with pytest.raises(UserError, match="secret"):
        room.settings()


DAY = 86400


@pytest.mark.parametrize(
    "rule, seconds, loses",
    [
        (LateRule(), 99 * DAY, 0),
        (LateRule("zero"), 1, 10),
        (LateRule("zero"), 0, 0),
        (LateRule("per_day", Fraction(10)), 1, 1),
        (LateRule("per_day", Fraction(10)), DAY, 1),
        (LateRule("per_day", Fraction(10)), DAY + 1, 2),
        (LateRule("per_day", Fraction(10), Fraction(25)), 9 * DAY, Fraction(5, 2)),
        (LateRule("per_day", Fraction(30), Fraction(500)), 9 * DAY, 10),
        (LateRule("zero", grace=timedelta(minutes=5)), 300, 0),
        (LateRule("zero", grace=timedelta(minutes=5)), 301, 10),
    ],
)
def test_what_being_late_costs(rule, seconds, loses):
    assert rule.penalty(Fraction(10), seconds) == loses


def test_one_writer_at_a_time_and_the_lock_ends_with_its_process(tmp_path):
    room = make_class(tmp_path / "class")
    code = (
        "import sys\nfrom tito.grading.classroom import Classroom\n"
        "with Classroom.open(sys.argv[1]).lock():\n"
        "    print('have it', flush=True)\n    sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(room.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout.readline().strip() == b"have it"
        with pytest.raises(UserError, match="another tito command"), room.lock():
            pass
    finally:
        other.kill()
        other.communicate()
    with room.lock(), room.lock():  # nests within a process
        pass
