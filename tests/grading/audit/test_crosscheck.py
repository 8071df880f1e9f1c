"""The comparison with nbgrader sees what differs; nbgrader itself runs in the course's checks."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.grading.audit.sample import LARGEST, small_master
from tito.errors import UserError
from tito.files import write_atomic
from tito.grading.audit import nbgraders
from tito.grading.audit.crosscheck import (
    NbGrader,
    _unmeasured,
    _validated,
    _with_answers,
    differences,
)
from tito.notebook import read_ipynb, write_ipynb
from tito.release.version import student_ipynb
from tito.strip import student_version


def changed(**fields):
    other = student_version(small_master())
    for name, value in fields.items():
        setattr(other.cells[2], name, value)
    return other


def test_alike_is_no_difference_and_checksums_do_not_count():
    ours = student_version(small_master())
    theirs = changed()
    theirs.cells[2].metadata["nbgrader"]["checksum"] = "abc"
    theirs.cells[2].metadata["deletable"] = False
    assert list(differences(ours, theirs)) == []


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("kind", "markdown", "nbgrader a markdown cell"),
        ("source", "other", "another text: 'other'"),
        ("metadata", {}, "nbgrader's metadata is {}"),
    ],
)
def test_each_difference_is_named(field, value, says):
    found = list(differences(student_version(small_master()), changed(**{field: value})))
    assert len(found) == 1
    assert says in found[0]
    assert "largest-test" in found[0]


def test_another_number_of_cells_is_named():
    shorter = student_version(small_master())
    shorter.cells.pop()
    assert "nbgrader 6" in next(differences(student_version(small_master()), shorter))


def test_the_reference_is_handed_in_as_a_student_would():
    released = json.loads(student_ipynb(small_master()))
    handed = read_ipynb(json.dumps(_with_answers(released, small_master())).encode())
    assert handed.by_id("largest").source == LARGEST
    assert handed.by_id("largest-hidden").source == "# 1 point, checked after hand-in"


class Said(NbGrader):
    """nbgrader in the words of a test."""

    def __init__(self, folder, *words):
        self.words = list(words)
        self.name = "07_x"
        self.folder = folder

    def call(self, *words):
        return self.words.pop(0)


class Bare(NbGrader):
    """nbgrader in a folder that holds nothing."""

    def __init__(self, folder):
        self.folder = folder
        self.name = "07_x"


def test_a_command_runs_in_a_process_of_its_own_and_what_it_prints_is_kept(tmp_path):
    pytest.importorskip("nbgrader")
    before = dict(os.environ), Path.cwd()
    nbgrader = Bare(tmp_path)
    assert f"nbgrader version {version('nbgrader')}" in nbgrader.call("--version")
    with pytest.raises(UserError, match="nbgrader autograde fails") as failed:
        nbgrader.call("autograde", "07_x")
    assert "Traceback" not in failed.value.text and "07_x" in failed.value.text
    assert (dict(os.environ), Path.cwd()) == before


GOOD = "Success! Your notebook passes all the tests."
BAD = "VALIDATION FAILED ON 2 CELL(S)! If you submit your assignment as it is"


@pytest.mark.parametrize(
    ("words", "problems"), [((GOOD, BAD), 0), ((BAD, BAD), 1), ((GOOD, GOOD), 1), ((BAD, GOOD), 2)]
)
def test_validate_is_read_by_its_words(words, problems, tmp_path):
    said = Said(tmp_path, *words)
    for tree in ("source", "release"):
        write_atomic(said.notebook(tree), write_ipynb(small_master()))
    assert len(list(_validated(said))) == problems


def test_measure_cells_keep_their_imports_alone():
    """They take most of the time; a test that needs more of them would fail with the judge too."""
    sources = [
        "#| measure\nimport math\nprint(math.pi)",
        "#| export\ndef f():\n    return 1",
        "text",
    ]
    kinds = ["code", "code", "markdown"]
    cells = [
        {"cell_type": kind, "metadata": {}, "source": source}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for kind, source in zip(kinds, sources)
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    quiet = _unmeasured(document)
    assert [cell["source"] for cell in quiet["cells"]] == ["import math", *sources[1:]]
    assert [cell["source"] for cell in document["cells"]] == sources


def test_the_same_code_is_executed_once_for_all_commands_of_a_module(tmp_path, monkeypatch):
    v4 = pytest.importorskip("nbformat.v4")
    preprocessors = pytest.importorskip("nbgrader.preprocessors")
    executed = []

    def execute(self, notebook, resources):
        executed.append([cell.source for cell in notebook.cells])
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [v4.new_output("stream", text=f"ran {cell.source}")]
                cell.execution_count = len(executed)
        notebook.metadata["language_info"] = {"name": "python"}
        return notebook, resources

    def run(*sources, text="text"):
        """What a command in a process of its own finds after the execution."""
        with monkeypatch.context() as command:
            command.setattr(preprocessors.Execute, "preprocess", execute)
            nbgraders.execute_once(tmp_path)
            cells = [v4.new_markdown_cell(text), *map(v4.new_code_cell, sources)]
            notebook, resources = preprocessors.Execute().preprocess(
                v4.new_notebook(cells=cells), {"unique_key": text}
            )
        assert resources == {"unique_key": text}
        assert notebook.metadata["language_info"] == {"name": "python"}
        assert notebook.cells[0].source == text
        return [cell.outputs[0].text for cell in notebook.cells[1:]]

    assert run("x = 1", "x") == run("x = 1", "x", text="other") == ["ran x = 1", "ran x"]
    assert executed == [["text", "x = 1", "x"]]
    assert run("x = 2", "x") == ["ran x = 2", "ran x"]
    assert run("x = 1\nx") == ["ran x = 1\nx"], "cells are told apart"
    assert len(executed) == 3
