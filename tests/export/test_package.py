"""The package of this repository is what its modules export, and reads like written by hand."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tito.course import Course
from tito.export import built_from, plan_export

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tinykernels").rglob("*.py"))


def test_the_package_is_what_the_modules_export():
    course = Course(ROOT)
    plan = plan_export(course, course.modules)
    assert plan.changes == {}, "call tito export --all"
    assert plan.missing == []


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_ruff_finds_nothing_to_mend(command):
    run = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "tinykernels"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_of_the_notebook_is_left(path):
    text = path.read_text(encoding="utf-8")
    for mark in ("#|", "### ", "YOUR CODE HERE", "Hint:", "tito.checks"):
        assert mark not in text
    assert ast.get_docstring(ast.parse(text))


def test_every_file_of_a_module_lists_its_public_names():
    built = [p for p in FILES if built_from(p.read_text(encoding="utf-8"))]
    assert built, "no module is exported"
    for path in built:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        listed = [
            ast.literal_eval(n.value)
            for n in tree.body
            if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__"
        ]
        assert len(listed) == 1 and listed[0]
