from __future__ import annotations

import csv
import io
import json
import re

import pytest

from tito.grading.judge.result import FORBIDS
from tito.grading.overview import overview, page, to_csv, to_json, to_text
from tito.grading.overview.oddities import oddities
from tito.notebook import Cell, Notebook


def cell(name, points, status="passed", message=None, **more):
    row = {"id": name, "status": status, "points": points, "max_points": 4}
    return {**row, "message": message, **more}


def record(student, *cells, status="graded", **more):
    points = sum(c["points"] or 0 for c in cells)
    base = {"student": student, "status": status, "reason": None, "points": points}
    rest = {"max_points": 8, "deviations": [], "isolation": ["landlock7", "seccomp"]}
    return {**base, **rest, "cells": list(cells), **more}


ROUTE = f"@ is a product, {FORBIDS}: loops"
CLASS = [
    record("ann", cell("a", 4, ratio=3.5), cell("b", 4)),
    record("bo", cell("a", 2, "partial", "=slow <b>", ratio=1.5), cell("b", 0, "missing", "none")),
    record("cy", cell("a", 0, "failed", ROUTE), cell("b", 4, doubt=True)),
    record("di", cell("a", 0, "missing"), cell("b", 0, "missing"), deviations=["test <b> changed"]),
    record("ed", status="broken", reason="no JSON", max_points=8),
    record("flo", status="missing", reason="nothing handed in"),
]


def test_what_asks_for_a_look():
    found = [(o.student, o.kind, o.text) for o in oddities(CLASS)]
    assert found == [
        ("bo", "does not run", "b: none"),
        ("cy", "forbidden route", f"a: {ROUTE}"),
        ("cy", "speed in doubt", "b"),
        ("di", "changed or unusual", "test <b> changed"),
        ("di", "nothing written", "no question has an answer that runs"),
        ("ed", "not graded", "broken: no JSON"),
    ]


def test_what_is_absent_what_is_not_written_and_what_never_ended():
    unwritten = "exercise 2 (b) is not written yet"
    cells = [
        cell("a", 0, "missing", unwritten),
        cell("b", 0, "missing", "b is not there: cell 9 (b) stopped at line 2: SyntaxError: x\ny"),
        cell("c", 0, "timeout", "took longer than 10 s of CPU time"),
        cell("d", 0, "died", "the process of your code ended"),
    ]
    gone = ["d: not in the hand-in, ours ran", "e: not in the hand-in"]
    found = [(o.kind, o.text) for o in oddities([record("ann", *cells, deviations=gone)])]
    assert found == [
        ("not written", "a"),
        ("does not run", "b: b is not there: cell 9 (b) stopped at line 2: SyntaxError: x"),
        ("cells missing", "d, e"),
        ("did not end by itself", "c: took longer than 10 s of CPU time"),
        ("did not end by itself", "d: the process of your code ended"),
    ]


def test_answers_in_the_same_words_are_named():
    def own(name, *texts):
        return name, Notebook(
            [Cell("code", f"{name}_x = 1"), *(Cell("markdown", t) for t in texts)]
        )

    long = "Rows lie one after the other in memory, so the inner loop walks in strides of one."
    other = "Each product waits for the sum before it, and that chain sets the pace of all."
    hand_ins = [own("ann", long, other, "yes"), own("bo", other, long), own("cy", long, "yes")]
    hand_ins += [own("di", "yes"), own("ed", "Words of my own, and long enough to be compared.")]
    found = overview("01_x", CLASS, hand_ins, Notebook([]))
    for text in (to_text(found), page(found)):
        assert "ann, bo: 1 answer in the same words" in text
        assert "ann, bo, cy: 1 answer in the same words" in text
    assert [group.students for group in found.likeness.answers] == [
        ("ann", "bo"),
        ("ann", "bo", "cy"),
    ]


def test_an_unconfined_grading_is_odd():
    [odd] = oddities([record("ann", cell("a", 4), isolation=[])])
    assert odd.kind == "not confined"


def test_text_and_tables():
    found = overview("01_x", CLASS, title="01 X")
    text = to_text(found)
    assert "6 students, 4 graded, 1 broken, 1 missing" in text
    assert "median 3 of 8" in text
    rows = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [r["question"] for r in rows] == ["a", "b"]
    assert rows[0]["pass_rate"] == "0.25" and rows[0]["ratio_median"] == "2.5"
    assert rows[0]["most_frequent_message"].startswith("'=slow")
    document = json.loads(to_json(found))
    assert document["version"] == 1 and document["questions"][0]["pass_rate"] == 0.25
    assert document["points"] == [0, 2, 4, 8]


def test_the_page_stands_alone():
    def own(word):
        return Notebook(
            [Cell("code", f"{word}_one = 1  # {word} <b>"), Cell("code", f"{word}_two")]
        )

    hand_ins = [("ann", own("kitten")), ("bo", own("kitten")), ("cy", own("puppy"))]
    found = overview("01_x", CLASS, hand_ins, Notebook([]), title="01 <X>")
    text = page(found)
    assert "01 &lt;X&gt;" in text and "test &lt;b&gt; changed" in text and "<b>" not in text
    assert "<td>ann, bo</td>" in text
    assert "ann, bo: the same in every cell they wrote (2 cells)" in text
    assert "ann, bo: the same in every cell they wrote (2 cells)" in to_text(found)
    assert text.count('<svg role="img" aria-label=') == 4
    # Namespaces are names; nothing is fetched.
    loads = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert not re.search(r'<script|<link|<img|@import|src=|href="(?!#)|url\((?!#)|<metadata', loads)
    assert page(found) == text


def test_what_is_said_once_is_not_said_1_times():
    text = page(overview("01_x", CLASS))
    assert "once: =slow" in text and "1 times" not in text
    twice = overview("01_x", [*CLASS, record("gus", cell("a", 2, "partial", "=slow <b>"))])
    assert "2 times: =slow" in page(twice)
    one = overview("01_x", CLASS[4:5])
    assert "1 student, 1 broken" in to_text(one) and "1 student:" in page(one)
    assert "1 remark on 1 hand-in" in to_text(one)


def test_a_class_without_a_close_pair_is_told_so():
    hand_ins = [(name, Notebook([Cell("code", f"{name}_x = 1; seen = 2")])) for name in "abcd"]
    found = overview("01_x", CLASS, hand_ins, Notebook([]))
    assert found.likeness.pairs == ()
    assert "no two hand-ins are alike" in to_text(found) and "No two hand-ins are alike" in page(
        found
    )


@pytest.mark.parametrize("records", [[], [record("flo", status="missing", reason="none")]])
def test_a_class_without_a_result(records):
    found = overview("01_x", records)
    assert "student" in to_text(found) and "<h1>" in page(found)
    assert to_csv(found).startswith("question,")
