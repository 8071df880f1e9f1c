"""The cache model against traces worked by hand and a simulator that anybody can read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.checks import cache as cache_module
from tito.checks import cache_misses, remote_array
from tito.checks.cache import misses_in_arrays, misses_in_python
from tito.checks.counting import Trace


def naive(addresses: list[int], size: int, line: int, ways: int) -> int:
    """A list for each set, oldest line first."""
    sets: list[list[int]] = [[] for _ in range(size // (line * ways))]
    misses = 0
    for address in addresses:
        number = address // line
        ours = sets[number % len(sets)]
        if number in ours:
            ours.remove(number)
        else:
            misses += 1
            if len(ours) == ways:
                ours.pop(0)
        ours.append(number)
    return misses


@pytest.mark.parametrize(
    ("lines", "ways", "sets", "misses"),
    [
        ([], 1, 1, 0),
        ([0, 0, 0], 1, 1, 1),
        ([0, 1, 0, 1], 1, 1, 4),
        ([0, 1, 0, 1], 2, 1, 2),
        ([0, 1, 0, 1], 1, 2, 2),
        ([0, 2, 0, 2], 1, 2, 4),  # both in set 0
        ([0, 1, 0, 2, 0], 2, 1, 3),  # the hit made 0 young again: 1 had to go
        ([0, 1, 0, 2, 1], 2, 1, 4),
        ([0, 1, 2, 0, 1, 2], 2, 1, 6),  # LRU on a loop one line too long
        ([2**34, 0, 2**34], 2, 1, 2),
    ],
)
def test_traces_by_hand(lines, ways, sets, misses):
    addresses = [64 * n for n in lines]
    assert cache_misses(addresses, size=64 * ways * sets, ways=ways) == misses
    assert misses_in_arrays(np.array(lines, np.int64), sets, ways) == misses


@given(
    st.lists(st.integers(0, 4000), max_size=120),
    st.sampled_from([1, 2, 3, 4, 8]),
    st.sampled_from([1, 2, 3, 7]),
    st.sampled_from([16, 48, 64]),
)
def test_all_models_agree(addresses, ways, sets, line):
    size = line * ways * sets
    want = naive(addresses, size, line, ways)
    assert cache_misses(addresses, size=size, line=line, ways=ways) == want
    lines = np.array(addresses, np.int64) // line
    assert misses_in_arrays(lines, sets, ways) == want == misses_in_python(lines, sets, ways)


def test_the_compiled_model_is_the_same(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(cache_module, "COMPILED_FROM", 1)
    rng = np.random.default_rng(3)
    addresses = rng.integers(0, 1 << 14, 20_000)
    want = naive(addresses.tolist(), 4096, 64, 4)
    assert cache_misses(addresses, size=4096, ways=4) == want


def test_without_numba_plain_python_counts(monkeypatch):
    monkeypatch.setattr(cache_module, "COMPILED_FROM", 1)
    monkeypatch.setattr(cache_module, "_compiled", lambda: None)
    assert cache_misses([0, 64, 0], size=64, ways=1) == 3


def test_an_element_that_straddles_two_lines_touches_both():
    straddling = Trace(np.array([60, 0, 64]), np.zeros(3, bool), np.array([8, 8, 8]))
    assert cache_misses(straddling, size=128, ways=2) == 2
    assert cache_misses(straddling, size=64, ways=1) == 4


def walk(n: int, m: int, padding: int, columns: bool) -> int:
    x = remote_array(np.zeros((n, m + padding), "f4")[:, :m])
    first, second = (m, n) if columns else (n, m)
    for i in range(first):
        for j in range(second):
            _ = x[j, i] if columns else x[i, j]
    return cache_misses(x, size=4096, ways=8)


def test_padding_saves_a_column_walk():
    assert walk(64, 64, 0, columns=False) == 256
    assert walk(64, 64, 0, columns=True) == 4096
    assert walk(64, 64, 16, columns=True) == 256


def test_arrays_conflict_as_they_lie_in_memory():
    a, b = remote_array(np.zeros(16), "a"), remote_array(np.zeros(16), "b")
    for i in range(16):
        _ = a[i], b[i]
    # Each has two lines. One way in two sets: line i of a and line i of b fall into one set.
    assert cache_misses(a, b, size=128, ways=1) == 32
    assert cache_misses(a, b, size=256, ways=2) == 4


@pytest.mark.parametrize(
    "wrong",
    [{"size": 100}, {"size": 0}, {"size": 64.0}, {"size": 192, "ways": 2}, {"size": 64, "line": 0}],
)
def test_a_cache_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="cache"):
        cache_misses([0], **wrong)


@pytest.mark.parametrize("wrong", [([0.5],), ([[1]],), (), ([1], [2])])
def test_what_is_no_trace(wrong):
    with pytest.raises(TypeError, match="trace"):
        cache_misses(*wrong, size=512)


def test_negative_addresses_are_refused():
    with pytest.raises(ValueError, match="negative"):
        cache_misses([0, -4], size=512)
