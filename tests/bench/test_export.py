"""What programs read."""

import csv
import io
import json

import pytest

from tests.bench.reports import report, row
from tito.bench.export import to_csv, to_json


def test_the_json_has_every_sample_and_what_it_was_measured_with():
    document = json.loads(to_json(report()))
    assert document["version"] == 1 and document["threads"] == 1
    assert document["clock"] == "CPU time of the thread"
    machine = document["machine"]
    assert machine["facts"]["blas_core"] == "Haswell" and machine["numba"] == "0.62.0"
    assert machine["environment"] == {"OPENBLAS_NUM_THREADS": "1"}
    assert machine["peaks"]["holds"] == {"L2": 1 << 20} and "event" not in machine
    [result] = document["results"]
    assert result["dims"] == {"M": 100, "K": 100, "N": 100} and result["size"] == "100x100x100"
    assert (result["flops"], result["bytes"]) == (2_000_000, 120_000)
    assert (result["baseline"], result["peer"]) == ("loops", "torch matmul")
    blocked = result["rows"][1]
    assert blocked["samples_s"] == [0.001, 0.002, 0.001] and blocked["calls_a_window"] == 3
    assert blocked["p50_s"] == blocked["median_s"] == 0.001
    assert blocked["ratio"]["median"] == pytest.approx(10)
    assert blocked["ratio"]["low"] == pytest.approx(6) and blocked["ratio"]["high"] <= 10.001
    assert blocked["share_of_peer"]["median"] == pytest.approx(0.25)
    assert blocked["share_of_roof"] == pytest.approx(0.02)
    assert result["rows"][4] == {
        "rung": "unwritten",
        "library": None,
        "first_call_s": 0.001,
        "left_out": "not written yet",
    }


def test_the_csv_has_one_line_for_each_rung_and_size():
    lines = list(csv.DictReader(io.StringIO(to_csv(report(relu=[row("relu", 1.0)])))))
    assert [(d["workload"], d["rung"]) for d in lines] == [
        *(("gemm", r) for r in ("loops", "blocked", "numpy matmul", "torch matmul", "unwritten")),
        ("relu", "relu"),
    ]
    blocked, unwritten, relu = lines[1], lines[4], lines[5]
    assert float(blocked["ratio"]) == pytest.approx(10) and blocked["baseline"] == "loops"
    assert float(blocked["rate"]) == pytest.approx(2e9) and blocked["unit"] == "FLOP/s"
    assert unwritten["left_out"] == "not written yet" and unwritten["median_s"] == ""
    assert relu["unit"] == "B/s" and relu["peer"] == relu["share_of_peer"] == ""


def test_nothing_measured_is_valid_too():
    found = report(gemm=[row("a", left_out="wrong")])
    assert json.loads(to_json(found))["results"][0]["baseline"] is None
    assert len(to_csv(found).splitlines()) == 2
