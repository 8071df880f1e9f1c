"""A new class folder: private, outside every repository, and whole."""

import os
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.grading.collect.sample import tree
from tito.errors import UserError
from tito.grading import newclass
from tito.grading.classroom import TREES, Classroom

ROOT = Path(__file__).parents[2]
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """nbgrader's empty grade book takes seconds to make: one test makes a real one."""
    real = newclass.database.create
    monkeypatch.setattr(newclass.database, "create", lambda path, course: path.write_bytes(b"db"))
    return real


def repository(folder, ignored=""):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".gitignore").write_text(ignored)
    return folder


def test_what_it_holds(tmp_path):
    root = tmp_path / "My class"
    assert newclass.make_class(root, tmp_path / 'the "course"', ["01_areas", "02_volumes"])
    room = Classroom.open(root)
    settings = room.settings()
    assert settings.course_id == "My-class" and len(settings.secret) == 32
    assert settings.course == (tmp_path / 'the "course"').resolve()
    assert room.roster() == [] and (root / "roster.csv").read_text().startswith("id,name,email,")
    assert all((root / name).is_dir() for name in TREES)
    document = tomllib.loads((root / "course.toml").read_text())
    assert set(document["module"]) == {"01_areas", "02_volumes"}


def test_its_comments_can_be_made_settings(tmp_path):
    newclass.make_class(tmp_path / "c", None, ["01_areas"])
    path = tmp_path / "c" / "course.toml"
    text = path.read_text().replace('# [extensions."student-id"]', "[extensions.u1]")
    for name in ("due", '"01_areas"', "[limits]", "solution", "notebook"):
        text = text.replace(f"# {name}", name)
    path.write_text(text)
    (tmp_path / "c" / "roster.csv").write_text("id\nu1\n")
    settings = Classroom.open(tmp_path / "c").settings()
    assert settings.due("01_areas", "u1") > settings.due("01_areas")


def test_each_class_has_a_secret_of_its_own(tmp_path):
    for name in "ab":
        newclass.make_class(tmp_path / name)
    one, two = (Classroom.open(tmp_path / n).settings().secret for n in "ab")
    assert one != two


@pytest.mark.skipif(os.name != "posix", reason="modes as POSIX has them")
def test_only_its_owner_can_read_it(tmp_path):
    root = tmp_path / "c"
    newclass.make_class(root)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "course.toml").stat().st_mode) == 0o600


def test_a_class_is_left_as_it_is(tmp_path):
    newclass.make_class(tmp_path / "c")
    before = tree(tmp_path / "c")
    assert not newclass.make_class(tmp_path / "c")
    assert tree(tmp_path / "c") == before


def test_one_that_was_ended_in_the_middle_is_finished(tmp_path):
    root = tmp_path / "c"
    newclass.make_class(root)
    (root / "course.toml").unlink()
    (root / "roster.csv").write_text("id\nu1\n")
    assert newclass.make_class(root)
    assert (root / "roster.csv").read_text() == "id\nu1\n"


# Ends as a killed process does: nothing of it cleans up.
KILLED = """
import os, sys
from pathlib import Path
from tito.grading import newclass
from tito.grading.book import database

class Tables:
    class Gradebook:
        def __init__(self, url, course):
            self.path = url.removeprefix("sqlite:///")
            for path in (self.path, self.path + "-journal"):
                Path(path).write_text("half of it")
            count()
        def close(self):
            os.unlink(self.path + "-journal")

database.tables = lambda: Tables
database._newest_version = lambda: "1"  # or each of these processes would import nbgrader for it
left = int(sys.argv[2])

def count(*args):
    global left
    left -= 1
    if left == 0:
        os._exit(9)

def replace(source, target, real=os.replace):
    count()
    real(source, target)
    count()

os.replace = replace
newclass.make_class(Path(sys.argv[1]))
"""
STEPS = 9  # before and after each of four files stands there, and within the grade book


# The order of its files, which no Python changes; making a class is tried on all.
@pytest.mark.newest
@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_one_that_was_killed_does_not_hinder_the_next(tmp_path, step):
    root = tmp_path / "c"
    words = [sys.executable, "-c", KILLED, str(root), str(step)]
    assert subprocess.run(words, cwd=ROOT, timeout=180).returncode == 9
    newclass.make_class(root)
    assert [p.name for p in root.iterdir() if p.name.startswith(".")] == []
    assert len(Classroom.open(root).settings().secret) == 32
    assert (root / "roster.csv").read_text() == "id,name,email,group,canvas_id,moodle_id\n"
    assert (root / "nbgrader_config.py").read_text().endswith('CsvExportPlugin"\n')
    assert (root / "gradebook.db").is_file()


@pytest.mark.newest
def test_the_killed_one_has_just_these_steps(tmp_path):
    words = [sys.executable, "-c", KILLED, str(tmp_path / "c"), str(STEPS + 1)]
    assert subprocess.run(words, cwd=ROOT, timeout=180).returncode == 0


def test_hidden_files_that_are_not_ours_stay(tmp_path):
    root = tmp_path / "c"
    root.mkdir()
    (root / ".gradebook.db.notes").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        newclass.make_class(root)
    assert (root / ".gradebook.db.notes").read_text() == "mine"


@pytest.mark.parametrize("what", ["file", "full"])
def test_what_is_there_is_not_touched(tmp_path, what):
    root = tmp_path / "c"
    if what == "file":
        root.write_text("x")
    else:
        root.mkdir()
        (root / "thesis.tex").write_text("x")
    with pytest.raises(UserError):
        newclass.make_class(root)
    assert root.is_file() or [p.name for p in root.iterdir()] == ["thesis.tex"]


@needs_git
def test_not_inside_a_repository(tmp_path):
    repository(tmp_path)
    with pytest.raises(UserError, match="git repository"):
        newclass.make_class(tmp_path / "deep" / "class")
    assert not (tmp_path / "deep").exists()


@needs_git
@pytest.mark.parametrize("rule", ["class/\n", "/deep\n", "*\n"])
def test_a_repository_that_ignores_it_is_no_obstacle(tmp_path, rule):
    repository(tmp_path, rule)
    assert newclass.make_class(tmp_path / "deep" / "class")


@needs_git
def test_a_rule_for_its_files_alone_is_not_enough(tmp_path):
    repository(tmp_path, "*.csv\n")
    with pytest.raises(UserError, match="git repository"):
        newclass.make_class(tmp_path / "class")


def test_without_git_a_repository_is_seen_too(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("class/\n")
    monkeypatch.setattr(newclass.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="git repository"):
        newclass.make_class(tmp_path / "class")


def test_nbgrader_reads_its_grade_book_and_settings(tmp_path, quick, monkeypatch):
    monkeypatch.setattr(newclass.database, "create", quick)
    root = tmp_path / "c"
    newclass.make_class(root)
    (root / "course.toml").write_text(
        (root / "course.toml").read_text().replace('rule = "none"', 'rule = "per_day"')
    )
    from tito.grading.book.database import tables

    with tables().Gradebook(Classroom.open(root).db_url, "c") as book:
        assert book.students == []

    from nbgrader.coursedir import CourseDirectory
    from nbgrader.preprocessors import AssignLatePenalties
    from traitlets.config import PyFileConfigLoader

    moved = tmp_path / "moved"
    shutil.move(root, moved)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(moved)).load_config()
    course = CourseDirectory(config=config)
    assert course.root == str(moved) and course.course_id == "c"
    assert course.db_url.endswith("/moved/gradebook.db") and "*.py" in course.ignore
    assign = AssignLatePenalties(config=config)
    assign.init_plugin()
    ask = assign.plugin_inst.late_submission_penalty
    assert ask("u1", 12.0, 90_000) == pytest.approx(2.4) and ask("u1", 12.0, 0) is None
