"""The student commands as they are typed: what they print, leave behind and return."""

from __future__ import annotations

import json
import re
import shutil
from types import SimpleNamespace

import pytest

from tests.release.sample import RIGHT, fill_in, make_course, make_kit
from tito import cli
from tito.commands import student
from tito.course import Course
from tito.grading import handins
from tito.release import kit


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    return make_kit(tmp_path_factory.mktemp("pristine")).root


@pytest.fixture
def own(pristine, tmp_path, monkeypatch):
    """A kit that we stand in, in a folder with a blank in its name."""
    root = tmp_path / "my kit"
    shutil.copytree(pristine, root)
    monkeypatch.chdir(root)
    return Course(root)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course repository that we stand in."""
    made = make_course(tmp_path)
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def call(capsys):
    """Run a command; (exit code, lines of stdout, stderr)."""

    def run(*words):
        code = cli.main([str(w) for w in words])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return run


def notebook(own):
    return own.modules[0].ipynb


def test_start_names_the_notebook_and_what_is_next(own, call):
    code, lines, _ = call("start")
    assert code == 0
    assert lines == [
        "your notebook: modules/02_demo/02_demo.ipynb",
        "next: tito lab 02",
    ]


def test_start_overwrites_nothing_and_brings_back_what_is_missing(own, call):
    fill_in(notebook(own), RIGHT)
    before = notebook(own).read_bytes()
    assert call("start", "02")[0] == 0
    assert notebook(own).read_bytes() == before
    notebook(own).unlink()
    code, lines, _ = call("start", "demo")
    assert code == 0 and "was missing and is back" in lines[0]
    assert notebook(own).is_file()


def test_start_in_the_repository_makes_a_kit_and_says_so(course, call):
    code, lines, _ = call("start")
    assert code == 0
    assert "made kit for your work" in lines[0]
    assert re.fullmatch(r"next: cd kit && .*tito lab 02", lines[-1].replace('"', ""))
    assert Course(course.root / "kit").is_kit
    code, lines, _ = call("start")
    assert code == 0 and "working in kit" in lines[0]


def test_an_unknown_module_is_wrong_usage(own, call):
    code, _, err = call("start", "77")
    assert code == 2 and "02_demo" in err


def test_status_is_a_line_a_module(own, call):
    code, lines, _ = call("status")
    assert code == 0
    assert lines[0].split() == [
        "module",
        "written",
        "exported",
        "visible",
        "points",
        "tested",
        "hours",
    ]
    assert lines[1].split() == ["02_demo", "0/1", "no", "-", "-", "-"]
    fill_in(notebook(own), RIGHT)
    assert call("status")[1][-1] == "next: tito export 02"


def test_status_sends_back_to_the_test_that_fails(own, call):
    fill_in(notebook(own), {"weigh": RIGHT["weigh"].replace("0.0", "1.0")})
    assert call("test", "02")[0] == 1
    assert call("status")[1][-1] == "next: tito test 02 says which exercise to mend"


def test_status_survives_a_broken_notebook(own, call):
    notebook(own).write_text("<<<<<<< mine\n")
    code, lines, _ = call("status")
    assert code == 0 and "unfinished merge" in lines[1]


def test_reset_keeps_the_work_and_restore_brings_it_back(own, call):
    fill_in(notebook(own), RIGHT)
    mine = notebook(own).read_bytes()
    code, lines, _ = call("reset", "02")
    assert code == 0 and notebook(own).read_bytes() == kit.released_bytes(own, "02_demo")
    assert lines[1].startswith("what was there: .tito/backups/02_demo/")
    assert "--restore" in lines[-1]
    code, lines, _ = call("reset", "02", "--list")
    assert code == 0 and lines[-1].startswith("next: tito reset 02 --restore 02_demo.")
    assert call("reset", "02", "--restore")[0] == 0
    assert notebook(own).read_bytes() == mine


def test_reset_in_the_repository_touches_no_source(course, call):
    before = course.modules[0].py.read_bytes()
    code, _, err = call("reset", "02")
    assert code == 1 and "tito start" in err
    assert course.modules[0].py.read_bytes() == before
    assert not (course.root / "kit").exists()


def test_submit_names_what_is_open_and_where_to_upload(own, call):
    code, lines, _ = call("submit", "02")
    assert code == 0
    assert "saved" in lines[0]
    assert "  not written yet: weigh" in lines
    assert "  not answered yet: reflect-1" in lines
    assert lines[-1].startswith("next: upload 02_demo.zip where your course collects work")
    assert (own.root / "submit/02_demo.zip").is_file()


def test_submit_tells_of_an_exercise_that_does_not_parse(own, call):
    timed = "#| export\n%timeit 1\n" + RIGHT["weigh"].partition("\n")[2]
    fill_in(notebook(own), {"weigh": timed})
    assert not [line for line in call("submit", "02")[1] if "mend this first" in line]
    fill_in(notebook(own), {"weigh": RIGHT["weigh"] + "    return x @\n"})
    code, lines, _ = call("submit", "02")
    assert code == 0
    (said,) = [line for line in lines if "mend this first" in line]
    assert "(weigh), line" in said and "no valid Python" in said


def test_a_submitted_zip_is_a_hand_in(own, call, tmp_path):
    fill_in(notebook(own), RIGHT)
    assert call("submit", "02", "--out", tmp_path / "in" / "ada")[0] == 0
    wanted = handins.Wanted("02_demo", ("weigh", "weigh-test"))
    for place in (tmp_path / "in", tmp_path / "in" / "ada" / "02_demo.zip"):
        (found,) = handins.find_handins(place, wanted).handins
        assert found.status == "graded", found.reason
        assert found.read() == notebook(own).read_bytes()


@pytest.mark.parametrize("command", ["test", "export", "submit"])
def test_a_renamed_notebook_is_named(own, call, command):
    notebook(own).rename(notebook(own).with_name("my demo.ipynb"))
    code, _, err = call(command, "02")
    assert code != 0
    assert "no such notebook" in err
    assert "rename 'my demo.ipynb' back to 02_demo.ipynb" in err


def test_submit_of_a_conflicting_pair_stops(own, call):
    call("sync", "02")
    py = own.modules[0].py
    py.write_text(py.read_text() + "\n# %%\nin_py = 1\n")
    fill_in(notebook(own), RIGHT)
    code, _, err = call("submit", "02")
    assert code == 1 and "conflict" in err
    assert not (own.root / "submit").exists()


def test_a_changed_release_is_no_master(own, call):
    path = own.released / "02_demo.ipynb"
    path.write_text(path.read_text().replace("visible", "Visible"))
    for words in (["test", "02"], ["reset", "02"], ["submit", "02"]):
        code, _, err = call(*words)
        assert code == 1 and "was changed since the kit was made" in err, words


def test_no_course_here_is_said(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    for words in (["start"], ["status"], ["test"], ["submit", "02"], ["reset", "02"]):
        code, lines, err = call(*words)
        assert code == 2 and lines == [] and "no course here" in err, words


def test_test_tells_the_points_and_agrees_with_its_code(own, call):
    fill_in(notebook(own), RIGHT)
    code, lines, err = call("test", "02")
    assert code == 0, (lines, err)
    assert lines[0].startswith("02_demo: ") and "02_demo.ipynb, saved " in lines[0]
    assert lines[1].split() == ["1", "weigh", "1/1", "+2", "later", "passed"]
    assert lines[-1] == "next: tito export 02, then tito submit 02"
    assert call("status")[1][1].split()[3] == "1/1"
    assert call("export", "02")[1][-1] == "next: tito submit 02_demo"
    fill_in(notebook(own), {"weigh": RIGHT["weigh"].replace("0.0", "0")})
    assert call("export", "02")[1][-1] == "next: tito test 02_demo"


def test_test_of_a_fresh_kit_fails_and_says_what_to_write(own, call):
    code, lines, _ = call("test")
    assert code == 1
    assert "exercise 1 (weigh) is not written yet" in lines[1]
    assert lines[-1] == "next: write exercise 1 weigh, save, and call tito test 02 again"


def test_an_earlier_module_that_is_not_exported_comes_first():
    said = "ImportError\n  try       finish that module, tito export 02, then test again"
    question = SimpleNamespace(title="1 weigh", tests=2, status="error", message=said)
    result = SimpleNamespace(status="graded", raised=[])
    ref = SimpleNamespace(name="07_numba", number=7)
    trial = {"passed": False, "own": True, "tests": 2, "questions": [question], "result": result}
    next_step = student._after_test([SimpleNamespace(ref=ref, **trial)])
    assert next_step == "finish module 02, tito export 02, then tito test 07 again"


def test_a_cell_that_does_not_parse_is_mended_not_written(own, call):
    fill_in(notebook(own), {**RIGHT, "weigh": "def weigh(x:\n    return x"})
    assert call("status")[1][-1] == (
        "next: mend 02_demo as said above, save, and call tito status again"
    )
    code, lines, _ = call("test", "02")
    assert code == 1
    assert lines[-1] == "next: mend exercise 1 weigh, save, and call tito test 02 again"


@pytest.mark.parametrize(
    "line",
    ["ODD = (7\n       % 4)", "%matplotlib inline", "!ls", "max?", "FILES = !ls", "T = %timeit 1"],
)
def test_a_cell_that_ipython_understands_is_not_broken(own, call, line):
    fill_in(notebook(own), {**RIGHT, "weigh": f"{RIGHT['weigh']}\n{line}\n"})
    assert call("test", "02")[0] == 0
    assert call("status")[1][-1] == "next: tito export 02"
    assert not any("mend this first" in text for text in call("submit", "02")[1])


def test_test_json_has_stdout_for_itself(own, call, tmp_path):
    fill_in(notebook(own), RIGHT)
    code, lines, err = call("test", "02", "--json")
    assert code == 0 and "visible tests" in err
    (entry,) = json.loads("\n".join(lines))["submissions"]
    assert entry["passed"] and entry["before"] == "own"
    code, lines, _ = call("test", "02", "--json", tmp_path / "out.json")
    assert code == 0 and lines[0].startswith("02_demo")
    assert json.loads((tmp_path / "out.json").read_text())["submissions"]


def test_a_loose_file_is_its_own_master(own, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy = tmp_path / "homework.ipynb"
    shutil.copy(notebook(own), copy)
    code, lines, _ = call("test", copy)
    assert code == 1 and "in no course folder" in lines[1]
    fill_in(copy, RIGHT)
    assert call("test", copy)[0] == 0


def test_so_is_a_copy_beside_the_modules_which_is_not_said_to_be_elsewhere(own, call):
    copy = notebook(own).with_name("copy of it.ipynb")
    shutil.copy(notebook(own), copy)
    lines = call("test", copy)[1]
    assert "no course folder" not in lines[1] and "none of this course's modules" in lines[1]


CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}


def change_cells(path, change):
    document = json.loads(path.read_text())
    document["cells"] = change(document["cells"])
    path.write_text(json.dumps(document))


def test_no_test_at_all_is_a_failure(tmp_path, call, own):
    empty = tmp_path / "empty.ipynb"
    shutil.copy(notebook(own), empty)
    change_cells(empty, lambda cells: [{**CELL, "source": "x = 1"}])
    code, lines, _ = call("test", empty)
    assert code == 1 and any("no test found" in line for line in lines)


def test_a_cell_that_raises_outside_the_tests_is_a_failure_and_said(own, call, tmp_path):
    loose = tmp_path / "raises.ipynb"
    shutil.copy(notebook(own), loose)
    fill_in(loose, RIGHT)
    change_cells(loose, lambda cells: [{**CELL, "source": "1/0"}, *cells])
    code, lines, _ = call("test", loose)
    assert code == 1
    assert any("error outside the tests" in t and "ZeroDivisionError" in t for t in lines)


@pytest.mark.parametrize("word", ["missing.ipynb", "a_folder/", "."])
def test_a_missing_file_and_a_folder_are_wrong_usage(tmp_path, monkeypatch, call, word):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_folder").mkdir()
    assert call("test", word)[0] == 2


def test_in_the_repository_the_own_kit_is_tested_not_the_answers(course, call):
    assert call("start")[0] == 0
    code, lines, _ = call("test", "02")
    assert code == 1
    assert "testing your kit in kit" in lines[0]
    assert str(course.root / "kit") in lines[1]


def test_a_master_is_tested_by_path_with_its_visible_tests(course, call):
    code, lines, _ = call("test", course.modules[0].py)
    assert code == 0
    assert lines[1].split() == ["1", "weigh", "1/1", "+2", "later", "passed"]
    assert lines[-1].startswith("next: tito grade run HANDINS --master ")


def test_in_the_repository_without_a_kit_the_answers_are_called_so(course, call):
    code, lines, _ = call("test", "02")
    assert code == 0 and "the course's own solution" in lines[0]
