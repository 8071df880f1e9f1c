"""tito grade init, collect and status, as an instructor calls them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.grading.collect.sample import notebook, put, tree, zipped
from tito.cli import main
from tito.grading import newclass

ROOT = Path(__file__).parents[2]
MASTER = """\
# %% nbgrader={"grade": false, "grade_id": "area", "locked": false, "schema_version": 3, "solution": true, "task": false}
def area(w, h):
    return w * h

# %% nbgrader={"grade": true, "grade_id": "area-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
assert area(2, 3) == 6
"""  # noqa: E501 (a cell's metadata stands on one line)
ROSTER = "id,name,canvas_id\nu1,Ada Brook,501\nu2,Émile Côté,502\n"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one module; the current folder is beside it."""
    monkeypatch.setattr(newclass.database, "create", lambda path, course: path.write_bytes(b""))
    put(
        tmp_path / "course",
        {"modules/01_areas/01_areas.py": MASTER.encode(), "tinykernels/__init__.py": b""},
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "course"


@pytest.fixture
def room(course, tmp_path, capsys):
    assert main(["grade", "init", "class", "--course", str(course)]) == 0
    (tmp_path / "class" / "roster.csv").write_text(ROSTER, encoding="utf-8")
    capsys.readouterr()
    return tmp_path / "class"


def download(tmp_path, files):
    path = tmp_path / "download.zip"
    path.write_bytes(zipped(files))
    return str(path)


def last(capsys):
    return capsys.readouterr().out.rstrip().split("\n")[-1]


def test_from_nothing_to_a_collected_class(course, tmp_path, capsys):
    assert main(["grade", "init", "my class", "--course", "course"]) == 0
    assert last(capsys).strip() == 'tito grade collect DOWNLOAD --class "my class"'
    put(tmp_path / "my class", {"roster.csv": ROSTER.encode()})
    source = download(
        tmp_path,
        {
            "brookada_501_7_01_areas.ipynb": notebook(),
            "coteemile_502_8_01_areas.ipynb": notebook(),
        },
    )
    assert main(["grade", "collect", source, "--class", "my class"]) == 0
    assert last(capsys) == 'next: tito grade run --class "my class"'
    assert main(["grade", "status", "--class", "my class"]) == 0
    assert last(capsys) == 'next: tito grade run --class "my class"'


def test_init_again_changes_nothing_and_says_so(room, capsys):
    before = tree(room)
    assert main(["grade", "init", str(room)]) == 0
    assert "already" in capsys.readouterr().out
    assert tree(room) == before


def test_init_again_says_what_the_class_lacks(course, tmp_path, capsys):
    """The first call may have scrolled away; the second one says it too."""
    assert main(["grade", "init", "alone"]) == 0
    said = "no course is named in alone/course.toml"
    assert said in capsys.readouterr().out
    assert main(["grade", "init", "alone"]) == 0
    assert said in capsys.readouterr().out
    assert main(["grade", "init", "alone", "--course", "course"]) == 0
    out = capsys.readouterr().out
    line = f'course = "{course.resolve().as_posix()}"'
    assert said in out and line in out
    # What it says is what to write.
    path = tmp_path / "alone" / "course.toml"
    path.write_text(path.read_text().replace("# course =", f"{line}\n#"))
    assert main(["grade", "init", "alone"]) == 0
    assert "no course" not in capsys.readouterr().out
    course.rename(tmp_path / "moved")
    assert main(["grade", "init", "alone"]) == 0
    assert (
        f"the course {course} that alone/course.toml names is not there" in capsys.readouterr().out
    )


def test_init_again_with_another_course_says_which_one_stays(course, room, tmp_path, capsys):
    other = tmp_path / "other"
    shutil.copytree(course, other)
    assert main(["grade", "init", "class", "--course", "other"]) == 0
    assert f"its course stays {course}" in capsys.readouterr().out


def test_init_again_on_settings_that_cannot_be_read_says_where(room, capsys):
    (room / "course.toml").write_text("course_id = [")
    assert main(["grade", "init", "class"]) == 1
    assert "course.toml" in capsys.readouterr().err


def test_long_notes_are_shown_whole(room, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"a notebook with quite a long name, number {n}.ipynb" for n in range(4)]
    files = {f"u1/{name}": notebook(text="same") for name in names}
    assert main(["grade", "collect", str(put(tmp_path / "h", files)), "--class", "class"]) == 1
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.partition("for you to settle")[0].splitlines())
    words = " ".join(shown.partition("for you to settle")[0].split())
    assert all(" ".join(name.split()) in words for name in names)
    main(["grade", "status", "--class", "class"])
    shown = capsys.readouterr().out
    words = " ".join(shown.split())
    assert all(name in words for name in names)
    assert all(len(line) <= 80 for line in shown.splitlines() if not line.startswith("next"))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_init_inside_a_repository_is_refused(course, tmp_path, capsys):
    subprocess.run(["git", "init", "-q", str(course)], check=True)
    assert main(["grade", "init", str(course / "class")]) == 1
    assert "git repository" in capsys.readouterr().err
    assert not (course / "class").exists()


def test_a_kit_is_no_course_to_grade_with(course, room, capsys):
    (course / ".tito" / "released").mkdir(parents=True)
    assert main(["grade", "collect", str(course), "--class", "class"]) == 1
    assert "kit" in capsys.readouterr().err


def test_a_stranger_waits_and_is_settled_by_as(room, tmp_path, capsys):
    source = download(tmp_path, {"who_9_7_01_areas.ipynb": notebook()})
    words = ["grade", "collect", source, "--class", "class"]
    assert main(words) == 1
    assert 'collect --as "who_9=ID"' in capsys.readouterr().out
    assert main(["grade", "collect", "--as", "who_9=u2", "--class", "class"]) == 0
    assert (room / "submitted" / "u2" / "01_areas" / "01_areas.ipynb").is_file()
    assert (room / "matches.csv").read_text() == "found,student\nwho_9,u2\n"
    before = tree(room)
    assert main(words) == 0  # it is remembered
    assert tree(room) == before


def test_a_time_beside_as_is_the_time_of_what_it_names(room, tmp_path):
    files = {f"{who}_7_01_areas.ipynb": notebook(text=who) for who in ("ada_501", "cote_502")}
    words = ["--as", "cote_502=u2", "--handed-in", "2030-01-01T12:00:00Z", "--class", "class"]
    assert main(["grade", "collect", download(tmp_path, files), *words]) == 0
    times = {p.parent.parent.name for p in (room / "submitted").rglob("timestamp.txt")}
    assert times == {"u2"}


def test_a_stranger_can_be_set_aside(room, tmp_path, capsys):
    source = download(tmp_path, {"test_9_7_01_areas.ipynb": notebook()})
    assert main(["grade", "collect", source, "--class", "class", "--as", "test_9=-"]) == 0
    assert "1 set aside" in capsys.readouterr().out
    main(["grade", "status", "--class", "class", "--json"])
    assert "test_9" not in capsys.readouterr().out


def test_a_students_hand_in_that_is_set_aside_leaves_no_word_for_the_next(room, tmp_path):
    source = download(tmp_path, {"brookada_501_7_01_areas.ipynb": notebook()})
    words = ["grade", "collect", source, "--class", "class"]
    assert main([*words, "--as", "brookada_501=-"]) == 0
    assert not (room / "matches.csv").exists()
    source = download(tmp_path, {"brookada_501_9_01_areas.ipynb": notebook(text="next")})
    assert main(words) == 0
    assert b"next" in (room / "submitted" / "u1" / "01_areas" / "01_areas.ipynb").read_bytes()


def test_a_word_for_nothing_that_is_there_is_not_kept(room, tmp_path, capsys):
    source = download(tmp_path, {"brookada_501_7_01_areas.ipynb": notebook()})
    main(["grade", "collect", source, "--class", "class", "--as", "typo=u2"])
    assert "typo" in capsys.readouterr().err
    assert not (room / "matches.csv").exists()


def test_one_notebook_of_one_student(room, tmp_path):
    put(tmp_path, {"mail.ipynb": notebook(marked=False)})
    words = ["grade", "collect", "mail.ipynb", "--class", "class", "--as", "u1", "--module", "1"]
    assert main(words) == 0
    assert (room / "submitted" / "u1" / "01_areas" / "01_areas.ipynb").is_file()


def test_json_is_all_there_is_on_stdout(room, tmp_path, capsys):
    source = download(tmp_path, {"brookada_501_7_01_areas.ipynb": notebook()})
    words = ["grade", "collect", source, "--class", "class", "--dry-run", "--json"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["dry_run"] and [r["state"] for r in document["rows"]] == ["new", "missing"]
    assert not list((room / "submitted").iterdir())
    assert main(["grade", "status", "--class", "class", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == 1


def test_the_course_of_the_class_is_taken_wherever_one_stands(room, tmp_path, monkeypatch):
    source = download(tmp_path, {"brookada_501_7_x.ipynb": notebook()})
    monkeypatch.chdir(room)
    assert main(["grade", "collect", source]) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["nowhere.zip"],
        ["class"],
        ["."],
        ["download.zip", "--as", "nobody"],
        ["download.zip", "--as", "x=nobody"],
        ["download.zip", "--as", "u1", "--as", "u2"],
        ["--as", "u1"],
        ["two.zip", "--as", "u1"],
        ["two.zip", "--handed-in", "2030-01-01T12:00:00Z"],
        ["download.zip", "--module", "9"],
        ["download.zip", "--handed-in", "noon"],
        ["download.zip", "--handed-in", "2030-01-01T12:00:00"],
        ["download.zip", "--course", "nowhere"],
        ["notes.txt"],
    ],
)
def test_wrong_usage_is_two(room, tmp_path, capsys, words):
    download(tmp_path, {"brookada_501_7_01_areas.ipynb": notebook()})
    two = {f"{who}_7_01_areas.ipynb": notebook(text=who) for who in ("ada_501", "cote_502")}
    put(tmp_path, {"notes.txt": b"x", "two.zip": zipped(two)})
    before = tree(room)
    assert main(["grade", "collect", *words, "--class", "class"]) == 2
    assert capsys.readouterr().err.startswith("tito: ")
    assert tree(room) == before


def test_a_roster_of_nobody_says_so(room, tmp_path, capsys):
    (room / "roster.csv").write_text("id,name\n")
    source = download(tmp_path, {"u1/01_areas.ipynb": notebook()})
    assert main(["grade", "collect", source, "--class", "class"]) == 1
    assert "roster.csv" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"<html>log in</html>", zipped({"a": b"x" * 999})[:-9]])
@pytest.mark.parametrize("command", ["collect", "run"])
def test_a_zip_that_cannot_be_read_is_named_with_what_to_do(
    course, room, tmp_path, monkeypatch, capsys, data, command
):
    put(tmp_path, {"cut.zip": data})
    monkeypatch.chdir(course)
    words = ["--class", str(room)] if command == "collect" else []
    assert main(["grade", command, "../cut.zip", "--module", "1", *words]) == 1
    said = capsys.readouterr().err
    assert "cut.zip: no zip that can be read" in said and "try: download it again" in said


def test_init_here_names_the_folder_that_it_made(course, tmp_path, monkeypatch, capsys):
    for name in (".", "../nc"):
        (tmp_path / "nc").mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / "nc")
        assert main(["grade", "init", name, "--course", str(course)]) == 0
        said = capsys.readouterr().out
        assert "class folder" in said and said.endswith("DOWNLOAD --class .\n")
        assert "into roster.csv" in said and "extensions: course.toml" in said


def test_a_misspelt_column_is_named_and_stops_nothing(room, capsys):
    (room / "roster.csv").write_text("id,name,canvas\nu1,Ada,501\n")
    assert main(["grade", "status", "--class", "class"]) == 0
    said = "roster.csv: the column 'canvas' is not read; did you mean canvas_id?"
    assert said in capsys.readouterr().err


def test_nobodys_name_gets_into_the_course(course, room, tmp_path):
    """What was collected is told on the terminal and kept in the class folder alone."""
    before = tree(course)
    source = download(
        tmp_path,
        {"Ada Brook/01_areas.ipynb": notebook(), "Strange Fellow/01_areas.ipynb": notebook()},
    )
    os.chdir(course)
    main(["grade", "collect", source, "--class", str(room)])
    main(["grade", "status", "--class", str(room)])
    assert tree(course) == before


def test_no_class_folder_is_kept_in_this_repository():
    """Names of students never get into it: no roster, no hand-ins, no marks."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no repository of git")
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    names = {Path(line).name for line in listed}
    assert not names & {"roster.csv", "gradebook.db", "handin.json", "matches.csv"}
