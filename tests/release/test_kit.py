"""A kit: complete, without answers, and all or nothing."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.release.sample import HIDDEN, RUBRIC, SOLUTION, make_course, write_kit
from tito import strip
from tito.course import Course
from tito.errors import UsageError, UserError
from tito.notebook import load
from tito.release import kit, leaks

SECRETS = (*SOLUTION.split("\n")[2:4], "secret sizes", RUBRIC)


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


@pytest.fixture
def made(course, tmp_path):
    return write_kit(tmp_path / "the kit")


def every_byte(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())


def test_the_kit_is_a_course_folder_with_all_that_students_need(made):
    assert made.is_kit
    assert [m.name for m in made.modules] == ["02_demo"]
    for name in ("README.md", "requirements.txt", "pyproject.toml", "Makefile", "LICENSE"):
        assert (made.root / name).is_file(), name
    assert (made.root / "modules/02_demo/data/input.csv").is_file()
    assert (made.root / "tito/cli.py").is_file()


def test_no_answer_stands_in_any_file(made):
    whole = every_byte(made.root)
    for secret in SECRETS:
        assert secret.strip().encode() not in whole


def test_nothing_of_the_authors_workshop_goes_along(course, made):
    names = [p.relative_to(made.root).as_posix() for p in made.root.rglob("*") if p.is_file()]
    assert not [n for n in names if n.startswith("tests/") or "mutants" in n or ".git/" in n]
    assert not [n for n in names if n.startswith("modules/") and n.endswith(".py")]
    assert not [n for n in names if "__pycache__" in n]
    assert "tito/template.py" not in names  # it holds the answers of a module just begun


def test_caches_and_hidden_files_stay_at_home(course, tmp_path):
    for name in ("__pycache__/a.txt", ".ipynb_checkpoints/b.txt", ".git/c.txt", "data/.d.txt"):
        path = course.modules[0].folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    kit.generate(course, tmp_path / "kit")
    folder = tmp_path / "kit/modules/02_demo"
    names = {p.name for p in folder.rglob("*") if p.is_file()}
    assert names == {"02_demo.ipynb", "input.csv"}


def test_the_notebook_is_not_paired_with_the_source(made):
    text = made.modules[0].ipynb.read_text()
    assert "jupytext" not in json.loads(text)["metadata"]
    assert "tito" not in json.loads(text)["metadata"]


def test_the_notebook_is_the_student_version(course, made):
    student = strip.student_version(load(course.modules[0].py))
    sources = [c.source for c in load(made.modules[0].ipynb).cells]
    assert sources == [c.source for c in student.cells]


def test_the_release_is_the_notebook_and_its_hash_is_checked(made):
    assert kit.released_bytes(made, "02_demo") == made.modules[0].ipynb.read_bytes()
    path = made.released / "02_demo.ipynb"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert kit.released(made, "02_demo").by_id("weigh")
    path.write_text(path.read_text().replace("visible", "VISIBLE"))
    with pytest.raises(UserError, match="was changed since the kit was made"):
        kit.released(made, "02_demo")


def test_a_kit_without_its_manifest_says_how_to_go_on(made):
    (made.root / kit.MANIFEST).write_text("{")
    with pytest.raises(UserError, match="cannot be read") as error:
        kit.released(made, "02_demo")
    assert "fresh kit" in str(error.value)


def test_the_manifest_counts_the_points(made):
    points = kit.read_manifest(made)["modules"]["02_demo"]["points"]
    assert points == {"visible": "1", "hidden": "2", "manual": "2"}


def run_python(code: str, folder: Path) -> subprocess.CompletedProcess:
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True
    )


def test_every_public_name_is_a_stub_that_names_its_exercise(made):
    code = (
        "import tinykernels.demo as d\n"
        "assert d.__all__ == ['weigh', 'weigh_all', 'weight']\n"
        "for f in (d.weigh, d.weigh_all):\n"
        "    try: f([1], limit=2)\n"
        "    except NotImplementedError as e: print(e)\n"
    )
    run = run_python(code, made.root)
    assert run.stdout.split("\n")[:2] == [
        "weigh is exercise 1 of 02_demo: tito start 02",
        "weigh is exercise 1 of 02_demo: tito start 02",
    ], run.stderr


def test_a_kit_holds_its_own_command_line(made):
    run = run_python("import tito, tito.cli; print(tito.__file__)", made.root)
    assert Path(run.stdout.strip()) == made.root / "tito" / "__init__.py", run.stderr


def test_solved_modules_bring_their_exports(course, tmp_path):
    kit.generate(course, tmp_path / "kit", frozenset({"02_demo"}))
    assert "weight * x[i]" in (tmp_path / "kit/tinykernels/demo.py").read_text()
    assert "weight * x[i]" not in (tmp_path / "kit/modules/02_demo/02_demo.ipynb").read_text()


@pytest.mark.parametrize(
    "words, want",
    [("02", {"02_demo"}), ("01-04", {"02_demo"}), ("2, demo", {"02_demo"}), (None, set())],
)
def test_solved_modules_are_named_by_numbers(course, words, want):
    assert kit.solved_modules(course, words) == want


@pytest.mark.parametrize("words", ["05-09", "7", "x-y"])
def test_a_number_of_no_module_is_wrong_usage(course, words):
    with pytest.raises(UsageError):
        kit.solved_modules(course, words)


PLANTED = {
    "modules/02_demo/notes.txt": SOLUTION,
    "modules/02_demo/data/t.b64": base64.b64encode(HIDDEN.encode()).decode(),
    "tinykernels/__init__.py": f"'''{RUBRIC}'''",
    "LICENSE": SOLUTION,
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_stops_the_kit_and_leaves_nothing(course, tmp_path, name):
    (course.root / name).write_text(PLANTED[name])
    with pytest.raises(UserError, match=name):
        kit.generate(course, tmp_path / "kit")
    assert not (tmp_path / "kit").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["a course"]


def test_a_leak_in_tito_itself_stops_the_kit(course, tmp_path, monkeypatch):
    monkeypatch.setattr(kit, "_tito", lambda: {"tito/template.py": SOLUTION.encode()})
    with pytest.raises(UserError, match=r"tito/template\.py"):
        kit.generate(course, tmp_path / "kit")


def test_a_reviewed_run_may_stand(course, tmp_path):
    (course.root / "modules/02_demo/notes.txt").write_text(SOLUTION)
    path = course.root / leaks.ALLOWED_FILE
    path.parent.mkdir()
    path.write_text(f"reason: read out in the lecture\n{SOLUTION}\n")
    kit.generate(course, tmp_path / "kit")
    assert (tmp_path / "kit/modules/02_demo/notes.txt").is_file()
    assert not (tmp_path / "kit/tests").exists()


def test_a_marker_out_of_pair_stops_the_kit_with_the_cell(course, tmp_path):
    py = course.modules[0].py
    py.write_text(py.read_text().replace("    ### END SOLUTION\n", "", 1))
    with pytest.raises(UserError, match=r"cell 4 \(weigh\)"):
        kit.generate(course, tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


def test_an_empty_folder_is_used(course, tmp_path):
    (tmp_path / "kit").mkdir()
    kit.generate(course, tmp_path / "kit")
    assert Course(tmp_path / "kit").is_kit


def test_nobodys_files_are_written_over(course, tmp_path):
    out = tmp_path / "kit"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        kit.generate(course, out)
    assert [p.name for p in out.iterdir()] == ["thesis.txt"]
    with pytest.raises(UsageError, match="is a file"):
        kit.generate(course, out / "thesis.txt")


def test_a_kit_makes_no_kits(made, tmp_path):
    with pytest.raises(UsageError, match="is a kit"):
        kit.generate(made, tmp_path / "other")


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        kit.write({"a": b"1", "b": None}, tmp_path / "kit")
    assert list(tmp_path.iterdir()) == []


def test_the_same_kit_every_time(course):
    assert kit.build(course).files == kit.build(course).files


def test_settings_of_the_courses_own_tests_stay_at_home(made):
    project = tomllib.loads((made.root / "pyproject.toml").read_text())
    assert set(project["tool"]) == {"setuptools"}
    assert project["project"]["scripts"] == {"tito": "tito.cli:main"}
    assert "test" not in project["project"]["optional-dependencies"]
    requirements = (made.root / "requirements.txt").read_text()
    assert "jupyterlab" in requirements and "numba" in requirements
    assert "pytest" not in requirements and "nbgrader" not in requirements


def test_what_a_solved_module_hands_out_is_no_secret_of_a_later_one(course, tmp_path):
    """The same lines in a later module's solution stand in the kit on purpose."""
    from tito.release import leaks

    secret = "total = first * second + third - fourth * (fifth + sixth)"
    found = leaks.Secrets(dict.fromkeys(leaks.grams(leaks.tokens(secret)), "05_next cell 3"))
    assert found.grams
    assert found.without([f"def f():\n    {secret}  # why"]).grams == {}
    assert found.without(["total = 1"]).grams == found.grams
