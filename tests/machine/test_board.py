"""The scoreboard: its numbers, its words, its width."""

import doctest

import numpy as np
import pytest

from tito.machine import Peaks, Rung, board, scoreboard
from tito.machine.board import Row, Scoreboard, row_of
from tito.machine.hardware import Facts
from tito.machine.measuring import Measured

ROOFS = Peaks(
    by_width={128: 25e9, 256: 100e9},
    widest64=50e9,
    bandwidth={"L1": 80e9, "L2": 40e9, "memory": 10e9},
    copying={"L1": 100e9, "L2": 30e9, "memory": 9e9},
    holds={"L1": 2**15, "L2": 2**20},
    spread=0.02,
)
MACHINE = Facts("Some CPU", 4, "Linux", "3.13.0", "2.5.0", "openblas 0.3", "Haswell", 4)


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def found(rung, seconds=0.001, **more):
    return Measured(rung, samples=(seconds,), calls=1, **more)


def made(*rows, **more):
    return Scoreboard(rows=rows, machine=MACHINE, rounds=5, **more)


def lines(table):
    text = str(table)
    assert max(map(len, text.splitlines())) <= board.WIDTH
    assert not any(line != line.rstrip() for line in text.splitlines())
    return text.splitlines()


# Rates and shares


@pytest.mark.parametrize(
    ("dtype", "share", "name"), [(np.float32, 0.5, "float32"), (np.float64, 1.0, "float64")]
)
def test_flops_are_a_share_of_the_dtype_s_peak(dtype, share, name):
    rung = Rung("product", np.matmul, (ones(4, 4, dtype=dtype),), flops=50e6)
    row = row_of(found(rung), ROOFS)
    assert (row.rate, row.unit) == (pytest.approx(50e9), "GFLOP/s")
    assert row.share == pytest.approx(share) and row.roof_name == name


@pytest.mark.parametrize(
    ("footprint", "share", "name"),
    [(2**15, 0.1, "L1"), (2**15 + 1, 0.25, "L2"), (2**20, 0.25, "L2"), (2**21, 1.0, "memory")],
)
def test_bytes_are_a_share_of_the_level_that_holds_the_working_set(footprint, share, name):
    row = row_of(found(Rung("relu", abs, nbytes=10e6), footprint=footprint), ROOFS)
    assert (row.unit, row.roof_name) == ("GB/s", name)
    assert row.share == pytest.approx(share)


def test_what_is_unknown_has_no_share():
    product = Rung("on lists", sum, ([1.0],), flops=1e6)
    whole = Rung("int8", sum, (ones(3, dtype=np.int8),), operations=5e6)
    half = Rung("half", sum, (ones(3, dtype=np.float16),), flops=1e6)
    plain = Rung("no work", sum)
    assert [row_of(found(r), ROOFS).share for r in (product, whole, half, plain)] == [None] * 4
    assert row_of(found(whole), ROOFS).unit == "Gop/s"
    assert row_of(found(whole), ROOFS).rate == pytest.approx(5e9)
    assert row_of(found(plain), ROOFS).rate is None
    row = row_of(found(Rung("relu", abs, nbytes=1e6)), Peaks(missing="peaks are unknown"))
    assert row.rate == pytest.approx(1e9) and row.share is None


def test_a_level_that_was_not_measured_has_no_roof():
    roofs = Peaks(bandwidth={"L1": 1.0}, copying={"L1": 2.0}, holds={"L1": 100})
    assert roofs.bandwidth_for(100) == 2.0 and roofs.bandwidth_for(101) is None


@pytest.mark.parametrize(("share", "above"), [(1.0, False), (1.004, False), (1.006, True)])
def test_above_the_roof_is_what_shows_as_more_than_100(share, above):
    assert Row("a", share=share).above_roof is above


# The text


def test_a_table_reads_well():
    table = made(
        Row("loops", 0.0312, 0.021, 7.1e6, "GFLOP/s", 7.1e-5, 100e9, "float32", 1.0, (1.0, 1.0)),
        Row("a @ b", 1.9e-6, 0.0, 95e9, "GFLOP/s", 0.95, 100e9, "float32", 16421.0, (16000, 17000)),
        Row("blocked", left_out="not written yet"),
        baseline="loops",
    )
    assert lines(table) == [
        "rung        time  spread            rate   of peak                 x baseline",
        "loops    31.2 ms   2.1 %  0.0071 GFLOP/s  0.0071 %                          1",
        "a @ b     1.9 us     0 %      95 GFLOP/s      95 %  16,400 (16,000 to 17,000)",
        "blocked  left out: not written yet",
        "",
        "100 % of peak, measured on one core of this machine: 100 GFLOP/s (float32).",
        "x baseline: times as fast as loops, and the middle four fifths of 5 rounds.",
        f"Some CPU; instruction set {board.instruction_set()}; one thread, CPU time, 5 rounds",
        "NumPy 2.5.0 with BLAS openblas 0.3, core type Haswell",
    ]
    assert repr(table) == str(table)


def test_each_roof_is_named_once():
    rows = [
        Row("a", 1.0, 0.0, 1e9, "GB/s", 0.5, 2e9, "L2"),
        Row("b", 1.0, 0.0, 1e9, "GB/s", 0.5, 2e9, "L2"),
        Row("c", 1.0, 0.0, 1e9, "GB/s", 1.0, 1e9, "memory"),
    ]
    assert "measured on one core of this machine: 2 GB/s (L2), 1 GB/s (memory)." in str(made(*rows))


def test_a_share_above_100_is_shown_and_flagged():
    text = lines(made(Row("relu", 1.0, 0.0, 13e9, "GB/s", 1.3, 10e9, "memory")))
    assert text[1].endswith("130 %!")
    assert "! above the roof: wrong count or wrong roof (relu)." in text


def test_compiling_is_told_apart():
    rows = [
        Row("jitted", 0.001, 0.0, first_call=0.8),
        Row("steady", 0.001, 0.0, first_call=0.09),
        Row("slow", 1.0, 0.0, first_call=1.5),
    ]
    assert "First call, not in the table (it compiles or loads): jitted 800 ms." in lines(
        made(*rows)
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (Row("a", 1.0, 0.0, checked=False), "Result not compared with anything: a."),
        (Row("a", 1.0, 0.0, elsewhere=1.0), "Also worked on other threads, whose time is not"),
    ],
)
def test_what_the_reader_must_know_of_a_row(row, words):
    assert words in str(made(row))
    assert words not in str(made(Row("a", left_out="not written yet", checked=False)))
    assert words not in str(made(Row("a", 1.0, 0.0, elsewhere=0.2)))


def test_a_hidden_core_and_missing_peaks_are_told():
    text = str(made(Row("a", 1.0, 0.0), hidden="SkylakeX", no_peaks="peaks are unknown: why"))
    assert "OPENBLAS_CORETYPE hides the best kernels of this machine's BLAS (SkylakeX)" in text
    assert "Peaks are unknown: why." in text


def test_long_names_and_reasons_fit():
    name = "a kernel whose author explains all that it does in its name"
    text = lines(
        made(
            Row(name, 123.0, 12.5, 1e15, "GFLOP/s", 1e4, 1e11, "float32", 1e7, (1e6, 1e8)),
            Row("b" + name, left_out="failed: " + "word " * 30),
            baseline=name,
        )
    )
    assert text[1].startswith("a kernel whose author explains ...")


def test_nothing_measured_is_a_table_too():
    assert lines(made())[0] == "rung  time  spread  rate  of peak"
    alone = lines(made(Row("a", left_out="not written yet")))
    assert alone[1] == "a     left out: not written yet"


def test_rows_are_found_by_name():
    table = made(Row("a", 1.0), Row("b", 2.0))
    assert table["b"].seconds == 2.0
    with pytest.raises(KeyError):
        table["c"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (99.96, "100"), (999.9, "1,000"), (1e-7, "0.0000001"), (0.0, "0")],
)
def test_numbers(value, text):
    assert board.number_text(value, 3) == text


# The whole


def test_a_scoreboard_of_this_machine(monkeypatch):
    monkeypatch.setattr(board, "peaks", lambda: ROOFS)
    x = ones(64, 64)

    def right(result):
        np.testing.assert_allclose(result, 64.0)

    def unwritten(a, b):
        raise NotImplementedError

    def product(name, func):
        return Rung(name, func, (x, x), check=right, flops=2 * 64**3)

    table = scoreboard(
        [
            product("a @ b", np.matmul),
            product("sum", np.add),
            product("mine", unwritten),
            Rung("relu", np.maximum, (x, 0), nbytes=2 * x.nbytes),
        ],
        baseline="a @ b",
    )
    assert [row.left_out for row in table.rows] == [
        None,
        "its result is wrong",
        "not written yet",
        None,
    ]
    product_row = table["a @ b"]
    assert product_row.rate * product_row.seconds == pytest.approx(2 * 64**3)
    assert product_row.share == pytest.approx(product_row.rate / 100e9)
    assert product_row.times == 1 and product_row.checked and not table["relu"].checked
    lines(table)


def test_peaks_are_not_measured_for_nothing(monkeypatch):
    def costly():
        raise AssertionError("two seconds for no share")

    monkeypatch.setattr(board, "peaks", costly)
    table = scoreboard([Rung("a", int), Rung("b", int, ("x",), flops=1)], rounds=1)
    assert table["b"].left_out.startswith("failed: ValueError")


def test_the_examples_run():
    assert doctest.testmod(board).failed == 0
