"""The student version is nbgrader's, to the checksum."""

from __future__ import annotations

import json

import pytest

from tests.release.sample import HIDDEN, RUBRIC, SOLUTION, master
from tito.notebook import Cell, Notebook
from tito.release import version


@pytest.fixture(scope="module")
def document():
    notebook = master()
    notebook.metadata = {"jupytext": {"formats": "ipynb,py:percent"}, "tito": {"pair": "sha256:1"}}
    for cell in notebook.cells:
        cell.outputs = [{"output_type": "stream", "name": "stdout", "text": ["SECRET"]}]
    return json.loads(version.student_ipynb(notebook))


def test_no_answer_output_or_pairing_is_left(document):
    text = json.dumps(document)
    for secret in (SOLUTION, HIDDEN, RUBRIC):
        assert json.dumps(secret.split("\n")[0])[1:-1] not in text
    assert "SECRET" not in text
    assert set(document["metadata"]) == {"kernelspec", "language_info"}


def test_checksums_are_nbgraders(document):
    utils = pytest.importorskip("nbgrader.utils")
    import nbformat

    cells = [c for c in document["cells"] if "nbgrader" in c["metadata"]]
    assert cells
    for cell in nbformat.from_dict(document).cells:
        if "nbgrader" in cell.metadata:
            cell.source = "".join(cell.source)
            assert cell.metadata.nbgrader.checksum == utils.compute_checksum(cell)
            assert cell.metadata.nbgrader.cell_type == cell.cell_type


def test_locks_are_nbgraders(document):
    lockcells = pytest.importorskip("nbgrader.preprocessors.lockcells")
    import nbformat

    keys = ("deletable", "editable")
    for cell in nbformat.from_dict(document).cells:
        ours = {k: cell.metadata.pop(k) for k in keys if k in cell.metadata}
        locked, _ = lockcells.LockCells().preprocess_cell(cell, {}, 0)
        assert ours == {k: v for k, v in locked.metadata.items() if k in keys}


def test_a_student_may_edit_solutions_and_answers_only(document):
    by_id = {c["id"]: c["metadata"] for c in document["cells"]}
    assert "editable" not in by_id["weigh"]
    assert "editable" not in by_id["reflect-1"]
    assert by_id["weigh-test"]["editable"] is False
    assert by_id["weigh-hidden"]["editable"] is False


def test_given_cells_carry_no_nbgrader_noise():
    text = version.as_released(Notebook([Cell("code", "x = 1", {})]))
    assert json.loads(text)["cells"][0]["metadata"] == {}


def test_the_same_bytes_every_time():
    assert version.student_ipynb(master()) == version.student_ipynb(master())
