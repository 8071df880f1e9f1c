"""One class folder whose grade book is written, copied for each test that changes it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.grading.book.sample import Class, master
from tito.grading.book import write

pytest.importorskip("nbgrader")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: to import nbgrader and to make its database takes seconds."""
    own = Class(tmp_path_factory.mktemp("book") / "class")
    own.grade_all()
    write(own.room, master(), own.results())
    return own.root


@pytest.fixture
def own(template: Path, tmp_path: Path) -> Class:
    """A class of the test's own."""
    return Class.at(shutil.copytree(template, tmp_path / "class"))


@pytest.fixture
def rewrite(own: Class) -> Callable[..., object]:
    """Write the book again, with the module as it is or another one."""
    return lambda module=None: write(own.room, module or master(), own.results())
