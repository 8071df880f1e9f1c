"""What a test may do with a student's object, and what it may not."""

import copy
import functools
import inspect
import pickle

import numpy as np
import pytest

STUDENT = '''
import functools
import numpy as np

def kernel(a, b=2, *rest, out=None, **more):
    """Adds."""
    return a + b

@functools.wraps(kernel)
def wrapped(*args): return kernel(*args)

class Log:
    """A list of events."""
    limit = 3
    def __init__(self): self.events, self._kept = [], np.arange(3.0)
    def __enter__(self): self.events.append("in"); return self
    def __exit__(self, kind, error, trace): self.events.append(repr(error)); return True
    def __len__(self): return len(self.events)
    def __getitem__(self, k): return self.events[k]
    def __setitem__(self, k, v): self.events[k] = v
    def __delitem__(self, k): del self.events[k]
    def __iter__(self): return iter(self.events)
    def __int__(self): return 7
    def __float__(self): return 7.5
    def __index__(self): return 1
    def __str__(self): return "log"
    def __repr__(self): return "Log()"
    def __bool__(self): return False
    def __call__(self, x): return -x
    @property
    def first(self): return self.events[0]
    @classmethod
    def make(cls): return cls()
class Child(Log): pass
class Vector:
    def __init__(self, x): self.x = x
    def __add__(self, other): return Vector(self.x + other.x)
    def __matmul__(self, other): return self.x * other.x
class Odd:
    __len__ = lambda self: 3.5
    __bool__ = lambda self: 1
    __repr__ = lambda self: 5
class Bad:
    def __enter__(self): return self
    def __exit__(self, *a): raise KeyError("mine")
'''


@pytest.fixture
def log(shared):
    with shared.test("Log") as Log:
        yield Log()


def test_a_function_tells_its_facts(shared):
    with shared.test("kernel", "wrapped") as (kernel, wrapped):
        assert (kernel.__name__, kernel.__doc__, kernel.__module__) == (
            "kernel", "Adds.", "__main__",
        )  # fmt: skip
        assert str(inspect.signature(kernel)) == "(a, b=2, *rest, out=None, **more)"
        assert wrapped.__wrapped__(1) == 3
        assert callable(kernel)
        assert kernel
        assert {kernel: 1}[kernel] == 1
        assert kernel != wrapped
        assert functools.partial(kernel, 1)(b=4) == 5
        assert list(map(kernel, [1, 2])) == [3, 4]


def test_attributes_items_and_length(shared, log):
    log.events = ["a", "b"]
    assert log.events == ["a", "b"]
    assert log.first == "a"
    assert log.limit == 3
    log[0] = "c"
    del log[1]
    assert (len(log), log[0], list(log), "c" in log) == (1, "c", ["c"], True)
    del log.events
    assert not hasattr(log, "events")
    assert not hasattr(log, "nothing")
    with pytest.raises(AttributeError, match="nothing"):
        log.nothing  # noqa: B018
    assert "first" in dir(log)
    assert log._kept.tolist() == [0, 1, 2]


def test_conversions(shared, log):
    assert (int(log), float(log), str(log), repr(log), bool(log)) == (7, 7.5, "log", "Log()", True)
    assert [5, 6][log] == 6
    assert f"{log}" == "log"


def test_conversions_that_lie_about_their_type_are_errors(shared):
    with shared.test("Odd") as Odd:
        for convert in (len, bool, str):
            with pytest.raises(TypeError):
                convert(Odd())


def test_classes_and_kinship(shared, log):
    with shared.test("Log", "Child", "Vector") as (Log, Child, Vector):
        assert isinstance(log, Log)
        assert isinstance(Child(), Log)
        assert not isinstance(log, Child)
        assert not isinstance(Vector(1), Log)
        assert not isinstance([], Log)
        assert issubclass(Child, Log)
        assert not issubclass(Vector, Log)
        assert isinstance(Log.make(), Log)
        assert (Log.__name__, Log.limit) == ("Log", 3)
        with pytest.raises(TypeError):
            type("Mine", (Log,), {})


def test_a_with_block_enters_and_leaves_there(log):
    with log as entered:
        assert entered is log
    assert list(log) == ["in", "None"]


def test_a_with_block_that_fails_tells_only_that_it_failed(log):
    with pytest.raises(ZeroDivisionError), log:
        1 / 0  # noqa: B018
    assert list(log) == ["in", "RuntimeError('the block failed')"]


def test_the_tests_error_goes_on_whatever_the_exit_raises(shared):
    with shared.test("Bad") as Bad:
        with pytest.raises(AssertionError, match="ours"), Bad():
            raise AssertionError("ours")
        with pytest.raises(KeyError, match="mine"), Bad():
            pass


def test_two_of_the_students_objects_can_be_computed_with(shared):
    with shared.test("Vector") as Vector:
        assert (Vector(2) + Vector(3)).x == 5
        assert Vector(2) @ Vector(3) == 6


@pytest.mark.parametrize(
    "use",
    [
        lambda v: v + 1, lambda v: 1 + v, lambda v: v == 1, lambda v: v != 1, lambda v: v < 1,
        lambda v: v @ np.ones(2), lambda v: np.ones(2) @ v, lambda v: np.ones(2) + v,
        lambda v: np.asarray(v), lambda v: np.sum(v), lambda v: hash(v), lambda v: {v}, abs,
        lambda v: -v, lambda v: v**2, lambda v: v % 2, copy.copy, copy.deepcopy, pickle.dumps,
        lambda v: v == np.ones(2), memoryview, bytes, lambda v: round(v), lambda v: 1 in v,
    ],
)  # fmt: skip
def test_data_is_never_compared_or_computed_through_an_object(shared, use):
    with shared.test("Vector") as Vector, pytest.raises(TypeError):
        use(Vector(1))


@pytest.mark.parametrize(
    "name", ["__array_interface__", "__array_struct__", "__buffer__", "__code__", "__globals__"]
)
def test_protocols_are_never_asked_of_the_student(shared, name):
    with shared.test("kernel", "Vector") as (kernel, Vector):
        for thing in (kernel, Vector, Vector(1)):
            with pytest.raises(AttributeError):
                getattr(thing, name)
            with pytest.raises(AttributeError):
                setattr(thing, name, 5)


def test_objects_are_let_go_when_the_test_drops_them(shared):
    with shared.test("Log") as Log:
        for _ in range(50):
            Log()
        handles = shared.world._session.dropped_handles
        Log()
        assert len(handles) <= 51
        assert len(shared.world._session.dropped_handles) <= 2
