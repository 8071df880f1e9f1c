"""What a grader opens: the student's work in the module's order, what was found, no surprises."""

from __future__ import annotations

import base64
import json

import pytest

from tests.grading.book.sample import RIGHT, WRONG, hand_in, master, row
from tito.grading.book.autograded import NO_ANSWER, NOT_THERE, NOTES_SOURCE, Pages
from tito.grading.book.harmless import JOINER, harmless, pictures
from tito.notebook import read_ipynb


@pytest.fixture(scope="module")
def pages():
    return Pages(master())


def opened(pages, data, graded=None):
    """(page, its notebook read again)"""
    page = pages.page(data, graded or row("ann"))
    return page, read_ipynb(page.ipynb().encode())


def changed(data, change):
    document = json.loads(data)
    change(document["cells"])
    return json.dumps(document).encode()


def of(cells, grade_id):
    return next(c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def own_cell(kind, source, **more):
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **code, **more}


def test_the_student_s_code_stands_in_the_module_s_order(pages):
    data = changed(hand_in(RIGHT), lambda cells: cells.reverse())
    _, notebook = opened(pages, data)
    assert [c.grade_id for c in notebook.cells if c.grade_id] == [
        c.grade_id for c in master().cells if c.grade_id
    ]
    assert notebook.by_id("total").source == RIGHT["total"]
    assert notebook.by_id("reflect-1").source.replace(JOINER, "") == RIGHT["reflect-1"]
    assert notebook.by_id("total-hidden").source == master().by_id("total-hidden").source


def test_further_cells_stand_where_the_student_put_them(pages):
    def add(cells):
        at = cells.index(of(cells, "total"))
        cells.insert(at + 1, own_cell("code", "helper = 1"))
        cells.insert(at + 2, own_cell("markdown", "a *note*"))
        cells.insert(at + 3, own_cell("raw", "<b>raw</b>"))
        cells.insert(0, own_cell("code", "first = 1"))

    _, notebook = opened(pages, changed(hand_in(RIGHT), add))
    sources = [c.source for c in notebook.cells]
    at = sources.index(RIGHT["total"])
    assert sources[at + 1 : at + 3] == ["helper = 1", "a *note*"]
    raw = notebook.cells[at + 3]
    assert raw.kind == "markdown"  # a raw cell goes into the page as HTML
    assert "<b" not in raw.source
    assert sources[0] == "first = 1"


def test_a_test_shows_points_message_and_the_input_that_failed(pages):
    graded = row("ben", {"total-test": 2, "total-hidden": 0, "mean-test": 0.25})
    of_mean = next(c for c in graded["cells"] if c["id"] == "mean-test")
    of_mean |= {"status": "partial", "message": "3 of 4"}
    _, notebook = opened(pages, hand_in(WRONG), graded)
    [passed] = notebook.by_id("total-test").outputs
    assert passed["text"] == "passed: 2 of 2 points\n"
    [failed] = notebook.by_id("total-hidden").outputs
    assert failed["output_type"] == "error"
    assert "failed: 0 of 0.5 points" in failed["traceback"][0]
    assert failed["traceback"][1:] == ["total-hidden: got 3, wanted 0", "    return <3>"]
    [partial] = notebook.by_id("mean-test").outputs
    assert partial["text"] == "partial: 0.25 of 1 points\n3 of 4\n"


def test_messages_are_escaped_where_formgrader_shows_them(pages):
    from nbconvert.exporters import HTMLExporter

    graded = row("ben", {})
    graded["deviations"] = ["cell 3: <img src=x onerror=alert(1)>"]
    for cell in graded["cells"]:
        cell["message"] = "<script>alert(1)</script>"
    page, _ = opened(pages, hand_in(WRONG), graded)
    import nbformat

    html, _ = HTMLExporter(template_name="classic").from_notebook_node(
        nbformat.reads(page.ipynb(), 4)
    )
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "<img src=x" not in html


def test_what_a_hand_in_s_outputs_held_is_left_behind(pages):
    def add(cells):
        html = {"output_type": "display_data", "data": {"text/html": "<b>"}, "metadata": {}}
        of(cells, "total")["outputs"] = [html]
        of(cells, "total-test")["outputs"] = [html]

    page, notebook = opened(pages, changed(hand_in(RIGHT), add))
    assert "text/html" not in page.ipynb()
    assert notebook.by_id("total").outputs == []


def test_edited_metadata_and_tests_are_the_module_s(pages):
    def edit(cells):
        of(cells, "total-test")["source"] = "pass"
        of(cells, "total")["metadata"]["magics_language"] = "html"
        of(cells, "reflect-1")["metadata"]["nbgrader"]["points"] = 99

    page, notebook = opened(pages, changed(hand_in(RIGHT), edit))
    assert notebook.by_id("total-test").source == master().by_id("total-test").source
    assert float(notebook.by_id("reflect-1").points) == 2
    assert "magics_language" not in page.ipynb()


def test_unanswered_is_what_was_left_as_it_was_given_out(pages):
    page, _ = opened(pages, hand_in({}))
    assert page.unanswered == {"total", "mean", "own", "reflect-1"}
    page, _ = opened(pages, hand_in(RIGHT))
    assert page.unanswered == set()


def test_cells_that_were_deleted_say_so(pages):
    def cut(cells):
        cells[:] = [
            c
            for c in cells
            if c["metadata"].get("nbgrader", {}).get("grade_id") not in ("own", "reflect-1")
        ]

    page, notebook = opened(pages, changed(hand_in(RIGHT), cut))
    assert notebook.by_id("own").source == NOT_THERE
    assert notebook.by_id("reflect-1").source == NO_ANSWER
    assert page.unanswered == {"own", "reflect-1"}


def test_a_copied_answer_is_kept_below_the_first(pages):
    def copy(cells):
        at = cells.index(of(cells, "reflect-1"))
        cells.insert(at + 1, {**cells[at], "id": "again", "source": "and more"})

    _, notebook = opened(pages, changed(hand_in(RIGHT), copy))
    at = [c.grade_id for c in notebook.cells].index("reflect-1")
    assert notebook.cells[at + 1].source == "and more"
    assert notebook.cells[at + 1].grade_id is None


def test_pictures_of_an_answer_are_kept_and_nothing_else(pages):
    png = base64.b64encode(b"\x89PNG").decode()
    attachments = {
        "a.png": {"image/png": png},
        "b.svg": {"image/svg+xml": "<svg onload=alert(1)>"},
        "c.png": {'image/png" onerror="x': png},
        'd" onerror="x.png': {"image/png": png},
        "e.png": {"image/png": '"><script>'},
    }
    data = changed(hand_in(RIGHT), lambda c: of(c, "reflect-1").update(attachments=attachments))
    page, _ = opened(pages, data)
    cell = of(json.loads(page.ipynb())["cells"], "reflect-1")
    assert cell["attachments"] == {"a.png": {"image/png": png}}
    assert pictures(None) == {}


def test_notes_stand_first(pages):
    graded = row("ann", deviations=["cell 3 was moved"], raised=["cell 4: NameError"])
    _, notebook = opened(pages, hand_in(RIGHT), graded)
    assert notebook.cells[0].source == NOTES_SOURCE
    text = notebook.cells[0].outputs[0]["text"]
    assert text == "cell 3 was moved\ncell 4: NameError (costs nothing by itself)\n"


def test_a_hand_in_of_format_3_is_shown(pages):
    cells = [
        {"cell_type": "code", "language": "python", "input": RIGHT["total"], "outputs": []},
        {"cell_type": "markdown", "source": "words"},
    ]
    data = json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()
    _, notebook = opened(pages, data)
    assert notebook.by_id("total").source == RIGHT["total"]
    assert "words" in [c.source for c in notebook.cells]


@pytest.mark.parametrize(
    "answer",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JavaScript\\:alert(1))",
        "[x](java&#115;cript:alert(1))",
        "[x](data:text/html;base64,PHN2Zz4=)",
        "[x][1]\n\n[1]: javascript:alert(1)",
        "<javascript:alert(1)>",
        "# <svg onload=alert(1)>",
        "| a |\n|---|\n| <iframe src=x> |",
        '![x" onerror="alert(1)](y)',
        '![x](y" onerror="alert(1))',
        "```mermaid\n<script>alert(1)</script>\n```",
        "&lt;script&gt; <!-- <b> --> <?x?>",
    ],
)
def test_no_answer_becomes_more_than_text_in_formgrader_s_page(answer):
    """The page that nbconvert makes of it, read by a parser of HTML."""
    from html.parser import HTMLParser

    from nbconvert.filters import markdown2html

    class Reader(HTMLParser):
        found: list = []  # noqa: RUF012

        def handle_starttag(self, tag, attributes):
            names = dict(attributes)
            if tag in ("script", "svg", "iframe", "b") or any(n.startswith("on") for n in names):
                self.found.append((tag, attributes))
            for name in ("href", "src"):
                scheme = (names.get(name) or "").strip().lower().partition(":")[0]
                if scheme in ("javascript", "data", "vbscript"):
                    self.found.append((tag, attributes))

    def read(text):
        reader = Reader()
        reader.found = []
        reader.feed(markdown2html(text))
        return reader.found

    assert read(harmless(answer)) == []


def test_the_dangers_above_are_real_ones():
    from nbconvert.filters import markdown2html

    assert "<script>" in markdown2html("<script>alert(1)</script>")
    assert 'href="javascript:' in markdown2html("[x](java&#115;cript:alert(1))")


def test_an_answer_looks_as_it_was_written():
    text = "a < b, $x<y$, `if a<b:` R&D, AT&T and \\frac{1}{2}"
    assert harmless(text).replace(JOINER, "") == text
    assert harmless("1 < 2 & 3") == "1 < 2 & 3"
