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
        ("bo", "cells missing", "b"),
        ("cy", "forbidden route", f"a: {ROUTE}"),
        ("cy", "speed in doubt", "b"),
        ("di", "changed or unusual", "test <b> changed"),
        ("di", "nothing written", "no question has an answer that runs"),
        ("ed", "not graded", "broken: no JSON"),
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
