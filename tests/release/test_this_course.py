"""The kit of this very course: no answer in it, and no entry of the reviewed list without need."""

from __future__ import annotations

from pathlib import Path

import pytest

from tito.course import Course
from tito.release import kit, leaks

# Of the texts in this repository; tests/test_modules.py makes and scans a kit on every Python.
pytestmark = pytest.mark.newest

ROOT = Path(__file__).parents[2]
ALLOWED = leaks.read_allowed(ROOT / leaks.ALLOWED_FILE)


@pytest.fixture(scope="module")
def made():
    return kit.build(Course(ROOT))


def test_the_kit_gives_nothing_away(made):
    leaks.check(made.files, made.secrets, leaks.allowed_runs(ROOT / leaks.ALLOWED_FILE))


def test_the_scan_looks_for_something(made):
    assert len(made.secrets.grams) > 1000


@pytest.mark.parametrize("entry", ALLOWED, ids=lambda e: f"line-{e.line}")
def test_every_entry_of_the_reviewed_list_is_needed(made, entry):
    wanted = {g: o for g, o in made.secrets.grams.items() if g in entry.grams}
    assert leaks.scan(made.files, leaks.Secrets(wanted), set()), entry.reason
