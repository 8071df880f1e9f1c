"""A green audit is remembered until anything that it depends on changes."""

from __future__ import annotations

import pytest

import tito
from tito.course import Course
from tito.errors import UserError
from tito.grading import audit
from tito.grading.audit import remembered
from tito.grading.audit.remembered import fingerprint, is_green, remember
from tito.grading.audit.report import Report


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "modules" / "07_x"
    folder.mkdir(parents=True)
    (folder / "07_x.py").write_text("# %%\nx = 1\n")
    (tmp_path / "tinykernels").mkdir()
    (tmp_path / "tests" / "mutants" / "07_x").mkdir(parents=True)
    return Course(tmp_path)


@pytest.fixture
def ref(course):
    return course.resolve("07")


def test_nothing_is_known_at_first_or_from_a_damaged_file(course, ref):
    assert not is_green(course, ref)
    for text in ("{", "[]", '{"07_x": 3}'):
        (course.root / ".tito").mkdir(exist_ok=True)
        (course.root / ".tito" / "audit.json").write_text(text)
        assert not is_green(course, ref)


def test_green_is_remembered_and_forgotten(course, ref):
    remember(course, ref, fingerprint(course, ref))
    assert is_green(course, ref)
    remember(course, ref, None)
    assert not is_green(course, ref)


@pytest.mark.parametrize(
    "name",
    [
        "modules/07_x/07_x.py",
        "modules/07_x/data.csv",
        "tests/mutants/07_x/new.py",
        "tinykernels/loops.py",
    ],
)
def test_a_change_makes_it_unknown(course, ref, name):
    remember(course, ref, fingerprint(course, ref))
    (course.root / name).write_text("changed = 1\n")
    assert not is_green(course, ref)


def test_another_tito_makes_it_unknown(course, ref, tmp_path, monkeypatch):
    remember(course, ref, fingerprint(course, ref))
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(tito, "__file__", str(tmp_path / "other" / "__init__.py"))
    assert not is_green(course, ref)


def test_outputs_in_the_notebook_and_caches_change_nothing(course, ref):
    remember(course, ref, fingerprint(course, ref))
    ref.ipynb.write_text("{}")
    (course.package / "__pycache__").mkdir()
    (course.package / "__pycache__" / "x.pyc").write_bytes(b"1")
    assert is_green(course, ref)


def test_a_known_green_module_is_not_audited_again(course, ref, monkeypatch):
    remember(course, ref, fingerprint(course, ref))
    monkeypatch.setattr(audit, "audit", None)
    audit.ensure_green(course, ref)


def test_a_red_audit_is_an_error_that_says_what(course, ref, monkeypatch):
    red = Report("07_x", problems=["relu passes", "another"])
    monkeypatch.setattr(audit, "audit", lambda *args: red)
    with pytest.raises(UserError, match=r"relu passes \(and 1 more\)"):
        audit.ensure_green(course, ref)


def test_what_is_edited_during_an_audit_was_not_audited(course, ref, monkeypatch):
    def edit(*args):
        ref.py.write_text("# %%\nx = 2\n")
        return []

    nothing = audit.generated.Outcome()
    monkeypatch.setattr(audit.judged, "reference", edit)
    monkeypatch.setattr(audit.judged, "blanks", lambda *args: [])
    monkeypatch.setattr(audit.judged, "hand_made", lambda *args: [])
    monkeypatch.setattr(audit.generated.Trial, "outcome", lambda self: nothing)
    assert audit.audit(course, ref).green
    assert not is_green(course, ref)
    monkeypatch.setattr(audit.judged, "reference", lambda *args: [])
    audit.audit(course, ref)
    assert is_green(course, ref)


def test_a_red_reference_ends_the_audit_and_forgets(course, ref, monkeypatch):
    remember(course, ref, fingerprint(course, ref))
    monkeypatch.setattr(audit.judged, "reference", lambda *args: ["red"])
    monkeypatch.setattr(audit.judged, "blanks", None)
    assert audit.audit(course, ref).problems == ["red"]
    assert not is_green(course, ref)
    assert remembered._read(course) == {}
