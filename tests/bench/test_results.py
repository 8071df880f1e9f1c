"""Rates, shares and ratios of known numbers."""

import pytest

from tests.bench.reports import MACHINE, report, row
from tito.bench.results import Row


def named(found, name):
    return next(r for table in found.tables for r in table.rows if r.name == name)


def test_percentiles_and_spread_are_of_the_windows():
    timed = Row("a", samples=(1.0, 2.0, 3.0, 4.0, 5.0))
    assert timed.seconds == 3.0 and timed.percentile(95) == pytest.approx(4.8)
    assert timed.spread == pytest.approx((4.6 - 1.4) / 3.0)


def test_ratios_are_taken_round_by_round():
    """A machine that slows down in the second round slows both: the ratio stays."""
    slow, fast = Row("a", samples=(2.0, 8.0, 2.0)), Row("b", samples=(1.0, 4.0, 1.0))
    assert fast.times_as_fast_as(slow) == (2.0, 2.0, 2.0)
    low, median, high = Row("c", samples=(1.0, 1.0, 2.0)).times_as_fast_as(slow)
    assert low < median == 2.0 < high


def test_the_baseline_is_the_first_that_was_timed_and_the_peer_the_fastest():
    [table] = report().tables
    assert table.baseline.name == "loops" and table.peer.name == "torch matmul"
    [table] = report(
        gemm=[row("a", left_out="no"), row("b", 1), row("n", 2, library="numpy")]
    ).tables
    assert table.baseline.name == "b" and table.peer.name == "n"
    [table] = report(gemm=[row("a", left_out="no")]).tables
    assert table.baseline is None and table.peer is None


def test_a_rate_stands_under_the_peak_or_the_bandwidth():
    found = report(relu=[row("relu", 0.1)])
    gemm, relu = found.tables
    assert gemm.rate(named(found, "blocked")) == pytest.approx(2e9)
    assert gemm.limit(found.machine) == 100e9
    assert gemm.point(named(found, "blocked"), found.machine).share == pytest.approx(0.02)
    assert relu.unit == "B/s" and relu.limit(found.machine) == 20e9  # 2 MB: beyond the L2
    assert relu.point(named(found, "relu"), found.machine).share == pytest.approx(1.0)


def test_more_threads_have_so_many_times_the_roof():
    found = report(threads=3)
    assert found.tables[0].limit(found.machine) == 300e9
    assert found.machine.clock == "wall clock"


def test_without_peaks_there_is_no_share():
    found = report(machine={**MACHINE, "peaks": {"missing": "no Numba"}})
    assert found.tables[0].limit(found.machine) is None
    assert found.tables[0].point(named(found, "loops"), found.machine).share is None
    assert found.tables[0].above(found.machine) == []


def test_faster_than_the_roof_is_noticed():
    found = report(gemm=[row("honest", 0.1), row("too good", 0.001)], relu=[row("copy", 0.05)])
    assert found.tables[0].above(found.machine) == ["too good"]
    assert found.tables[1].above(found.machine) == ["copy"]


def test_a_first_call_that_did_more_than_the_others():
    assert Row("jitted", samples=(0.001,), first_call=0.3).compiles
    assert not Row("plain", samples=(0.001,), first_call=0.002).compiles
    assert not Row("slow", samples=(0.1,), first_call=0.3).compiles
    assert not Row("left out", left_out="wrong", first_call=0.3).compiles
