"""`tito generate`: a kit, or nothing and a reason."""

from __future__ import annotations

import pytest

from tests.release.sample import SOLUTION, make_course
from tito import cli
from tito.course import Course
from tito.errors import UserError


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course that we stand in, its audit taken for green."""
    made = make_course(tmp_path)
    monkeypatch.chdir(made.root)
    monkeypatch.setattr("tito.grading.audit.ensure_green", lambda course, ref, say: say("blanks"))
    return made


def test_a_failing_audit_stops_it(course, tmp_path, monkeypatch, capsys):
    def red(course, ref, say):
        raise UserError(f"the audit of {ref.name} fails: mutant 3 gets points")

    monkeypatch.setattr("tito.grading.audit.ensure_green", red)
    assert cli.main(["generate", str(tmp_path / "out")]) == 1
    assert "the audit of 02_demo fails" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_kit_is_made_and_what_to_do_with_it_said(course, tmp_path, capsys):
    assert cli.main(["generate", str(tmp_path / "out")]) == 0
    assert Course(tmp_path / "out").is_kit
    said = capsys.readouterr()
    assert "1 module to audit first" in said.err and "auditing 02_demo (1 of 1): blanks" in said.err
    lines = said.out.splitlines()
    assert "no answers" in lines[0] and lines[-1].startswith("next: give ")


def test_a_leak_stops_it_with_file_and_origin(course, tmp_path, capsys):
    (course.root / "modules/02_demo/data/extra.txt").write_text(SOLUTION)
    assert cli.main(["generate", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "modules/02_demo/data/extra.txt" in error and "02_demo cell 4 (weigh)" in error
    assert not (tmp_path / "out").exists()


def test_a_full_folder_is_refused(course, tmp_path, capsys):
    assert cli.main(["generate", str(course.root)]) == 2
    assert "not empty" in capsys.readouterr().err


def test_solved_modules_go_along(course, tmp_path, capsys):
    assert cli.main(["generate", str(tmp_path / "out"), "--solved", "01-02"]) == 0
    assert "solved in it: 02_demo" in capsys.readouterr().out
    assert "weight * x[i]" in (tmp_path / "out/tinykernels/demo.py").read_text()


def test_a_wrong_number_is_wrong_usage(course, tmp_path):
    assert cli.main(["generate", str(tmp_path / "out"), "--solved", "8"]) == 2
    assert not (tmp_path / "out").exists()
