"""In the course's repository students get a kit, and what they wrote in it is never touched."""

from __future__ import annotations

import json

import pytest

from tests.release.sample import RIGHT, SOLUTION, fill_in, make_course, write_kit
from tito.course import Course
from tito.errors import UserError
from tito.release import kit, workspace


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


@pytest.fixture
def own(course):
    return write_kit(course.root / workspace.FOLDER)


def change_the_course(course, old="Sum what is above", new="Add up what is above"):
    py = course.modules[0].py
    text = py.read_text()
    assert old in text
    py.write_text(text.replace(old, new))


def test_a_kit_is_made_once(course):
    first = workspace.open_workspace(course)
    assert first.made and first.course.root == course.root / "kit"
    second = workspace.open_workspace(course)
    assert not second.made and second.in_repository and second.notes == []


def test_a_kit_is_its_own_workspace(own):
    space = workspace.open_workspace(own)
    assert space.course == own and not space.in_repository


def test_work_and_exports_stay(course, own):
    notebook = own.modules[0].ipynb
    fill_in(notebook, RIGHT)
    (own.root / "tinykernels/demo.py").write_text("mine = 1\n")
    (own.root / "README.md").write_text("my notes")
    before = notebook.read_bytes()
    change_the_course(course)
    space = workspace.open_workspace(course)
    assert notebook.read_bytes() == before
    assert (own.root / "tinykernels/demo.py").read_text() == "mine = 1\n"
    assert (own.root / "README.md").read_text() == "my notes"
    assert len(space.notes) == 1 and "02_demo has changed" in space.notes[0]
    assert "Sum what is above" in kit.released(own, "02_demo").cells[0].source


def test_an_untouched_module_follows_the_course(course, own):
    change_the_course(course)
    assert workspace.open_workspace(course).notes == []
    assert "Add up what is above" in own.modules[0].ipynb.read_text()
    assert "Add up what is above" in kit.released(own, "02_demo").cells[0].source


def test_a_new_module_arrives(course, own):
    folder = course.root / "modules" / "03_more"
    folder.mkdir()
    text = course.modules[0].py.read_text().replace("weigh", "lift")
    (folder / "03_more.py").write_text(text.replace("default_exp demo", "default_exp more"))
    workspace.open_workspace(Course(course.root))
    assert [m.name for m in Course(own.root).modules] == ["02_demo", "03_more"]
    assert kit.released(own, "03_more").by_id("lift")


def test_a_new_tito_arrives(course, own):
    (own.root / "tito/cli.py").write_text("old")
    workspace.open_workspace(course)
    assert (own.root / "tito/cli.py").read_text() != "old"


def test_an_update_is_searched_for_leaks_too(course, own):
    (course.root / "modules/02_demo/data/notes.txt").write_text(SOLUTION)
    with pytest.raises(UserError, match="gives away"):
        workspace.open_workspace(course)
    assert not (own.root / "modules/02_demo/data/notes.txt").exists()


def test_a_missing_notebook_comes_back_as_handed_out(own):
    notebook = own.modules[0].ipynb
    assert not workspace.restore_missing(own, "02_demo")
    notebook.unlink()
    assert workspace.restore_missing(own, "02_demo")
    assert notebook.read_bytes() == kit.released_bytes(own, "02_demo")


def test_a_kit_made_of_nothing_written_twice_is_the_same(course, own):
    manifest = json.loads((own.root / kit.MANIFEST).read_text())
    workspace.open_workspace(course)
    assert json.loads((own.root / kit.MANIFEST).read_text()) == manifest
