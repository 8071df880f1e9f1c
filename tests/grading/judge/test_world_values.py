"""Values, arrays and their memory across the border, with an honest student."""

import collections

import numpy as np
import pytest

from tito.grading.judge.world import InputChanged, StudentExit

STUDENT = """
import collections, enum, warnings
from dataclasses import dataclass
import numpy as np

def echo(x): return x
def same(a, b): return a is b
def overlap(a, b): return np.shares_memory(a, b)
def look(a): return (a.shape, a.strides, a.flags.c_contiguous, a.flags.f_contiguous,
                     a.flags.writeable, a.flags.aligned, a.dtype.str, a.tobytes())
def spoil(a, b=None): a[...] = 0; return np.zeros(3)
def spoil_last(b, *, a): a[-1, -1] += 1
def double(x, out=None):
    if out is None: out = np.empty_like(x)
    out[...] = 2 * x
    return out
def fill(x, y): y[...] = x
def put(out, value): out[...] = value
def view(x): return x[1:]
def middle(x): return x.ravel()[1:3]
def peek(x): return np.lib.stride_tricks.as_strided(x, (2 * x.size,), (x.itemsize,)).copy()
def gap(x): return np.lib.stride_tricks.as_strided(x, (2 * x.size - 1,), (x.itemsize,))
buffer = np.zeros(4)
def cached(x):
    buffer[...] = x
    return buffer
def cached_view(x): return cached(x)[1:]
def warn(): warnings.warn("careful", RuntimeWarning); return np.log(np.array([-1.0]))
class Shape(Exception): pass
class BadShape(Shape, ValueError):
    def __init__(self, text, shape): super().__init__(text); self.shape = shape
def raise_(kind):
    if kind == "own": raise BadShape("no", (2, 3))
    if kind == "key": return {}["k"]
    if kind == "stop": raise StopIteration
    if kind == "exit": raise SystemExit(3)
    if kind == "interrupt": raise KeyboardInterrupt
    if kind == "decode": return b"\\xff".decode()
    if kind == "assert": assert False, "mine"
    if kind == "own stop": raise Done
    if kind == "own interrupt": raise Quit
class Done(StopIteration): pass
class Quit(KeyboardInterrupt): pass
Point = collections.namedtuple("Point", "x y")
class Colour(enum.Enum): RED = 1
@dataclass
class Box:
    size: int
    def grow(self, by=1): self.size += by; return self
def box(n): return Box(n)
def red(): return Colour.RED
def objects(): return [Box(1), {"f": echo}]
number, text, array, table = 42, "abc", np.arange(3.0), {"a": [1, (2,)]}
def count(n):
    for i in range(n): yield i
def state(g): return g.bit_generator.state["state"]["state"], g.random(3)
def apply(f, *args): return f(*args)
def namespaces(): return [f.__module__ for f in ()]
"""
WRITES = "y"


@pytest.mark.parametrize(
    "value",
    [
        1, True, 1.5, 2j, "x", b"y", None, ..., (1, [2.0]), {"a": 1}, {1}, range(3), slice(2),
        np.float32(1.1), np.int8(3), np.bool_(False), np.str_("u"), np.dtype("f4"), np.float64,
        int, 10**40,
    ],
)  # fmt: skip
def test_values_keep_their_kind(shared, value):
    with shared.test("echo") as echo:
        back = echo(value)
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_a_zero_dimensional_array_is_no_scalar(shared):
    with shared.test("echo") as echo:
        assert type(echo(np.array(2.5))) is np.ndarray
        assert type(echo(np.array(2.5)[()])) is np.float64


BASE = np.arange(60.0).reshape(6, 10)
LAYOUTS = {
    "C": BASE, "Fortran": np.asfortranarray(BASE), "transposed": BASE.T, "row": BASE[2],
    "column": BASE[:, 3], "stepped": BASE[::2, 1::3], "reversed": BASE[::-1, ::-1],
    "broadcast": np.broadcast_to(BASE[0], (4, 10)), "newaxis": BASE[:, None, ::2],
    "swapped bytes": BASE.astype(">f8"), "float32": BASE.astype("f4"), "0-d": np.array(7.0),
    "empty": BASE[:0], "no columns": np.zeros((3, 0)),
    "unaligned": np.frombuffer(bytes(81), "f8", 10, 1),
    "field": np.zeros(4, [("a", "i1"), ("b", "f8")])["b"],
    "record": np.ones(3, [("a", "i1"), ("b", ">f8", (2,))]), "text": np.array(["ab", "c"]),
    "dates": np.array(["2026-11-27"], "M8[D]"), "bool": BASE > 3,
    "sparse": np.ones((50, 500))[:, 7], "complex": BASE[:2] + 1j,
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_array_arrives_as_it_lies_here(shared, name):
    x = LAYOUTS[name]
    with shared.test("look", "echo") as (look, echo):
        seen = look(x)
        back = echo(x)
    flags = x.flags
    assert seen == (
        x.shape, x.strides, flags.c_contiguous, flags.f_contiguous, flags.writeable,
        flags.aligned, x.dtype.str, x.tobytes(),
    )  # fmt: skip
    assert back is x


def test_a_read_only_array_is_read_only_there(shared):
    x = np.zeros((2, 2))
    x.flags.writeable = False
    with shared.test("spoil") as spoil, pytest.raises(ValueError, match="read-only"):
        spoil(x)


def test_one_array_twice_is_one_array_there(shared):
    x = np.arange(6.0)
    with shared.test("same", "overlap") as (same, overlap):
        assert same(x, x)
        assert not same(x, x.copy())
        assert overlap(x[:4], x[2:])
        assert not overlap(x[::2], x[1::2])
        assert not overlap(x[:3], x[3:])


def test_an_output_is_written_and_comes_back_as_itself(shared):
    x = np.arange(6.0).reshape(2, 3)
    with shared.test("double", "same") as (double, same):
        out = np.zeros((2, 3))
        assert double(x, out) is out
        assert out.tolist() == (2 * x).tolist()
        backing = np.full((4, 9), 7.0)
        strided = backing[::2, 8:2:-2]
        assert double(x, out=strided) is strided
        assert strided.tolist() == (2 * x).tolist()
        assert (backing[1::2] == 7).all()
        assert (backing[:, 1::2] == 7).all()
        assert double(x, out=x) is x
        empty = np.zeros((0, 3))
        assert double(empty, empty) is empty


def test_a_parameter_listed_in_writes_is_written(shared):
    with shared.test("fill") as fill:
        y = np.zeros(3)
        fill(5.0, y)
        assert y.tolist() == [5, 5, 5]
        fill(6.0, y=y)
        assert y.tolist() == [6, 6, 6]


def test_a_changed_input_is_named_with_its_first_element(shared):
    a = np.ones((2, 4))
    with shared.test("spoil", "spoil_last", "put") as (spoil, spoil_last, put):
        with pytest.raises(InputChanged, match=r"^spoil changed its input a at \[0, 0\]: 1.0 be"):
            spoil(a)
        with pytest.raises(InputChanged, match=r"^spoil_last changed its input a at \[1, 3\]"):
            spoil_last(0, a=a[:, ::-1])
        with pytest.raises(InputChanged, match="changed its input a"):
            spoil(a=a)
        with pytest.raises(
            InputChanged, match="input a"
        ):  # out may be written, what it overlaps not
            spoil(a, b=a.copy())
        assert (a == 1).all()
        put(a[:, 0], 3)
        assert a[:, 0].tolist() == [3, 3]


def test_zeroing_an_input_wins_nothing(shared):
    a, b = np.ones((3, 3)), np.ones((3, 3))
    with shared.test("spoil") as spoil, pytest.raises(AssertionError):
        # NumPy's product is worked out after the call: both would be zero in one process.
        got = spoil(a, b)
        np.testing.assert_allclose(got, (a @ b)[0])
    assert (a == 1).all()


def test_an_output_that_overlaps_an_input_is_no_changed_input(shared):
    data = np.arange(8.0)
    x, out = data[:4], data[2:6]
    with shared.test("double") as double:
        double(x, out)
    assert data.tolist() == [0, 1, 0, 2, 4, 6, 6, 7]


def test_a_result_that_shares_memory_with_an_argument_does_so_here(shared):
    x = np.arange(12.0).reshape(3, 4)
    with shared.test("view", "middle") as (view, middle):
        for array in (x, x.T, x[:, ::2], x[::-1]):
            got = view(array)
            assert np.shares_memory(got, array)
            assert got.strides == array[1:].strides
            assert got.tolist() == array[1:].tolist()
        assert np.shares_memory(middle(x), x)
        assert not np.shares_memory(middle(x.T), x)


def test_what_lies_between_the_elements_stays_here(shared):
    secret = np.arange(100.0, 112).reshape(6, 2)
    x = secret[:, 0]
    with shared.test("peek", "gap") as (peek, gap):
        seen = peek(x[:5])
        assert not set(secret[:, 1]) & set(seen.tolist())
        result = gap(x)
    assert not np.shares_memory(result, secret)
    assert not set(secret[:, 1]) & set(result.tolist())


def test_results_that_are_one_array_there_are_so_here(shared):
    with shared.test("cached", "cached_view", "echo") as (cached, cached_view, echo):
        first, second = cached(1.0), cached(1.0)
        assert first is second
        assert np.shares_memory(cached_view(1.0), first)
        assert not np.shares_memory(echo([np.ones(2)])[0], first)


def test_an_earlier_result_never_changes(shared):
    with shared.test("cached") as cached:
        first = cached(1.0)
        second = cached(2.0)
        assert first.tolist() == [1, 1, 1, 1]
        assert second.tolist() == [2, 2, 2, 2]


def test_names_bind_values_and_proxies(shared):
    with shared.test("number", "text", "array", "table") as (number, text, array, table):
        assert (number, text, table) == (42, "abc", {"a": [1, (2,)]})
        assert array.tolist() == [0, 1, 2]
    shared.world.test_begins("absent")
    assert shared.world.bind(["nothing", "number"]) == {"number": 42}
    shared.world.test_ends()


def test_named_tuples_keep_their_names(shared):
    with shared.test("Point", "apply") as (Point, apply):
        p = apply(Point, 1, [2])
    assert p == (1, [2])
    assert (p.x, p.y, p._fields) == (1, [2], ("x", "y"))
    assert isinstance(p, tuple)


def test_exceptions_keep_their_builtin_kind_and_message(shared):
    with shared.test("raise_") as raise_:
        with pytest.raises(KeyError) as key:
            raise_("key")
        assert str(key.value) == "'k'"
        assert key.value.__notes__ == ['in cell, line 34: if kind == "key": return {}["k"]']
        with pytest.raises(UnicodeDecodeError):
            raise_("decode")
        with pytest.raises(AssertionError, match="mine"):
            raise_("assert")
        with pytest.raises(TypeError, match="argument"):
            raise_()


def test_an_own_exception_class_is_caught_by_any_of_its_bases(shared):
    with shared.test("raise_", "BadShape", "Shape") as (raise_, BadShape, Shape):
        for kind in (BadShape, Shape, ValueError):
            with pytest.raises(kind, match="no") as caught:
                raise_("own")
        assert caught.value.shape == (2, 3)
        assert type(caught.value).__name__ == "BadShape"


@pytest.mark.parametrize("kind", ["stop", "exit", "interrupt", "own stop", "own interrupt"])
def test_what_would_end_a_loop_or_the_test_is_an_ordinary_exception(shared, kind):
    with shared.test("raise_") as raise_:
        with pytest.raises(StudentExit):
            list(map(raise_, [kind]))


def test_an_own_kind_of_control_exception_is_caught_by_its_class(shared):
    with shared.test("raise_", "Done", "Quit") as (raise_, Done, Quit):
        for kind, own in (("own stop", Done), ("own interrupt", Quit)):
            with pytest.raises(own):
                list(map(raise_, [kind]))
            assert issubclass(own, StudentExit)


def test_warnings_are_issued_again_with_their_category(shared):
    with shared.test("warn") as warn:
        for _ in range(2):
            with pytest.warns(RuntimeWarning) as seen:
                warn()
            assert [str(w.message) for w in seen] == [
                "careful", "invalid value encountered in log",
            ]  # fmt: skip
        assert seen[0].filename == __file__


def test_objects_stay_behind_proxies(shared):
    with shared.test("box", "Box", "red", "objects") as (box, Box, red, objects):
        one = box(3)
        one.grow().grow(by=2)
        assert one.size == 6
        one.size = 8
        assert box(8).size == one.size == 8
        assert isinstance(one, Box)
        assert not isinstance(red(), Box)
        assert not isinstance(5, Box)
        assert red().name == "RED"
        assert red().value == 1
        listed, table = objects()
        assert listed.size == 1
        assert table["f"](listed).size == 1
        assert table["f"](listed) is listed


def test_iterators_are_asked_item_by_item(shared):
    with shared.test("count") as count:
        assert list(count(3)) == [0, 1, 2]
        assert 5 in count(10)
        assert 50 not in count(10)
        first = count(10**12)
        assert [next(first), next(first)] == [0, 1]


def test_a_generator_arrives_in_its_state(shared):
    with shared.test("state", "echo") as (state, echo):
        for make in (np.random.default_rng, lambda s: np.random.Generator(np.random.SFC64(s))):
            here, there = make(5), make(5)
            if isinstance(here.bit_generator, np.random.PCG64):
                _, drawn = state(there)
                assert drawn.tolist() == here.random(3).tolist()
                assert there.random() != here.random()  # the test's own one stands still
            else:
                assert echo(here) is not here


def test_library_functions_run_there(shared):
    with shared.test("apply") as apply:
        assert apply(np.ones, 3).tolist() == [1, 1, 1]
        assert apply(np.linalg.norm, np.array([3.0, 4.0])) == 5
        assert apply(len, [1, 2]) == 2
        assert apply(max, 1, 2) == 2


def test_the_students_own_objects_come_home(shared):
    with shared.test("apply", "echo", "box", "same") as (apply, echo, box, same):
        one = box(1)
        assert same(one, one)
        assert apply(one.grow, 4).size == 5
        assert apply(echo, one) is one
        assert apply(apply, echo, 7) == 7


def test_what_cannot_cross_is_named(shared):
    class Mine:
        pass

    with shared.test("echo") as echo:
        for value in (Mine(), [Mine()], np, np.array([Mine()])):
            with pytest.raises(TypeError, match=r"Mine|module|Python objects"):
                echo(value)
        with pytest.raises(TypeError, match="MaskedArray"):
            echo(np.ma.masked_array([1, 2]))
        assert echo(collections.OrderedDict(a=1)) == {"a": 1}


def test_calls_are_counted_and_prints_kept(shared):
    with shared.test("echo", "apply") as (echo, apply):
        echo(1)
        apply(print, "hello")
    assert shared.ended.calls == 2
    assert shared.ended.output == "hello\n"
    assert shared.ended.lost is None
