"""What people read."""

import pytest

from tests.bench.reports import GEMM_ROWS, MACHINE, report, row
from tito.bench.table import core_warning, ratio_text, text


def lines(found, width=110):
    return text(found, width).split("\n")


def line_of(found, name):
    return next(line for line in lines(found) if line.strip().startswith(name)).split()


def test_a_line_says_times_rate_shares_ratio_spread_and_threads():
    head = lines(report())[1].split("  ")
    assert [h.strip() for h in head if h.strip()] == [
        *("p50", "p95", "p99", "GFLOP/s", "% roof", "% peer", "x base", "spread", "thr")
    ]
    loops = " ".join(line_of(report(), "loops"))
    assert loops == "loops 10 ms 10 ms 10 ms 0.2 0.2 2.5 base 0% 1"
    peer = " ".join(line_of(report(), "numpy matmul"))
    assert peer == "numpy matmul 500 us 500 us 500 us 4 4 50 20 (20-20) 0% 1"
    assert line_of(report(), "blocked")[-4:] == ["10", "(6-10)", "80%", "1"]


def test_the_title_says_size_work_and_roof():
    assert lines(report())[0] == (
        "gemm 100 x 100 x 100, 2 MFLOP, 120 kB, 16.7 FLOP a byte; roof 100 GFLOP/s, the peak"
    )
    found = report(relu=[row("relu", 1.0)])
    assert "relu 500 x 500, 2 MB; roof 20 GB/s, memory bandwidth" in lines(found)


def test_what_is_left_out_stays_in_its_place_with_the_reason():
    assert "  unwritten     left out: not written yet" in lines(report())
    found = report(gemm=[row("a", left_out="too slow " * 30), row("b", 1)])
    assert max(map(len, lines(found))) <= 110


def test_peer_and_compiling_are_named_below():
    shown = text(report())
    assert "  peer: torch matmul" in shown
    assert "it compiles or loads): loops 500 ms, blocked 400 ms" in shown


def test_above_the_roof_is_marked_and_explained():
    """A rate beyond what was measured of the machine is no speed: some number is wrong."""
    found = report(gemm=[row("honest", 0.1), row("copy of nothing", 0.001)])
    assert "2000!" in line_of(found, "copy of nothing")
    assert "  ! copy of nothing: above the roof" in text(found)
    assert "!" not in "".join(line_of(found, "honest"))


def test_it_says_which_was_timed_and_on_what():
    """Allocation, layout, order of the calls: what two timings may differ by is written there."""
    shown = " ".join(text(report()).split())
    for words in (
        "Every result was checked first",
        "over 3 rounds in which all take turns",
        "All get the same float32 arrays in C order; each call allocates its result",
        "Example CPU 9000, 4 cores, L1 32K L2 1M, openblas 0.3.30 with Haswell kernels",
        "Python 3.12.1, NumPy 2.4.0, Numba 0.62.0, clock: CPU time of the thread",
    ):
        assert words in shown
    assert "wall clock" not in shown


def test_several_threads_are_timed_by_the_wall_and_that_is_said():
    shown = " ".join(text(report(threads=2)).split())
    assert "clock: wall clock" in shown
    assert "timed by the wall clock, which other programs disturb" in shown
    assert "roof 200 GFLOP/s, the peak of 2 cores" in shown


def test_a_busy_machine_is_told_from_a_slow_rung():
    busy = [row("a", 1, 9, 1), row("b", 1, 1, 1)]
    assert "other programs had the cores" in text(report(threads=2, gemm=busy))
    assert "other programs had" not in text(report(threads=2, gemm=busy[1:]))
    assert "other programs had" not in text(report(threads=1, gemm=busy))  # CPU time is blind to it


def test_a_core_type_that_hides_the_best_kernels_is_warned_of():
    hidden = report(machine={**MACHINE, "hidden_core": "SkylakeX"})
    warning = core_warning(hidden.machine)
    assert "Haswell" in warning and "SkylakeX" in warning
    assert "unset OPENBLAS_CORETYPE" in warning and "Remove-Item Env:" in warning
    assert " ".join(warning.split()) in " ".join(text(hidden).split())
    assert core_warning(report().machine) is None


@pytest.mark.parametrize("width", [60, 100, 110, 120, 300])
def test_tables_fit_a_hundred_columns_and_grow_to_a_hundred_and_twenty(width):
    names = ["cache_friendly_matmul", "numpy einsum"]
    times = {names[0]: (1234, 123.4, 12.34), names[1]: (0.0123, 0.0456, 0.000789)}
    found = report(gemm=[row(name, *ms) for name, ms in times.items()], relu=[row("a", 1)])
    wanted = min(max(width, 100), 120)
    assert max(map(len, lines(found, width))) <= wanted


def test_it_is_plain_ascii_without_colours():
    shown = text(report(machine={**MACHINE, "hidden_core": "SkylakeX"}))
    assert shown.isascii() and "\x1b" not in shown


def test_columns_are_the_same_in_all_tables():
    found = report(relu=[row("a_much_longer_name_of_a_rung", 1.0)])
    heads = [line for line in lines(found) if "% roof" in line]
    assert len({line.index("% roof") for line in heads}) == 1 and len(heads) == 2


def test_without_numba_it_says_that_there_is_no_peak():
    found = report(machine={**MACHINE, "numba": None, "peaks": {"missing": "no Numba"}})
    assert "no Numba: no peak was measured" in " ".join(text(found).split())
    assert line_of(found, "loops")[8] == "-"


def test_a_package_without_a_kernel_is_told_from_one_that_is_slow():
    found = report(gemm=[r for r in GEMM_ROWS if r["library"]])
    assert "no kernel for it yet" in text(found)
    assert "no kernel for it yet" not in text(report())


def test_nothing_timed_is_still_a_table():
    assert "left out: wrong" in text(report(gemm=[row("a", left_out="wrong")]))


@pytest.mark.parametrize(
    ("band", "shown"),
    [
        ((2.519, 2.54, 2.5701), "2.54 (2.52-2.57)"),
        ((8715.7, 9168.2, 10329.0), "9168 (8716-10329)"),
        ((0.00123, 0.00125, 0.0013), "0.00125 (0.00123-0.0013)"),
        ((99.96, 99.97, 100.2), "100 (100-100)"),
    ],
)
def test_ratios_have_three_digits_and_no_powers_of_ten(band, shown):
    assert ratio_text(band) == shown
