"""Probes: what they compute is right, whatever their time says; without Numba they say why not."""

import numpy as np
import pytest

from tito.machine import boxes, measure, probes, scoreboard
from tito.machine.rung import Rung

compiled = pytest.mark.skipif(probes.missing() is not None, reason="Numba is missing")


def ramp(*shape, extra=0):
    """Small whole numbers: every sum is exact. Rows lie `extra` numbers further apart."""
    wide = np.full((shape[0], shape[1] + extra), np.float32(1e9))
    wide[:, : shape[1]] = np.arange(shape[0] * shape[1]).reshape(shape) % 11
    return wide[:, : shape[1]]


@compiled
@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize("shape", [(5, 7), (1, 9), (9, 1), (64, 33), (1, 1), (0, 4), (4, 0)])
def test_both_walks_read_every_element_once_and_no_other(shape, extra):
    x = ramp(*shape, extra=extra)
    assert probes.walk_rows(x) == probes.walk_columns(x) == x.sum(dtype=np.float64)


@compiled
def test_every_other_row_may_be_walked_and_read_only_ones():
    x = ramp(8, 5)
    x.flags.writeable = False
    assert probes.walk_columns(x[::2]) == probes.walk_rows(x[::2]) == x[::2].sum(dtype=np.float64)


@pytest.mark.parametrize(
    "x",
    [
        ramp(4, 5).T,
        ramp(4, 6)[:, ::2],
        ramp(4, 5)[::-1],
        np.broadcast_to(ramp(1, 5), (4, 5)),
    ],
)
def test_what_is_no_row_after_row_is_refused_before_anything_is_read(x):
    with pytest.raises(ValueError, match="rows are contiguous"):
        probes.walk_rows(x)


@compiled
@pytest.mark.parametrize("step", [1, 3, 100])
def test_touch_adds_one_to_every_step_th(step):
    x = np.zeros(50, np.float32)
    probes.touch(x, step)
    assert x[::step].tolist() == [1] * len(x[::step]) and x.sum() == len(x[::step])


@compiled
@pytest.mark.parametrize("shape", [(7, 5), (16, 16), (1, 9), (33, 70), (0, 3)])
@pytest.mark.parametrize("block", [1, 4, 16, 1000])
def test_both_transposes_are_right(shape, block):
    x = ramp(*shape)
    for out in (
        probes.transpose_plain(x, np.zeros(shape[::-1], np.float32)),
        probes.transpose_tiled(x, np.zeros(shape[::-1], np.float32), block),
    ):
        assert np.array_equal(out, x.T)


@pytest.mark.parametrize(("shape", "block"), [((3, 4), 2), ((4, 3), 0)])
def test_a_transpose_that_does_not_fit_is_refused(shape, block):
    """Compiled code would write beyond the array."""
    with pytest.raises(ValueError, match="no transpose"):
        probes.transpose_tiled(ramp(3, 4), np.zeros(shape, np.float32), block)


@compiled
@pytest.mark.parametrize("order", probes.MATMUL_ORDERS)
@pytest.mark.parametrize("shape", [(5, 7, 3), (1, 1, 1), (4, 0, 4), (16, 16, 16)])
def test_every_order_of_loops_adds_the_product(order, shape):
    m, k, n = shape
    a, b, c = ramp(m, k), ramp(k, n), ramp(m, n)
    want = c + a @ b
    probes.MATMUL_ORDERS[order](a, b, c)
    assert np.array_equal(c, want)


@pytest.mark.parametrize("order", probes.MATMUL_ORDERS)
def test_a_product_that_does_not_fit_is_refused(order):
    with pytest.raises(ValueError, match="no product"):
        probes.MATMUL_ORDERS[order](ramp(2, 3), ramp(4, 2), ramp(2, 2))


@compiled
@pytest.mark.parametrize("nbytes", [128, 4096, 4100, 9 * 128])
def test_a_chase_visits_every_line_before_it_comes_back(nbytes):
    ring = probes.PointerChase(nbytes)
    seen = [ring.run(1) for _ in range(ring.nodes)]
    assert sorted(seen) == [n * probes._line() // 8 for n in range(ring.nodes)]
    assert ring.nodes == nbytes // probes._line()


@compiled
def test_a_chase_goes_on_from_where_it_was():
    one, two = probes.PointerChase(4096), probes.PointerChase(4096)
    one.run(5)
    assert one.run(7) == two.run(12)


@compiled
def test_a_hop_takes_the_time_of_one_load():
    """Not of a call, and not nothing: what the compiler left out would take no time at all."""
    assert 1e-10 < probes.pointer_chase(4096, repeats=3) < 1e-6


def test_a_chase_of_one_line_is_none():
    with pytest.raises(ValueError, match="at least two lines"):
        probes.PointerChase(probes._line())


@compiled
def test_a_rung_may_be_a_probe():
    x = ramp(16, 16)
    [found] = measure([Rung("rows", probes.walk_rows, (x,), nbytes=x.nbytes)], rounds=2)
    assert found.left_out is None


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setattr(boxes, "available", lambda: False)
    probes._compiled.cache_clear()
    yield
    probes._compiled.cache_clear()


def test_without_numba_there_is_a_sentence_and_no_time(without_numba):
    assert "pip install numba" in probes.missing()
    assert probes.pointer_chase(4096) is None
    board = scoreboard([Rung("columns", probes.walk_columns, (ramp(4, 4),))], rounds=2)
    assert "pip install numba" in board["columns"].left_out
