"""Messages and objects made to fool the judge: none gains anything, none harms it.

The hand-in below reaches into its own process and writes to the pipe itself. A wrong kernel must
stay wrong whatever it says: each case is a call whose honest answer would be refused by the test.
"""

import numpy as np
import pytest

from tito.grading.judge.runtime import JudgeRuntime
from tito.grading.judge.world import StudentDied

FORGER = """
import gc, os, struct, sys, threading, time
import msgpack, numpy as np

def server():
    return next(o for o in gc.get_objects() if type(o).__name__ == "Server")

def nonce():
    frame = sys._getframe()
    while "nonce" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["nonce"]

def raw(data):
    server()._link._send(data)

def send(body, arrays=(), regions=(), buffers=()):
    sizes = [len(b) for b in buffers]
    head = msgpack.packb([body, list(arrays), list(regions), sizes])
    raw(struct.pack("<Q", len(head)) + head + b"".join(buffers))

def answer(node, changed=(), number=None, warned=(), **more):
    number = nonce() if number is None else number
    send(["re", 0, number, True, node, list(changed), "", list(warned), []], **more)
    time.sleep(30)

def array(number=0, dtype="<f8", shape=(3,), strides=(8,), writeable=True, region=-9, offset=0,
          content=-1):
    return [number, dtype, list(shape), list(strides), writeable, region, offset, content]

REGION = [-9, 24, 0, []]
def answer_array(changes=None, region=REGION, buffers=(bytes(24),), **more):
    answer(["a", 0], arrays=[array(**(changes or {}))], regions=[region], buffers=buffers, **more)

def kernel(a, out=None, case=None):
    CASES[case](a, out)
    return np.zeros(3)

CASES = {}
def case(f): CASES[f.__name__] = f

@case
def sent_before(a, out):
    send(["re", 0, b"12345678", True, 1.0, [], "", [], []])
@case
def wrong_nonce(a, out): answer(1.0, number=b"x" * 8)
@case
def no_nonce(a, out): answer(1.0, number=0)
@case
def two_answers(a, out):
    n = nonce()
    for _ in range(2): send(["re", 0, n, True, 5.0, [], "", [], []])
    time.sleep(30)
@case
def another_lane(a, out): send(["re", 7, nonce(), True, 1.0, [], "", [], []]); time.sleep(30)
@case
def judge_lane(a, out): send(["re", -1, nonce(), True, 1.0, [], "", [], []]); time.sleep(30)
@case
def huge_head(a, out): raw(struct.pack("<Q", 2**60)); time.sleep(30)
@case
def large_head(a, out): raw(struct.pack("<Q", 2**33) + bytes(100)); time.sleep(30)
@case
def huge_buffer(a, out):
    head = msgpack.packb([["re", 0, nonce(), True, 1, [], "", [], []], [], [], [2**43]])
    raw(struct.pack("<Q", len(head)) + head); time.sleep(30)
@case
def garbage(a, out): raw(os.urandom(4096)); time.sleep(30)
@case
def no_list(a, out): send("re"); time.sleep(30)
@case
def no_body(a, out): send([]); time.sleep(30)
@case
def hello_again(a, out): send(["hi", ["all"]]); time.sleep(30)
@case
def unknown_kind(a, out): send(["do", 0, b"", [], "call"]); time.sleep(30)
@case
def short_answer(a, out): send(["re", 0, nonce(), True, 1]); time.sleep(30)
@case
def odd_worked(a, out): send(["re", 0, nonce(), 2, 1, [], "", [], []]); time.sleep(30)
@case
def odd_text(a, out): send(["re", 0, nonce(), True, 1, [], b"\\xff", [], []]); time.sleep(30)
@case
def odd_warning(a, out): answer(1, warned=[[1, 2]])
@case
def zero_strides(a, out): answer_array({"shape": (2**31, 2**31), "strides": (0, 0)})
@case
def outside(a, out): answer_array({"offset": 16})
@case
def behind(a, out): answer_array({"strides": (-8,)})
@case
def objects(a, out): answer_array({"dtype": "|O"})
@case
def objects_in_field(a, out): answer_array({"dtype": ["rec", [["x", "|O", 0]], 8, False]})
@case
def odd_dtype(a, out): answer_array({"dtype": "f8,(2,)O"})
@case
def pickled(a, out): answer(["pickle", b"cos\\nsystem\\n(S'true'\\ntR."])
@case
def deep(a, out):
    node = 1
    for _ in range(400): node = ["l", [node]]
    answer(node)
@case
def colliding(a, out):
    keys = [(i * (2**61 - 1)).to_bytes(10, "little") for i in range(40_000)]
    answer(["set", [["int", key] for key in keys]])
@case
def parts(a, out): answer(["l", [["l", [0] * 9000] for _ in range(90)]])
@case
def big_int(a, out): answer(["int", ["blob", 0]], buffers=[b"\\x7f" * 10**7])
@case
def region_of_judge(a, out): answer_array({"region": 9}, region=[9, 24, 0, []])
@case
def region_unknown(a, out): answer_array({"region": -8})
@case
def region_of_call(a, out): answer_array({"region": 1, "offset": 10**6})
@case
def region_size(a, out): answer_array(region=[-9, 10**9, 0, []])
@case
def array_unknown(a, out): answer_array({"number": 10**6})
@case
def array_index(a, out): answer(["a", 3])
@case
def array_of_call(a, out): answer(["a", 0], arrays=[array(number=2**61, region=0)])
@case
def write_elsewhere(a, out): answer(1, changed=[[5, 0]], buffers=[bytes(24)])
@case
def write_before(a, out): answer(1, changed=[[-1, 0]], buffers=[bytes(24)])
@case
def write_short(a, out): answer(1, changed=[[0, 0]], buffers=[bytes(8)])
@case
def write_long(a, out): answer(1, changed=[[0, 0]], buffers=[bytes(80)])
@case
def write_nothing(a, out): answer(1, changed=[[0, 7]])
@case
def handle_odd(a, out): answer(["h", "1", "o", "x"])
@case
def handle_kind(a, out): answer(["h", 1, "z", "x"])
@case
def name_unknown(a, out): answer(["n", "np"])
@case
def callback_unknown(a, out): send(["cb", 0, 12345, ["t", []], ["d", [], []]]); time.sleep(30)
@case
def callback_arguments(a, out): send(["cb", 0, 1, 5, 6]); time.sleep(30)
@case
def callback_stray(a, out):
    for i in range(1, 2000): send(["cb", i, 1, ["t", []], ["d", [], []]])
    time.sleep(30)
@case
def callback_of_a_judge_lane(a, out): send(["cb", -5, 1, ["t", []], ["d", [], []]]); time.sleep(30)
@case
def element_unknown(a, out): send(["rd", 0, 77, 0]); time.sleep(30)
@case
def element_odd(a, out): send(["rd", 0, "x", None]); time.sleep(30)
@case
def error_class(a, out):
    send(["re", 0, nonce(), False, [["x", 1, "E", []], None, "m", [], None, None], [], "", [], []])
    time.sleep(30)
@case
def error_bases(a, out):
    node = ["type", "BaseException"]
    for i in range(50): node = ["x", i, "E", [node]]
    send(["re", 0, nonce(), False, [node, None, "m", [], None, None], [], "", [], []])
    time.sleep(30)
@case
def error_short(a, out):
    send(["re", 0, nonce(), False, ["boom"], [], "", [], []]); time.sleep(30)
@case
def named_tuple(a, out): answer(["named", "T", ["__eq__", "x"], [1, 2]])
@case
def closed(a, out):
    for fd in range(50):
        try: os.close(fd)
        except OSError: pass
    time.sleep(30)
@case
def written_everywhere(a, out):
    for fd in range(50):
        try: os.write(fd, b"[]" * 50)
        except OSError: pass
    time.sleep(30)
@case
def flood(a, out):
    while True: server()._link.write(["re", 3, b"", True, 1, [], "", [], []])
"""


def cases(source):
    return [part.split("(")[0].removeprefix("def ") for part in source.split("@case\n")[1:]]


@pytest.mark.parametrize("case", cases(FORGER))
def test_a_forged_message_ends_the_process_and_nothing_else(hunted, case):
    a = np.arange(3.0)
    with hunted.test("kernel") as kernel:
        try:
            got = kernel(a, out=np.full(3, 7.0), case=case)
            kernel(a, case="nothing")
        except StudentDied:
            got = None
        except KeyError:  # it lived on: then the second call was answered honestly
            pass
        except Exception as error:
            got = error
    assert a.tolist() == [0, 1, 2]
    assert not isinstance(got, np.ndarray) or not got.any()
    if case not in HARMLESS:
        assert hunted.ended.lost is not None, got
        assert hunted.ended.lost.startswith(REASONS.get(case, "broke the protocol"))


def test_the_judge_lives_on_after_all_of_them(hunted):
    with hunted.test("kernel") as kernel, pytest.raises(KeyError):
        kernel(np.arange(3.0), case="nothing")
    assert hunted.world.notes == []


# A message that says something true in another way, or arrives too late to be believed.
HARMLESS = {"callback_unknown", "callback_stray", "element_unknown", "error_bases"}
REASONS = {"closed": "", "written_everywhere": "", "flood": "", "array_of_call": ""}


OUTSIDE = (
    FORGER
    + """
def given(): return max(server()._memory._regions)
def steal(column):
    node = array(region=given(), shape=(3,), strides=(16,), offset=8)
    answer(["a", 0], arrays=[node])
def ask(question):
    forged = server()._ask_element(question)
    return np.frombuffer(forged)[0]
def beyond(x): return ask(["rd", x._backend.number, x.size])
def before(x): return ask(["rd", x._backend.number, -1])
def cheat(x): return ask(["wr", x._backend.number, 0, bytes(8)])
def short(x): return ask(["wr", x._backend.number, 0, bytes(3)])
"""
)


def test_a_view_of_what_lies_between_sent_elements_is_refused(fresh):
    table = np.arange(100.0, 108).reshape(4, 2)
    with fresh(OUTSIDE) as student:
        with student.test("steal") as steal, pytest.raises(StudentDied, match="not sent"):
            steal(table[:, 0])


@pytest.mark.parametrize("name", ["beyond", "before", "cheat", "short"])
def test_a_forged_access_to_a_counted_array_is_refused(fresh, name):
    with fresh(OUTSIDE) as student:
        runtime = JudgeRuntime(student.world)
        x = runtime.remote_array(np.arange(1.0, 4), "out" if name == "short" else None)
        with student.test(name) as access, pytest.raises(StudentDied, match="broke the protocol"):
            access(x)
        assert [float(v) for v in x] == [1, 2, 3]


HOSTILE = """
import builtins, os, sys, time
import numpy as np

class Yes:
    def __eq__(self, other): return True
    __ne__ = lambda self, other: False
    __array_ufunc__ = None
    def __array__(self, *a, **k): return np.arange(3.0)
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = lambda self, other: True
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__
    def __abs__(self): return 0.0
    def __bool__(self): return True
    def __float__(self): return 1.0
    def __len__(self): return 3
    def __iter__(self): return iter([Yes()] * 3)
    def __getitem__(self, k): return Yes()
    def __getattr__(self, name): return Yes()
    def __enter__(self): return self
    def __exit__(self, *a): return True
    __hash__ = lambda self: 1
    shape, dtype, ndim, size = (3,), np.dtype("f8"), 1, 3
class YesArray(np.ndarray):
    def __eq__(self, other): return True
    def __array_function__(self, *a): return True
    def __array_ufunc__(self, *a, **k): return np.True_
class YesFloat(float):
    def __eq__(self, other): return True
    __ne__ = __lt__ = lambda self, other: False
    __sub__ = __rsub__ = lambda self, other: 0.0
class YesStr(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__

def yes(): return Yes()
def yes_array(): return np.zeros(3).view(YesArray)
def yes_float(): return YesFloat(7)
def yes_str(): return YesStr("no")
def address():
    class Pointer:
        __array_interface__ = {
            "version": 3, "shape": (4,), "typestr": "<f8", "data": (1 << 20, True)}
        __array_struct__ = property(lambda self: 1 / 0)
        __buffer__ = lambda self, flags: memoryview(b"12345678")
    return Pointer()
def stop(*a): raise StopIteration
def endless():
    while True: yield 50_000_000 * b"x"
def large(): return np.zeros(10**10 // 8)
def many(): return [0] * 10**6
def loud():
    import warnings
    for i in range(100_000): warnings.warn("w" * 1000)
def wide(): print("x" * 10**7)
def spin():
    while True: pass
def recurse(): return recurse()
class Sneaky(Exception):
    def __str__(self): raise KeyboardInterrupt
def sneaky(): raise Sneaky
len = lambda x: 3
np.allclose = np.array_equal = lambda *a, **k: True
builtins.all = lambda *a: True
"""


STUDENT = HOSTILE


def test_an_always_equal_object_cannot_be_compared(shared):
    with shared.test("yes") as yes:
        got, want = yes(), np.arange(3.0)
        for compare in (
            lambda: got == want, lambda: want == got, lambda: got != 3, lambda: got == [3],
            lambda: got < 3, lambda: got - want, lambda: want - got, lambda: abs(got),
            lambda: np.allclose(got, want), lambda: np.array_equal(got, want),
            lambda: np.asarray(got), lambda: np.testing.assert_allclose(got, want),
            lambda: np.subtract(want, got), lambda: {got}, lambda: hash(got), lambda: got in [want],
            lambda: got * 2, lambda: 2 * got, lambda: np.array([got]),
        ):  # fmt: skip
            try:
                answer = compare()
            except TypeError:
                continue
            except AssertionError:
                continue
            assert answer is False or np.asarray(answer).dtype.hasobject, compare


def test_membership_is_decided_here(shared):
    with shared.test("yes_str") as yes_str:
        assert yes_str() != "yes"
        assert type(yes_str()) is str


def test_a_with_block_does_not_swallow_the_tests_error(shared):
    with shared.test("yes") as yes, pytest.raises(AssertionError, match="mine"):
        with yes():
            raise AssertionError("mine")


def test_always_equal_numbers_and_arrays_become_plain(shared):
    with shared.test("yes_array", "yes_float") as (yes_array, yes_float):
        got = yes_array()
        assert type(got) is np.ndarray
        assert not np.allclose(got, np.arange(3.0))
        assert yes_float() != 3.0
        assert type(yes_float()) is float


def test_an_address_is_never_followed(shared):
    with shared.test("address") as address:
        pointer = address()
        with pytest.raises(TypeError):
            np.asarray(pointer)
        with pytest.raises(TypeError):
            memoryview(pointer)
        with pytest.raises(AttributeError):
            pointer.__array_interface__  # noqa: B018


def test_stop_iteration_does_not_end_a_tests_loop(shared):
    with shared.test("stop") as stop, pytest.raises(Exception) as caught:
        all(map(stop, [1, 2, 3]))
    assert not isinstance(caught.value, StopIteration)


def test_names_of_the_judge_are_not_shadowed(shared):
    shared.world.test_begins("names")
    assert "len" in shared.world.bind(["len"])  # only on demand
    assert len([1]) == 1
    assert not np.allclose(1, 2)
    shared.world.test_ends()


@pytest.mark.parametrize("name", ["large", "many", "recurse", "sneaky"])
def test_what_is_too_much_is_an_error_of_the_call(shared, name):
    with shared.test(name) as func, pytest.raises(Exception) as caught:
        func()
    assert not isinstance(caught.value, StudentDied)


def test_floods_of_text_are_cut(shared):
    with shared.test("loud", "wide") as (loud, wide):
        with pytest.warns(UserWarning) as seen:
            loud()
        assert len(seen) <= 20
        wide()
    assert len(shared.ended.output) < 3 << 20


def test_an_endless_iterator_is_ended(fresh, monkeypatch):
    monkeypatch.setattr("tito.grading.judge.session.MOST_BYTES", 300 << 20)
    with fresh(HOSTILE) as student:
        with student.test("endless") as endless, pytest.raises(StudentDied):
            for _ in endless():
                pass
        assert student.ended.lost == "broke the protocol (WireError too much data)"
