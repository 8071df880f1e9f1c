"""`tito roofline`: roofs, points, and what holds each point where it is."""

import json

from tests.bench.reports import MACHINE, report, row
from tito.bench.roofline_text import points_text, roofs_text, text, to_json


def line_of(shown, start):
    return next(line for line in shown.split("\n") if line.strip().startswith(start)).split()


def test_roofs_say_peaks_bandwidths_and_ridges():
    shown = roofs_text(report().machine)
    assert " ".join(line_of(shown, "256")) == "256 bit vectors 100 GFLOP/s"
    words = " ".join(line_of(shown, "L2"))
    assert words == "L2 1 MiB 50 GB/s 40 GB/s 2 FLOP a byte"
    assert " ".join(line_of(shown, "memory")) == "memory more 20 GB/s 20 GB/s 5 FLOP a byte"


def test_two_cores_have_twice_the_roof():
    assert " ".join(line_of(roofs_text(report(threads=2).machine), "256")).endswith("200 GFLOP/s")


def test_a_point_says_intensity_rate_roof_share_and_limit():
    shown = " ".join(line_of(points_text(report()), "gemm 100x100x100 loops"))
    assert shown == "gemm 100x100x100 loops 16.7 200 MFLOP/s 100 GFLOP/s 0.2 the peak"
    moved = points_text(report(relu=[row("relu", 1.0)]))
    words = " ".join(line_of(moved, "relu 500x500 relu"))
    assert words == "relu 500x500 relu - 2 GB/s 20 GB/s 10 memory"


def test_what_is_left_out_is_listed():
    shown = points_text(report())
    assert "left out:\n  gemm 100x100x100 unwritten: not written yet" in shown
    assert points_text(report(gemm=[])) == "nothing was timed"


def test_without_roofs_the_reason_is_said():
    shown = text(report(machine={**MACHINE, "peaks": {"missing": "no Numba here"}}))
    assert shown.startswith("no Numba here")
    assert " ".join(line_of(shown, "gemm 100x100x100 loops")).endswith("200 MFLOP/s - - -")


def test_programs_get_the_same():
    found = json.loads(to_json(report(threads=2)))
    assert found["peak_flops"] == 200e9
    assert found["bandwidth"] == {"L2": 100e9, "memory": 40e9}
    first = found["points"][0]
    assert (first["rung"], first["bound"], first["flops"]) == ("loops", "compute", 2000000)
