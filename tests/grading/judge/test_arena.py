"""Memory shared with a student's process: sealed, laid out, read back."""

import fcntl
import mmap
import os
import sys

import numpy as np
import pytest

from tito.checks.rig import Call, Form
from tito.grading.child.timed import Arena as TheirArena
from tito.grading.child.timed import run_by_own_clock, run_in_arena
from tito.grading.judge.arena import ALIGNMENT, SIZE, Arena, Batch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs sealed memory files")

FORM = Form(np.dtype(np.float64), (3,))


@pytest.fixture
def arena():
    made = Arena.create()
    yield made
    made.close()


@pytest.fixture
def theirs(arena):
    descriptor = os.dup(arena.descriptor)
    yield TheirArena(descriptor)
    os.close(descriptor)


def decoded(theirs, value):
    """A batch's part as the student's side sees it."""
    if hasattr(value, "node"):
        return theirs.array(*value.node[1:])
    if type(value) in (tuple, list):
        return type(value)(decoded(theirs, item) for item in value)
    if type(value) is dict:
        return {key: decoded(theirs, item) for key, item in value.items()}
    return value


@pytest.mark.parametrize("size", [0, 4096, SIZE - 1, SIZE + 1])
def test_the_other_side_can_neither_shrink_nor_grow_it(arena, size):
    with pytest.raises(OSError):
        os.ftruncate(arena.descriptor, size)


def test_nor_seal_it_further(arena):
    """A seal against writing would end the judge's own writes."""
    with pytest.raises(OSError):
        fcntl.fcntl(arena.descriptor, 1033, 8)
    arena.memory[:10] = 1


def test_where_there_is_no_memfd_there_is_no_arena(monkeypatch):
    def fails(*args):
        raise OSError

    monkeypatch.setattr(os, "memfd_create", fails)
    assert Arena.create() is None
    monkeypatch.delattr(os, "memfd_create")
    assert Arena.create() is None


def test_arrays_arrive_with_their_form_and_results_come_back(arena, theirs):
    x = np.arange(3.0)
    f = np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    calls = [Call((x + i, [f, 5]), {"k": i}) for i in range(4)]
    batch = Batch(arena.memory, calls, FORM)

    def kernel(a, pair, k):
        fortran, five = pair
        assert fortran.flags.f_contiguous and fortran.dtype == np.int32 and five == 5
        assert a.ctypes.data % 8 == 0
        return a * 10 + k

    assert run_in_arena(kernel, decoded(theirs, batch.parts)) == [None] * 4
    for i, result in enumerate(batch.results()):
        assert result.tolist() == ((x + i) * 10 + i).tolist()


def test_a_result_is_copied_out_of_reach(arena, theirs):
    batch = Batch(arena.memory, [Call((np.ones(3),), {})], FORM)
    parts = decoded(theirs, batch.parts)
    run_in_arena(lambda a: a + 1, parts)
    (result,) = batch.results()
    parts[0][2][:] = 77
    assert result.tolist() == [2, 2, 2]


def test_what_nobody_wrote_is_no_answer(arena, theirs):
    """A batch's places never hold what an earlier one left there."""
    for _ in range(2):
        batch = Batch(arena.memory, [Call((np.ones(3),), {})], FORM)
        assert not np.isclose(batch.results()[0], 2).any()
        run_in_arena(lambda a: a + 1, decoded(theirs, batch.parts))


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ([1, 2, 3], ["list", None, None]),
        (None, ["NoneType", None, None]),
        (np.ones(4), ["ndarray", "<f8", [4]]),
        (np.ones(3, np.float32), ["ndarray", "<f4", [3]]),
        (np.ones(3).view(np.matrix), ["matrix", None, None]),
        (np.array([None] * 3), ["ndarray", None, None]),
    ],
)
def test_other_results_are_told_and_not_written(arena, theirs, result, told):
    batch = Batch(arena.memory, [Call((np.ones(3),), {})], FORM)
    assert run_in_arena(lambda a: result, decoded(theirs, batch.parts)) == [told]
    assert not np.isclose(batch.results()[0], 1).any()


def test_what_is_changed_in_place_is_read_where_it_lies(arena, theirs):
    batch = Batch(arena.memory, [Call((np.ones(3), np.ones(3)), {}, writes=1)], FORM)

    def kernel(x, y):
        y += 5

    run_in_arena(kernel, decoded(theirs, batch.parts))
    assert batch.results()[0].tolist() == [6, 6, 6]


def test_arrays_begin_on_cache_lines_and_not_all_at_one_place_of_a_page(arena):
    calls = [Call((np.zeros(512),), {}) for _ in range(8)]
    batch = Batch(arena.memory, calls, FORM)
    starts = [call.args[0].ctypes.data for call in batch.inside]
    assert all(start % ALIGNMENT == 0 for start in starts)
    assert len({start % 4096 for start in starts}) == 8


def test_arrays_that_do_not_fit_are_the_authors_mistake():
    with pytest.raises(ValueError, match="take more than"):
        Batch(np.zeros(1000, np.uint8), [Call((np.zeros(200),), {})], FORM)


def test_the_other_side_maps_no_more_than_it_needs(arena, theirs):
    theirs.array(0, "<f8", [10], [8])
    assert len(theirs._memory) <= 32 << 20
    far = theirs.array(40 << 20, "<f8", [10], [8])
    far[:] = 3
    assert (arena.memory[40 << 20 :][:80].view(np.float64) == 3).all()
    assert isinstance(theirs._memory, mmap.mmap)


def test_by_its_own_clock_it_tells_seconds_and_results():
    seconds, results = run_by_own_clock(lambda x, k: x * k, [((2,), {"k": 3}), ((5,), {"k": 1})])
    assert results == [6, 5] and seconds >= 0
