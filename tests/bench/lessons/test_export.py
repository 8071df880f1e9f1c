"""Lessons for programs."""

import csv
import io
import json

from tests.bench.lessons.outcomes import FOUND
from tests.bench.reports import MACHINE
from tito.bench.lessons import export
from tito.bench.results import Machine


def test_json_holds_every_repeat_and_the_machine():
    found = json.loads(export.to_json(FOUND, Machine(1, MACHINE)))
    assert found["version"] == 1 and found["holds"] is False
    assert found["clock"] == "CPU time of the thread"
    assert found["machine"]["facts"]["cpu"] == "Example CPU 9000"
    stride, equal, exact, far, ticks = found["lessons"]
    assert stride["ratios"] == [3, 4, 5] and stride["ratio"] == 4 and stride["holds"] is True
    assert stride["samples"] == [[3], [4], [5]]
    assert (stride["band_low"], stride["band_high"]) == (2, None)
    assert equal["holds"] is False and equal["band_why"] == "both touch as much"
    assert far["holds"] is None and far["ratio"] is None and far["left_out"].startswith("this")
    assert (ticks["set"], ticks["lesson"]) == ("threads", "ticks")
    assert (exact["lowest"], exact["highest"]) == (8.5, 8.5)


def test_all_that_hold_hold():
    found = {"threads": FOUND["threads"]}
    assert json.loads(export.to_json(found, Machine(1, MACHINE)))["holds"] is True


def test_csv_has_a_line_for_each_lesson():
    rows = list(csv.DictReader(io.StringIO(export.to_csv(FOUND))))
    assert [row["lesson"] for row in rows] == ["stride", "equal", "exact", "far", "ticks"]
    assert (rows[0]["band_low"], rows[0]["band_high"], rows[0]["holds"]) == ("2", "", "True")
    assert (rows[3]["ratio"], rows[3]["holds"]) == ("", "")
