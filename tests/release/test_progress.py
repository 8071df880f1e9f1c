"""What is written, answered and exported is read from the notebook and the package."""

from __future__ import annotations

import pytest

from tests.release.sample import RIGHT, fill_in, make_course, make_kit
from tito.course import Course
from tito.export import plan_export, write
from tito.notebook import Cell, Notebook, load
from tito.release import kit, progress


@pytest.fixture
def own(tmp_path):
    return make_kit(tmp_path)


def line(own):
    return progress.of_module(own, own.modules[0])


def open_in(own):
    return progress.unanswered(kit.released(own, "02_demo"), load(own.modules[0].ipynb))


def test_a_fresh_kit_has_nothing_written(own):
    row = line(own)
    assert (row.written, row.exercises, row.exported, row.points) == (0, 1, "no", "")
    assert open_in(own).exercises == ["weigh"]
    assert open_in(own).reflections == ["reflect-1"]


def test_a_written_exercise_counts(own):
    fill_in(own.modules[0].ipynb, RIGHT)
    assert line(own).written == 1 and open_in(own).exercises == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "#| export\ndef weigh(x, limit):\n    y = 1\n    raise NotImplementedError()",
        "#| export\ndef weigh(x, limit):\n    raise NotImplementedError()  # later",
    ],
)
def test_half_an_exercise_does_not_count(own, source):
    fill_in(own.modules[0].ipynb, {"weigh": source})
    assert open_in(own).exercises == ["weigh"]


def test_a_deleted_cell_is_not_written(own):
    release = kit.released(own, "02_demo")
    assert progress.unanswered(release, Notebook([])).exercises == ["weigh"]
    assert progress.unanswered(release, Notebook([])).reflections == ["reflect-1"]


def test_an_answer_below_the_placeholder_counts(own):
    fill_in(own.modules[0].ipynb, {"reflect-1": "Why?\n\nYOUR ANSWER HERE\n\nBecause."})
    assert open_in(own).reflections == []


def test_blanks_alone_answer_nothing(own):
    fill_in(own.modules[0].ipynb, {"reflect-1": "Why?\n\n\n\nYOUR ANSWER HERE \n"})
    assert open_in(own).reflections == ["reflect-1"]


def test_the_export_is_followed(own):
    notebook = own.modules[0].ipynb
    fill_in(notebook, RIGHT)
    assert line(own).exported == "no"
    write(plan_export(own, own.modules))
    assert line(own).exported == "yes"
    assert line(own).done
    fill_in(notebook, {"weigh": RIGHT["weigh"].replace("0.0", "0")})
    assert line(own).exported == "out of date"
    assert not line(own).done


def test_an_export_of_stubs_is_in_part(own):
    write(plan_export(own, own.modules))
    assert line(own).exported == "in part"


def test_a_solved_module_is_given(tmp_path):
    kit.generate(make_course(tmp_path), tmp_path / "kit", frozenset({"02_demo"}))
    row = line(Course(tmp_path / "kit"))
    assert row.exported == "given" and row.done


def test_the_last_test_is_remembered_until_the_file_changes(own):
    notebook = own.modules[0].ipynb
    progress.remember_test(own, notebook, "02_demo", "1", "3")
    assert line(own).points == "1/3" and line(own).remark == ""
    fill_in(notebook, RIGHT)
    assert line(own).points == "1/3"
    assert line(own).remark == "changed since the last test"


@pytest.mark.parametrize("text", ["", "[]", '{"points": 1}'])
def test_a_damaged_memory_is_no_memory(own, text):
    progress.remember_test(own, own.modules[0].ipynb, "02_demo", "1", "3")
    (own.root / ".tito/tests/02_demo.json").write_text(text)
    assert line(own).points == ""


def test_a_broken_notebook_is_a_remark(own):
    own.modules[0].ipynb.write_text("<html>login</html>")
    assert "web page" in line(own).remark


def test_the_small_table_is_read():
    table = "# Title\n\n| | |\n|---|---|\n| Hours | 2.5 |\n| *goes to* | `loops` |\n"
    facts = progress.facts_of(Notebook([Cell("markdown", table)]))
    assert facts["hours"] == "2.5" and facts["goes to"] == "loops"
