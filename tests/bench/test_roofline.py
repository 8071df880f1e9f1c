"""Roofline arithmetic: worked points, units, and points that have no place."""

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.bench import roofline
from tito.bench.roofline import Kernel, Point, Refused, Roof, Roofs, limits, place, quantity

# 200 GFLOP/s and 50 GB/s meet at 4 FLOP a byte.
ROOFS = Roofs(50e9, {"float32": 200e9, "int8": 800e9})


def test_the_ridge_is_where_both_limits_are_equal():
    roof = ROOFS.of("float32")
    assert roof.ridge == 4.0
    assert roof.height(4.0) == 200e9
    assert roof.bound(3.99) == "memory" and roof.bound(4.0) == "compute"


def test_a_point_left_of_the_ridge_is_bound_by_memory():
    # A dot product of two vectors of a million float32: 2 MFLOP, 8 MB, in 0.4 ms.
    point = place(Kernel("dot", 2e6, 8e6, 0.4e-3), ROOFS)
    assert point.intensity == pytest.approx(0.25)
    assert point.rate == pytest.approx(5e9) and point.traffic == pytest.approx(20e9)
    assert point.roof == pytest.approx(12.5e9) and point.bound == "memory"
    assert point.share == pytest.approx(0.4) and point.drawable and point.note == ""


def test_a_point_right_of_the_ridge_is_bound_by_the_peak():
    # A product of 384 x 384 matrices, in 1 ms.
    flops, nbytes = 2 * 384**3, 3 * 4 * 384**2
    point = place(Kernel("gemm", flops, nbytes, 1e-3), ROOFS)
    assert point.intensity == pytest.approx(64.0)
    assert (point.roof, point.bound) == (200e9, "compute")
    assert point.share == pytest.approx(flops * 1e3 / 200e9)


@given(st.floats(1e-6, 1e6), st.floats(1e6, 1e15), st.floats(1e6, 1e13))
def test_no_roof_is_above_either_limit_and_one_of_them_is_met(intensity, peak, bandwidth):
    height = Roof(peak, bandwidth).height(intensity)
    slope = bandwidth * intensity
    assert height <= peak * (1 + 1e-12) and height <= slope * (1 + 1e-12)
    assert math.isclose(height, peak, rel_tol=1e-12) or math.isclose(height, slope, rel_tol=1e-12)


def test_without_an_operation_the_traffic_is_what_counts():
    point = place(Kernel("copy", 0, 10e6, 0.25e-3), ROOFS)
    assert point.intensity == 0 and not point.drawable
    assert point.traffic == pytest.approx(40e9) and point.share == pytest.approx(0.8)
    assert point.note == "no FLOP: it only moves bytes, 40 GB/s"


def test_without_a_byte_the_intensity_is_undefined_and_nothing_is_divided_by_zero():
    point = place(Kernel("in registers", 5000, 0, 1e-6), ROOFS)
    assert isinstance(point, Point) and point.intensity is None and not point.drawable
    assert point.rate == pytest.approx(5e9) and "undefined" in point.note


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (Kernel("a", 1e3, 1e3, 0.0), "no time"),
        (Kernel("b", math.nan, 8, 1.0), "operations is nan"),
        (Kernel("c", 1e3, math.inf, 1.0), "bytes is inf"),
        (Kernel("d", 1e3, 1e3, math.nan), "seconds is nan"),
        (Kernel("e", 1e3, 1e3, -1.0), "seconds is -1"),
        (Kernel("f", 0, 0, 1.0), "does nothing"),
    ],
)
def test_what_is_no_measurement_is_refused_with_its_reason(kernel, reason):
    refused = place(kernel, ROOFS)
    assert isinstance(refused, Refused) and refused.name == kernel.name
    assert reason in refused.reason


def test_operations_on_integers_have_a_peak_of_their_own_and_are_no_flop():
    point = place(Kernel("int8 product", 4e8, 1e6, 1e-3, operand="int8"), ROOFS)
    assert point.unit == "op" and point.roof == 800e9 and point.share == pytest.approx(0.5)
    assert place(Kernel("float product", 4e8, 1e6, 1e-3), ROOFS).above  # 400 of 200 GFLOP/s


def test_a_type_without_a_measured_peak_has_no_roof_and_says_so():
    point = place(Kernel("half", 4e8, 1e6, 1e-3, operand="float16"), ROOFS)
    assert point.roof is None and point.share is None and point.bound is None
    assert "float16" in point.note and point.drawable


def test_without_bandwidth_there_is_no_roof():
    point = place(Kernel("gemm", 4e8, 1e6, 1e-3), Roofs(None, {"float32": 200e9}))
    assert point.roof is None and "bandwidth" in point.note


def test_above_the_roof_is_drawn_and_flagged():
    point = place(Kernel("too good", 3e6, 1e6, 10e-6), ROOFS)  # 300 GFLOP/s of 150
    assert point.drawable and point.above and "above the roof" in point.note
    copy = place(Kernel("copy", 0, 1e6, 10e-6), ROOFS)  # 100 GB/s of 50
    assert copy.above and "above the roof" in copy.note


def test_just_under_the_roof_is_not_flagged():
    assert not place(Kernel("good", 2e9, 1e6, 10.1e-3), ROOFS).above


def test_a_roof_is_drawn_past_every_point_and_the_ridge():
    points = [place(Kernel(str(n), n * 1e6, 1e6, 1.0), ROOFS) for n in (0, 0.01, 300)]
    low, high = limits(points, [ROOFS.of("float32")])
    assert low < 0.01 and high > 300
    only_left = [place(Kernel("a", 0.5e6, 1e6, 1.0), ROOFS)]
    low, high = limits(only_left, [ROOFS.of("float32"), ROOFS.of("int8")])
    assert low < 0.5 and high > 16
    assert limits([], [Roof(None, None)]) == (0.1, 100.0)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (20e9, "B/s", "20 GB/s"),  # not 18.6: a GB is 1e9 bytes
        (1e11, "FLOP/s", "100 GFLOP/s"),
        (1.5e12, "FLOP/s", "1.5 TFLOP/s"),
        (999.9e6, "B", "1 GB"),
        (0.0, "B/s", "0 B/s"),
        (12, "FLOP", "12 FLOP"),
    ],
)
def test_prefixes_are_decimal(value, unit, text):
    assert quantity(value, unit) == text


def test_the_examples_in_its_docstrings():
    assert doctest.testmod(roofline).failed == 0
