"""Notebooks of any origin are read or refused with a reason; ours are the same everywhere."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tito.errors import UserError
from tito.notebook import Cell, Notebook, load, read_ipynb, write_ipynb


def document(*cells, **extra):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **extra}


def code(source, **extra):
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], **extra}


GOOD = json.dumps(document(code("x = 1")))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"  \n\n", "the file is empty"),
        (GOOD[:-20].encode(), "the file ends too early"),
        (json.dumps(document(code("x")), indent=1)[:40].encode(), "the file ends too early"),
        (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "a web page was saved"),
        (b"<html>", "a web page was saved"),
        (b"[]", "holds a JSON list"),
        (b"null", "holds a JSON null"),
        (b'"text"', "holds a JSON str"),
        (b"{}", "it has no list of cells"),
        (b'{"metadata": {}, "nbformat": 4}', "it has no list of cells"),
        (b'{"cells": {"a": 1}, "nbformat": 4}', "it has no list of cells"),
        (b'{"cells": [], "metadata": {}, "nbformat": 99}', "notebook format 99 is newer"),
        (b'{\n<<<<<<< HEAD\n"cells": [\n=======\n"cells": [\n>>>>>>> x\n', "unfinished merge"),
        (bytes(range(256)) * 4, "no valid JSON"),
        (b"hello", "no valid JSON"),
        (b'{"cells": [],}', "no valid JSON (line 1)"),
        (GOOD.encode() + b'{"a": 1}', "no valid JSON"),
        (b'{"cells": ["abc', "the file ends too early"),
        (b'{"cells": [tr', "the file ends too early"),
        (b"[" * 20000, "not a notebook"),
        (b"[" * 20000 + b"]" * 20000, "nested too deep"),
        (b'{"cells": [' + b"[" * 300 + b"]" * 300 + b"]}", "nested too deep"),
        (b'{"cells": [], "nbformat": 1' + b"0" * 5000 + b"}", "no"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_reason(data, reason):
    with pytest.raises(UserError) as caught:
        read_ipynb(data)
    assert reason in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "encode",
    [
        lambda t: t.encode(),
        lambda t: t.encode("utf-8-sig"),
        lambda t: t.encode("utf-16"),
        lambda t: t.encode("latin-1"),
        lambda t: t.replace("\n", "\r\n").encode(),
        lambda t: t.replace("\n", "\r").encode(),
    ],
    ids=["utf8", "bom", "utf16", "latin1", "crlf", "cr"],
)
def test_every_editor_s_notebook_is_read(encode):
    text = json.dumps(document(code(["x = 'ü'\n", "y = 2"])), indent=1, ensure_ascii=False)
    (cell,) = read_ipynb(encode(text)).cells
    assert cell.source == "x = 'ü'\ny = 2"


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("a\nb", "a\nb"),
        (["a\n", "b"], "a\nb"),
        (["a\r\n", "b\r"], "a\nb"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x0cb\u2028c\x85", "a\x0cb\u2028c\x85"),
        ("half \ud83d, whole \U0001f980", "half \ufffd, whole \U0001f980"),
    ],
)
def test_a_source_is_text_whatever_was_stored(source, read):
    notebook = read_ipynb(json.dumps(document(code(source))).encode())
    assert notebook.cells[0].source == read


def test_half_characters_are_told():
    assert read_ipynb(json.dumps(document(code("\ud83d"))).encode()).notes
    assert read_ipynb(json.dumps(document(code("\U0001f980"))).encode()).notes == []


@pytest.mark.parametrize(
    "cell",
    [
        {"cell_type": "code"},
        {"cell_type": "code", "source": "x", "metadata": [], "outputs": {}, "id": 3},
        {"cell_type": "code", "source": "x", "metadata": {"nbgrader": "yes", "tags": "t"}},
        {"cell_type": "code", "source": "x", "metadata": {"nbgrader": {"grade_id": 7}}},
        {"cell_type": "code", "source": "x", "metadata": {"tags": [1, None]}},
        {"cell_type": "widget", "source": "x", "metadata": {}},
        {"cell_type": ["code"], "source": "x"},
        {},
    ],
)
def test_a_damaged_cell_never_stops_the_reading(cell):
    notebook = read_ipynb(json.dumps(document(cell, code("y = 2"))).encode())
    assert len(notebook.cells) == 2
    first = notebook.cells[0]
    assert (first.grade_id, first.tags, first.points) == (None, [], None)
    assert notebook.cells[1].source == "y = 2"


@pytest.mark.parametrize(
    ("entry", "damage"),
    [
        (None, "cell 2 is no JSON object"),
        ("x = 1", "cell 2 is no JSON object"),
        (code(17), "the source of cell 2 is no text"),
        (code(None), "the source of cell 2 is no text"),
        (code(["a\n", 17]), "the source of cell 2 is no text"),
        (code({"a": 1}), "the source of cell 2 is no text"),
        (code("x", execution_count=float("nan")), "the execution_count of cell 2 is nan"),
        (code("x", execution_count="3"), "the execution_count of cell 2 is '3'"),
    ],
)
def test_a_cell_that_no_notebook_program_writes_is_named(entry, damage):
    with pytest.raises(UserError) as caught:
        read_ipynb(json.dumps(document(code("y"), entry)).encode())
    assert caught.value.message == f"not a notebook: {damage}"


def test_a_nan_in_an_output_is_no_damage():
    output = {"output_type": "display_data", "data": {"application/json": [float("nan")]}}
    text = json.dumps(document(code("x = 1", outputs=[output], execution_count=None)))
    assert "NaN" in text
    assert read_ipynb(text.encode()).cells[0].source == "x = 1"


def test_format_3_is_upgraded():
    old = {
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Title"]},
                    {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python"},
                ]
            },
            "rubbish",
        ],
        "metadata": {},
        "nbformat": 3,
        "nbformat_minor": 0,
    }
    notebook = read_ipynb(json.dumps(old).encode())
    assert [(c.kind, c.source) for c in notebook.cells] == [
        ("markdown", "## Title"),
        ("code", "x = 1\ny = 2"),
    ]
    assert "format 3" in notebook.notes[0]


def test_load_wants_a_known_suffix(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(GOOD)
    with pytest.raises(UserError, match=r"neither a \.py nor an \.ipynb"):
        load(path)
    with pytest.raises(UserError, match="no such file"):
        load(tmp_path / "no.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    with pytest.raises(UserError):
        load(tmp_path / "folder.ipynb")


def test_a_remark_on_the_encoding_is_kept(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_bytes(GOOD.replace("x = 1", "x = 'é'").encode("latin-1"))
    assert load(path).notes == ["the file was read as Latin-1; save it as UTF-8"]


def test_what_is_written_is_a_valid_notebook_without_outputs():
    import nbformat

    cells = [
        Cell("markdown", "# Title"),
        Cell("code", "x = 1\ny = 2\n", {"scrolled": True}, outputs=[{"output_type": "stream"}]),
        Cell("raw", ""),
        Cell("code", "", {"nbgrader": {"grade_id": "a b/c"}, "tags": ["t"]}),
    ]
    text = write_ipynb(Notebook(cells))
    nbformat.validate(nbformat.reads(text, as_version=4))
    stored = json.loads(text)
    assert [c["source"] for c in stored["cells"]] == [["# Title"], ["x = 1\n", "y = 2\n"], [], []]
    assert stored["cells"][1]["outputs"] == [] and stored["cells"][1]["metadata"] == {}
    assert stored["cells"][3]["metadata"] == {"nbgrader": {"grade_id": "a b/c"}, "tags": ["t"]}


def test_outputs_of_a_student_are_kept_on_demand():
    output = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    text = write_ipynb(Notebook([Cell("code", "print(1)", outputs=[output])]), outputs=True)
    assert json.loads(text)["cells"][0]["outputs"] == [output]


def ids(*cells):
    return [c["id"] for c in json.loads(write_ipynb(Notebook(list(cells))))["cells"]]


def with_id(grade_id):
    return Cell("code", "", {"nbgrader": {"grade_id": grade_id}})


def test_cell_ids_come_from_the_grade_id_else_from_place_and_content():
    made = ids(with_id("relu_loops"), Cell("code", "x = 1"), Cell("code", "x = 1"))
    assert made[0] == "relu_loops"
    assert made[1].startswith("code-2-") and made[2].startswith("code-3-")
    assert made == ids(with_id("relu_loops"), Cell("code", "x = 1"), Cell("code", "x = 1"))
    assert ids(Cell("code", "x", id="own")) == ["own"]


def test_cell_ids_are_unique_and_such_as_the_format_allows():
    long = "a" * 200
    made = ids(
        with_id("a"), with_id("a"), with_id("ü/ö"), with_id(long), with_id(long), with_id("a")
    )
    assert len(set(made)) == 6
    assert all(0 < len(i) <= 64 and i.isascii() for i in made)


TEXT = st.text(alphabet="ab=#%\n\t '\"\\ü🦀\x0c\u2028", max_size=20)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.builds(Cell, st.sampled_from(["code", "markdown", "raw"]), TEXT), max_size=5))
def test_cells_come_back_as_they_were(cells):
    text = write_ipynb(Notebook(cells))
    again = read_ipynb(text.encode())
    assert [(c.kind, c.source) for c in again.cells] == [(c.kind, c.source) for c in cells]
    assert write_ipynb(again) == text
