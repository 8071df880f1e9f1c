"""tito sync, lint, new and audit as they are called: what they print and how they end."""

from __future__ import annotations

import json

import pytest

from tests.release.sample import SOLUTION, make_course
from tito import template
from tito.cli import main
from tito.grading import audit as audits
from tito.grading.audit.report import Report


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "modules" / "07_numba").mkdir(parents=True)
    (tmp_path / "tinykernels").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "modules" / "07_numba" / "07_numba.py").write_text(
        template.text("07_numba"), encoding="utf-8"
    )
    return tmp_path / "modules" / "07_numba"


@pytest.fixture
def pair(folder, capsys):
    assert main(["sync"]) == 0
    capsys.readouterr()
    return folder


def edit_py(folder, old="def ramp(", new="def  ramp("):
    path = folder / "07_numba.py"
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")


def edit_ipynb(folder, change):
    path = folder / "07_numba.ipynb"
    document = json.loads(path.read_text("utf-8"))
    change(document["cells"])
    path.write_text(json.dumps(document), encoding="utf-8")


def test_sync_says_which_file_it_wrote_from_which_and_what_comes_next(folder, capsys):
    assert main(["sync", "07"]) == 0
    out = capsys.readouterr().out
    assert "07_numba.ipynb written from" in out
    assert "07_numba.py, saved" in out
    assert out.rstrip().endswith("tito lint 07_numba")
    assert main(["sync", "07"]) == 0
    assert "07_numba: in step" in capsys.readouterr().out


def test_a_file_outside_the_course_is_named_by_its_path_in_what_comes_next(
    folder, tmp_path, capsys
):
    loose = tmp_path / "loose.py"
    loose.write_text("# %%\nx = 1\n", encoding="utf-8")
    assert main(["sync", "loose.py"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("next: tito lint loose.py")
    assert main(["export", "loose.py"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("next: tito test loose.py")
    loose.write_text("# %%\n#| default_exp loose\n\n# %%\n#| export\nx = (\n", encoding="utf-8")
    assert main(["export", "loose.py", "--check"]) == 1
    assert capsys.readouterr().out.rstrip().endswith("then tito export loose.py")


def test_what_is_only_checked_says_what_comes_next_too(pair, capsys):
    assert main(["sync", "--check"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("next: tito lint 07_numba")
    edit_py(pair)
    assert main(["sync", "--check"]) == 1
    assert capsys.readouterr().out.rstrip().endswith("next: tito sync 07_numba")


def test_a_conflict_ends_with_one_and_can_be_ended(pair, capsys):
    edit_py(pair)
    edit_ipynb(pair, lambda cells: cells.append({**cells[0], "id": "new", "source": "more"}))
    assert main(["sync"]) == 1
    assert "conflict" in capsys.readouterr().err
    assert main(["sync", "07", "--keep", "py"]) == 0
    assert "kept as they were: 07_numba.py.orig" in capsys.readouterr().out
    assert main(["sync", "--check"]) in (0, 1)
    assert main(["sync", "--clear"]) == 0
    assert main(["sync", "--check"]) == 0


def test_one_conflict_leaves_the_other_modules_alone(pair, capsys):
    assert main(["new", "08_other"]) == 0
    edit_py(pair)
    edit_ipynb(pair, lambda cells: cells.pop())
    (pair.parent / "08_other" / "08_other.ipynb").unlink()
    assert main(["sync", "--all"]) == 1
    shown = capsys.readouterr()
    assert "08_other.ipynb written" in shown.out
    assert "07_numba" in shown.err
    assert "08_other" not in shown.err


def test_check_changes_nothing_and_ends_with_one_when_out_of_step(pair, capsys):
    assert main(["sync", "--check"]) == 0
    edit_py(pair)
    before = (pair / "07_numba.ipynb").read_bytes()
    assert main(["sync", "--check"]) == 1
    assert "the .py was changed" in capsys.readouterr().err
    assert (pair / "07_numba.ipynb").read_bytes() == before


def test_a_loose_pair_is_synced_by_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loose.py").write_text("# %%\nx = 1\n")
    assert main(["sync", "loose.py"]) == 0
    assert (tmp_path / "loose.ipynb").is_file()


def test_a_folder_of_loose_pairs_can_be_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs").mkdir()
    for name in ("a", "b"):
        (tmp_path / "pairs" / f"{name}.py").write_text("# %%\nx = 1\n")
    assert main(["sync", "pairs"]) == 0
    assert (tmp_path / "pairs" / "b.ipynb").is_file()
    (tmp_path / "empty").mkdir()
    assert main(["sync", "empty"]) == 2
    assert main(["sync", "none"]) == 2


def test_new_makes_a_pair_that_lint_accepts(folder, capsys):
    assert main(["new", "08_simd"]) == 0
    out = capsys.readouterr().out
    assert "08_simd.py" in out
    assert "tito lint 08_simd" in out
    assert main(["lint", "--all"]) == 0
    assert main(["sync", "--check"]) == 1  # 07 has no notebook yet
    assert main(["new", "08_simd"]) == 1
    assert main(["new", "simd"]) == 2


@pytest.fixture
def kit(folder):
    (folder.parents[1] / ".tito" / "released").mkdir(parents=True)
    return folder


@pytest.mark.parametrize("command", ["lint", "audit"])
def test_in_a_kit_there_is_nothing_to_check(kit, command, capsys):
    assert main([command]) == 2
    assert "kit" in capsys.readouterr().err


def test_in_a_kit_no_module_is_made(kit, capsys):
    assert main(["new", "08_simd"]) == 2
    assert "kit" in capsys.readouterr().err
    assert not (kit.parent / "08_simd").exists()


@pytest.fixture
def demo_course(tmp_path, monkeypatch):
    course = make_course(tmp_path)
    monkeypatch.chdir(course.root)
    return course


@pytest.mark.parametrize(("problems", "code"), [([], 0), (["relu_abs: passes relu-test"], 1)])
def test_audit_prints_its_parts_and_ends_as_it_found(
    demo_course, capsys, monkeypatch, problems, code
):
    report = Report("02_demo", problems, ["a note"], [("blanks", "no point anywhere", 1.5)])
    monkeypatch.setattr(audits, "audit", lambda *args: report)
    assert main(["audit", "02"]) == code
    shown = capsys.readouterr()
    assert "blanks" in shown.out
    assert "1.5 s CPU" in shown.out
    assert "note: a note" in shown.out
    assert ("relu_abs" in shown.err) is bool(problems)


def test_audit_finds_an_answer_that_a_kit_would_give_away(demo_course, capsys, monkeypatch):
    monkeypatch.setattr(audits, "audit", lambda *args: Report("02_demo"))
    notes = demo_course.root / "modules" / "02_demo" / "data" / "notes.txt"
    notes.write_text(SOLUTION)
    assert main(["audit", "02"]) == 1
    shown = capsys.readouterr()
    assert "notes.txt" in shown.err
    assert "gives away" in shown.err
