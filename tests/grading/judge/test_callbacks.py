"""Callables of a test run here, for any thread of the student, with the arrays they belong to."""

import sys
import threading
import time

import numpy as np
import pytest

from tito.checks.runtime import Counts
from tito.grading.judge.runtime import JudgeRuntime
from tito.grading.judge.world import InputChanged, StudentDied

STUDENT = """
import threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np
def apply(f, *args, **kwargs): return f(*args, **kwargs)
def twice(f, *args): return f(*args), f(*args)
def name(f): return f.__name__
def swallow(f):
    try: f()
    except ValueError as error: return type(error).__name__, str(error)
def pool(f, items, workers):
    with ThreadPoolExecutor(workers) as p: return list(p.map(f, items))
def chunks(f, x, n):
    out = np.zeros_like(x)
    for part, into in zip(np.array_split(x, n), np.array_split(out, n)): f(part, into)
    return out
def own(f):
    a = np.arange(6.0)
    f(a); f(a[1:4]); f(a)
    return a
def change_then(f, out):
    out[0] = 7
    f(out)
    return out[1]
def undo(f, out):
    f(out)
    out[0] = 0
def spoil_then(f, a):
    a[0] = 7
    return f(a)
def identity(f, x): return f(x) is x
def part(f, x): return np.shares_memory(f(x), x)
def square(x): return x * x
def into(x, out): out[...] = x + 1
def keep(f):
    global kept
    kept = f
def use(): return kept(1)
def total(x):
    s = 0.0
    for v in x: s += float(v)
    return s
def scale(x, out):
    for i in range(len(x)): out[i] = 2 * x[i]
    return out
def same(a, b): return a is b
def row(x): return [float(v) for v in x[1]]
def whole(x): return np.asarray(x).sum()
def write(x): x[0] = 1.0
class Pool:
    def __init__(self, f): self.f = f
    def run(self, x): return self.f(x)
"""


def test_a_callback_changes_what_the_test_sees(shared):
    seen = []
    with shared.test("apply", "name") as (apply, name):
        assert apply(seen.append, 3) is None
        assert apply(lambda *a, **k: (a, k), 1, [2], z=None) == ((1, [2]), {"z": None})
        assert apply(lambda: apply) is apply
    assert seen == [3]


def test_a_callback_keeps_its_name(shared):
    def ticking():
        """A clock."""

    with shared.test("name") as name:
        assert name(ticking) == "ticking"


def test_a_callback_may_call_student_code(shared):
    with shared.test("apply", "square", "into") as (apply, square, into):
        assert apply(lambda x: apply(lambda y: square(y) + 1, x) + 1, 3) == 11
        out = np.zeros(3)
        apply(lambda: into(np.ones(3), out))
        assert out.tolist() == [2, 2, 2]


def test_what_a_callback_raises_comes_back_as_itself(shared):
    class Boom(Exception):
        pass

    boom = Boom("mine")

    def fail():
        raise boom

    def wrong():
        raise ValueError("no", 3)

    with shared.test("apply", "swallow") as (apply, swallow):
        with pytest.raises(Boom) as caught:
            apply(fail)
        assert caught.value is boom
        assert swallow(wrong) == ("ValueError", "('no', 3)")


def test_an_argument_is_the_same_array_in_a_callback(shared):
    x = np.arange(12.0).reshape(3, 4)[:, ::2]
    got = []
    with shared.test("twice") as twice:
        twice(got.append, x)
    assert all(a is x for a in got)


def test_parts_of_an_argument_are_parts_of_it_in_a_callback(shared):
    x = np.arange(10.0)
    parts = []
    with shared.test("chunks") as chunks:
        out = chunks(lambda a, b: parts.append((a, b)), x, 3)
    assert [a.tolist() for a, _ in parts] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert all(np.shares_memory(a, x) for a, _ in parts)
    assert not np.shares_memory(parts[0][0], parts[1][0])
    bases = {id(b.base) for _, b in parts}
    assert len(bases) == 1
    assert out.tolist() == [0] * 10


def test_what_a_callback_writes_is_written_there(shared):
    def double(part, into):
        into[...] = 2 * part

    x = np.arange(10.0)
    with shared.test("chunks") as chunks:
        assert chunks(double, x, 3).tolist() == (2 * x).tolist()


def test_one_array_of_the_student_is_one_array_in_all_its_callbacks(shared):
    got = []

    def note(a):
        got.append(a)
        a += 1

    with shared.test("own") as own:
        result = own(note)
    assert got[0] is got[2]
    assert np.shares_memory(got[0], got[1])
    assert result.tolist() == [2, 4, 5, 6, 6, 7]


def test_a_callback_sees_what_was_written_to_an_output(shared):
    def check(out):
        seen.append(out.tolist())
        out[1] = 9

    seen, out = [], np.zeros(2)
    with shared.test("change_then") as change_then:
        assert change_then(check, out=out) == 9
    assert seen == [[7, 0]]
    assert out.tolist() == [7, 9]


def test_what_student_code_undoes_is_undone_here(shared):
    def fill(out):
        out[...] = 5

    out = np.zeros(1)
    with shared.test("undo") as undo:
        undo(fill, out)
    assert out.tolist() == [0]


def test_a_callback_may_change_an_array_that_student_code_may_not(shared):
    x = np.zeros(3)

    def fill(a):
        a[...] = 5

    with shared.test("apply") as apply:
        apply(fill, x)
    assert x.tolist() == [5, 5, 5]


def test_an_input_changed_before_a_callback_is_a_changed_input(shared):
    x = np.zeros(3)
    with shared.test("spoil_then") as spoil_then:
        with pytest.raises(InputChanged, match=r"changed its input a at \[0\]"):
            spoil_then(lambda a: None, x)
    assert x.tolist() == [0, 0, 0]


def test_a_callback_gives_back_the_students_own_array(shared):
    with shared.test("identity", "part") as (identity, part):
        assert identity(lambda a: a, np.arange(3.0))
        assert not identity(lambda a: a.copy(), np.arange(3.0))
        assert part(lambda a: a[::-1], np.arange(3.0))


def test_threads_are_served_at_the_same_time(shared):
    barrier = threading.Barrier(3)
    with shared.test("pool") as pool:
        got = pool(lambda i: (barrier.wait(60), i)[1], [0, 1, 2], 3)
    assert got == [0, 1, 2]


def test_callbacks_of_threads_call_student_code(shared):
    barrier = threading.Barrier(2)
    with shared.test("pool", "square") as (pool, square):

        def work(x):
            barrier.wait(60)
            y = square(x)
            barrier.wait(60)
            return y

        assert pool(work, [3, 4], 2) == [9, 16]


def test_a_callback_knows_the_thread_that_called_it(shared):
    runtime = JudgeRuntime(shared.world)
    barrier = threading.Barrier(2)

    def who(_):
        barrier.wait(60)
        return runtime.worker()

    with shared.test("pool", "apply") as (pool, apply):
        workers = pool(who, [1, 2], 2)
        assert len(set(workers)) == 2
        assert 0 not in workers
        assert apply(runtime.worker) == 0


def test_threads_of_a_test_may_call_student_code(shared):
    results = {}
    with shared.test("square", "apply") as (square, apply):

        def work(i):
            results[i] = [apply(lambda v: square(v), i + k) for k in range(5)]

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert results == {i: [(i + k) ** 2 for k in range(5)] for i in range(3)}


def test_a_callback_lives_until_its_test_ends(shared):
    with shared.test("keep", "use", "Pool") as (keep, use, Pool):
        keep(lambda x: x + 1)
        assert use() == 2
        assert Pool(lambda x: -x).run(3) == -3
    with shared.test("use") as use:
        with pytest.raises(RuntimeError, match="test cell that is over"):
            use()


def test_what_a_callback_returns_must_be_able_to_cross(shared):
    with shared.test("apply") as apply, pytest.raises(TypeError, match="object"):
        apply(lambda: object())


@pytest.mark.skipif(sys.platform != "linux", reason="the state of threads is read from /proc")
def test_a_callback_may_know_whether_the_process_wants_a_cpu(fresh):
    source = """
import threading
def rests(f): return f()
def spins(f):
    over = threading.Event()
    def spin():
        while not over.is_set(): pass
    thread = threading.Thread(target=spin)
    thread.start()
    try: return f()
    finally:
        over.set()
        thread.join()
"""
    with fresh(source) as student:
        runtime = JudgeRuntime(student.world)

        def is_soon(held_up):
            end = time.monotonic() + 60
            while runtime.is_held_up() is not held_up and time.monotonic() < end:
                time.sleep(0.01)
            return runtime.cpu_seconds() if time.monotonic() < end else None

        with student.test("spins", "rests") as (spins, rests):
            before = rests(lambda: is_soon(False))
            assert 0 < before < spins(lambda: is_soon(True))


def test_waiting_for_a_slow_callback_is_not_idleness(fresh):
    from tito.grading.limits import Limits

    with fresh("def apply(f): return f()", limits=Limits(idle=1.0)) as student:
        with student.test("apply") as apply:
            assert apply(lambda: time.sleep(2.0)) is None
    assert student.ended.lost is None


def test_threads_that_wait_for_each_other_are_ended_as_idle(fresh):
    from tito.checks import expect_returns
    from tito.checks.runtime import use
    from tito.grading.limits import Limits

    source = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def outer(): return pool.submit(inner).result()
def inner(): return pool.submit(int).result()
"""
    with fresh(source, limits=Limits(idle=1.0)) as student:
        with student.test("inner", "outer") as (inner, outer), use(JudgeRuntime(student.world)):
            assert expect_returns(inner, seconds=0.001) == 0
            with pytest.raises(StudentDied, match="did nothing for 1 s"):
                expect_returns(outer, seconds=0.001)


def test_a_callback_that_waits_for_a_call_of_its_own_does_not_count_as_work(fresh):
    """Its call waits for a worker of the pool, and all of them are in such callbacks."""
    from tito.grading.limits import Limits

    source = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def outer(f): return pool.submit(f).result()
def inner(): return pool.submit(int).result()
"""
    with fresh(source, limits=Limits(idle=1.0)) as student:
        with student.test("inner", "outer") as (inner, outer):
            with pytest.raises(StudentDied, match="did nothing for 1 s"):
                outer(lambda: inner())


def test_counted_arrays_count_exactly_here(shared):
    runtime = JudgeRuntime(shared.world)
    x = runtime.remote_array(np.arange(5.0), None)
    out = runtime.remote_array(np.zeros(5, "f4"), "out")
    m = runtime.remote_array(np.arange(6.0).reshape(2, 3), None)
    with shared.test("total", "scale", "same", "row") as (total, scale, same, row):
        assert total(x) == 10
        assert runtime.counts(x) == Counts(5, 0)
        assert scale(x, out) is out
        assert runtime.counts(x) == Counts(10, 0)
        assert runtime.counts(out) == Counts(0, 5)
        assert [float(v) for v in out] == [0, 2, 4, 6, 8]
        assert same(x, x)
        assert row(m) == [3, 4, 5]
        assert row(m.T) == [1, 4]
        assert runtime.counts(m) == Counts(5, 0)


def test_counted_arrays_refuse_copies_and_writes_to_inputs(shared):
    runtime = JudgeRuntime(shared.world)
    x = runtime.remote_array(np.arange(5.0), None)
    with shared.test("whole", "write") as (whole, write):
        with pytest.raises(TypeError, match=r"np\.asarray"):
            whole(x)
        with pytest.raises(ValueError, match="read-only"):
            write(x)
    assert runtime.counts(x) == Counts(0, 0)


def test_a_runtime_tells_what_a_result_shares_memory_with(fresh):
    source = """
import numpy as np
store = np.zeros(4)
def new(a): return a + 1
def view(a, b=None): return a[::2]
def cached(a): store[...] = a; return store
bytes_ = bytearray(80)
def window(i): return np.frombuffer(bytes_, "f8", 4, 8 * i)
"""
    with fresh(source) as student:
        runtime = JudgeRuntime(student.world)
        with student.test("new", "view", "cached", "window") as (new, view, cached, window):
            assert runtime.call(window, (0,), {}).shared == ()
            assert runtime.call(window, (5,), {}).shared == ()
            assert runtime.call(window, (2,), {}).shared == ("an earlier result",)
            x = np.arange(12.0).reshape(4, 3)[:, 1]
            assert runtime.call(new, (x,), {}).shared == ()
            assert runtime.call(new, (x,), {}).shared == ()
            assert runtime.call(view, (x,), {}).shared == ("argument a",)
            assert runtime.call(view, (), {"a": x}).shared == ("argument a",)
            assert runtime.call(cached, (x,), {}).shared == ()
            assert runtime.call(cached, (2 * x,), {}).shared == ("an earlier result",)
            runtime.forget()
            assert runtime.call(lambda a: a[1:], (x,), {}).shared == ("argument a",)


def test_the_process_dying_in_a_thread_ends_the_call(fresh):
    source = """
import os
from concurrent.futures import ThreadPoolExecutor
def pool(f):
    with ThreadPoolExecutor(2) as p: list(p.map(lambda i: (f(i), os._exit(3)), [1, 2]))
"""
    with fresh(source) as student:
        with student.test("pool") as pool, pytest.raises(StudentDied, match="exit code 3"):
            pool(lambda i: i)
        assert student.ended.status == "died"
