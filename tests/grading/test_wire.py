"""Plain values and frames: what goes in comes out, and nothing else is believed."""

import collections
import enum
import math
import struct
from fractions import Fraction

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.grading import wire

Point = collections.namedtuple("Point", "x y")


def refuse(obj, encoder):
    raise TypeError(type(obj).__name__)


def round_trip(value):
    encoder = wire.Encoder(refuse)
    packed = msgpack.packb(encoder.value(value), unicode_errors="surrogatepass")
    tree = msgpack.unpackb(packed, unicode_errors="surrogatepass")
    buffers = [np.frombuffer(b, np.uint8) for b in encoder.buffers]
    return wire.Decoder(encoder.arrays, buffers, refuse).value(tree)


def decode(tree, buffers=()):
    return wire.Decoder([], buffers, refuse).value(tree)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -1, 2**63 - 1, 2**63, -(2**63) - 1, 10**300, 1.5, -0.0, math.inf,
        "", "é\ud800", "x" * 10_000, b"", b"ab" * 5000, bytearray(b"q"), 1 + 2j, (), (1,),
        [1, [2]], {}, {1: "a", (1, 2): [3]}, set(), {1, 2}, frozenset([3]), slice(1, None, -2),
        range(3, 9, 2), Fraction(-7, 3),
        ..., int, float, ValueError, dict, np.float32, np.int8, np.dtype(">f4"),
        np.dtype([("a", "<i2"), ("b", ">f8", (2, 3))], align=True), Point(1, [2]),
    ],
)  # fmt: skip
def test_a_plain_value_comes_back_with_its_exact_type(value):
    back = round_trip(value)
    assert repr(back) == repr(value)
    assert isinstance(back, tuple) if type(value) is Point else type(back) is type(value)


@pytest.mark.parametrize(
    "scalar",
    [
        np.float32(1.1), np.float64(1.1), np.float16(2), np.int8(-3), np.uint64(2**64 - 1),
        np.bool_(True), np.complex64(1 + 2j), np.longdouble(1) / 3, np.str_("añ"), np.str_(""),
        np.bytes_(b"xy"), np.datetime64("2026-11-27"), np.timedelta64(5, "ms"),
    ],
)  # fmt: skip
def test_a_numpy_scalar_stays_one(scalar):
    back = round_trip(scalar)
    assert type(back) is type(scalar)
    assert repr(back) == repr(scalar)


def test_nan_keeps_its_sign_and_zero_its_own():
    assert math.copysign(1, round_trip(-0.0)) == -1
    assert math.isnan(round_trip(math.nan))
    assert math.isnan(next(iter(round_trip({math.nan: 1}))))


class Loud(str):
    def __eq__(self, other):
        return True

    def __len__(self):
        return 99

    __hash__ = str.__hash__


class Level(enum.IntEnum):
    LOW = 3


def test_subclasses_become_their_plain_base():
    values = [Loud("no"), Level.LOW, collections.Counter("aab"), collections.OrderedDict(a=1), True]
    back = round_trip(values)
    assert [type(v) for v in back] == [str, int, dict, dict, bool]
    assert back == ["no", 3, {"a": 2, "b": 1}, {"a": 1}, True]
    assert back[0] != "yes"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
        | st.binary(),
        lambda inner: st.lists(inner) | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner),
        max_leaves=20,
    )
)  # fmt: skip
def test_any_plain_value_comes_back(value):
    back = round_trip(value)
    assert back == value
    assert type(back) is type(value)


def test_what_is_no_plain_data_is_named():
    with pytest.raises(TypeError, match="object"):
        round_trip([object()])
    with pytest.raises(TypeError, match="Python objects"):
        round_trip(np.array([object()]))
    with pytest.raises(TypeError, match="Python objects"):
        round_trip(np.zeros(2, [("a", object)]))


def test_sizes_are_limited_before_anything_is_sent():
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="nests deeper than 50"):
        round_trip(loop)
    with pytest.raises(TypeError, match="more than 500000 parts"):
        round_trip([0] * 600_000)
    shared = [0]
    for _ in range(30):
        shared = [shared, shared]
    with pytest.raises(TypeError, match="more than 500000 parts"):
        round_trip(shared)
    with pytest.raises(TypeError, match="integer of"):
        round_trip(1 << (8 * 40_000))


def nested(levels):
    tree = 0
    for _ in range(levels):
        tree = ["l", [tree]]
    return tree


def same_hash(count):
    return [i * (2**61 - 1) for i in range(count)]


@pytest.mark.parametrize(
    "tree",
    [
        ["l"], ["l", 5], [], [5], {"a": 1}, ["nope", 1], ["d", [1], []], ["d", [["l", []]], [1]],
        ["np", "<f8", b"1234"], ["np", "|O", b"12345678"], ["np", "object", b""],
        ["np", ["rec", [["a", "|O", 0]], 8, False], b"12345678"],
        ["np", ["rec", [["a", "<f8", 4]], 8, False], b"12345678"],
        ["np", ["sub", "<f8", [0]], b""], ["np", ["sub"], b""], ["dtype", "<f8,<f8"],
        ["dtype", "datetime64"], ["type", "eval"], ["type", 5], ["nptype", "save"],
        ["nptype", "__class__"], ["int", b"x" * 40_000], ["int", 5],
        ["range", [1.5]], ["range", [0, 1, 0]], ["c", "1", "2"], ["blob", 0], ["long", -1],
        ["a", 0],
        ["a", True], ["named", "P", ["l", ["_a"]], ["l", [1]]], ["named", "P", [["l", []]], [1]],
        ["named", "P", ["class"], [1]], ["named", "P", ["a", "b"], [1]], nested(400),
        ["frac", 1, 0], ["frac", 1.5, 2], ["frac", 1], ["frac", ["blob", 0], 2],
        ["set", list(same_hash(70))], ["d", same_hash(70), [0] * 70], ["set", list(range(60_000))],
    ],
)  # fmt: skip
def test_a_tree_that_no_encoder_makes_is_refused(tree):
    with pytest.raises((*wire.BAD_DATA, TypeError)):
        decode(tree)


def test_a_type_can_only_be_one_of_a_list():
    assert decode(["type", "ValueError"]) is ValueError
    for name in ("eval", "open", "__import__", "compile"):
        with pytest.raises(KeyError):
            decode(["type", name])


@pytest.mark.parametrize("name", ["numpy ones", "math sqrt", "builtins len", "numpy.linalg norm"])
def test_library_functions_are_named(name):
    function = wire.library_function(name)
    assert wire.library_name(function) == name


@pytest.mark.parametrize("name", ["os system", "numpy __class__.x", "numpy", "subprocess run", ""])
def test_only_functions_of_known_libraries_are_found_by_name(name):
    with pytest.raises((*wire.BAD_DATA,)):
        wire.library_function(name)


class Pipe:
    """Bytes that were written, to be read again; at the end it is closed."""

    def __init__(self, data=b""):
        self.data = bytearray(data)

    def send(self, data):
        self.data += data

    def recv(self, most):
        if not self.data:
            raise EOFError
        taken = bytes(self.data[:most])
        del self.data[:most]
        return taken

    def recv_into(self, view):
        data = self.recv(min(len(view), 7))
        view[: len(data)] = data
        return len(data)

    def link(self, **options):
        return wire.Link(self.recv, self.recv_into, self.send, **options)


def test_frames_come_back_in_order_with_their_buffers():
    pipe = Pipe()
    link = pipe.link()
    link.write(["one"], buffers=[b"abc", b"", np.arange(5, dtype=np.uint8)])
    link.write(["two"])
    link.write(["three"], buffers=[b"x" * 200_000])
    first, second, third = link.read(), link.read(), link.read()
    assert [first.body, second.body, third.body] == [["one"], ["two"], ["three"]]
    assert [bytes(b) for b in first.buffers] == [b"abc", b"", bytes(range(5))]
    assert bytes(third.buffers[0]) == b"x" * 200_000


def head(*parts):
    data = msgpack.packb(list(parts))
    return struct.pack("<Q", len(data)) + data


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<Q", 2**60),
        struct.pack("<Q", wire.MOST_HEAD + 1),
        struct.pack("<Q", 4) + b"\xc1\xc1\xc1\xc1",
        struct.pack("<Q", 3) + b"abc",
        head([], [], []),
        head([], [], [], [2**43]),
        head([], [], [], [-1]),
        head([], [], [], [1.5]),
        head([], [], [], ["5"]),
        head([], [], [], [200 << 20] * 3),
        head([], [], [], [0] * 20_000),
        head("x", [], [], []),
        head({"a": 1}, [], [], []),
        struct.pack("<Q", 8) + b"\x94\xc7\x02\x05ab\x90\x90",
    ],
    ids=range(14),
)
def test_a_frame_that_lies_about_its_size_is_refused(data):
    with pytest.raises(wire.WireError):
        Pipe(data).link().read()


def test_a_session_may_receive_only_so_much():
    pipe = Pipe()
    link = pipe.link(most=1000)
    for _ in range(3):
        link.write([1], buffers=[b"x" * 400])
    link.read()
    link.read()
    with pytest.raises(wire.WireError, match="too much"):
        link.read()


def node(**changes):
    fields = {
        "number": 0, "dtype": "<f8", "shape": [2, 3], "strides": [24, 8], "writeable": True,
        "region": -1, "offset": 0, "content": -1,
    }  # fmt: skip
    return list({**fields, **changes}.values())


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [2**62], "strides": [0]},
        {"shape": [2**30, 2**30], "strides": [0, 0]},
        {"shape": [-1], "strides": [8]},
        {"shape": [1] * 40, "strides": [8] * 40},
        {"shape": [2], "strides": [8, 8]},
        {"shape": "ab"},
        {"offset": -8},
        {"offset": 1.0},
        {"offset": 2**63},
        {"strides": [10**6, 8]},
        {"strides": [-24, 8]},
        {"strides": [2**62, 8]},
        {"dtype": "|O"},
        {"dtype": ["rec", [["a", "|O", 0]], 8, False]},
    ],
)
def test_an_array_outside_its_memory_is_refused(changes):
    memory = np.zeros(48, np.uint8)
    with pytest.raises((*wire.BAD_DATA,)):
        wire.ArrayNode(node(**changes)).over(memory)


def test_an_array_lies_where_its_node_says():
    memory = np.arange(6.0).view(np.uint8)
    array = wire.ArrayNode(node(strides=[8, 16], writeable=False)).over(memory)
    assert array.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert not array.flags.writeable


def test_gaps_of_a_view_are_not_covered():
    data = np.arange(12.0).reshape(3, 4)
    view = data[:, ::2]
    lo, hi = wire.bounds(view)
    inside = wire.ArrayNode(node(shape=[3], strides=[32], offset=16))
    outside = wire.ArrayNode(node(shape=[3], strides=[32], offset=8))
    assert wire.covers([view], lo, hi - lo, inside)
    assert not wire.covers([view], lo, hi - lo, outside)


def test_gaps_do_not_travel():
    data = np.arange(1.0, 13).reshape(3, 4)
    view = data[:, ::2]
    encoder = wire.Encoder(refuse)
    (span,) = wire.spans([wire.bounds(view)])
    _, contents = wire.place_span(span, [view], 1, encoder)
    sent = np.concatenate([np.asarray(b).reshape(-1).view(np.uint8) for b in encoder.buffers])
    assert contents == [(0, -1)]
    assert set(sent.view(np.float64)) == {0.0, *view.ravel()}


def test_overlapping_stretches_are_one_span():
    found = wire.spans([(10, 20), (0, 5), (15, 30), (30, 31)])
    assert [(s.lo, s.hi, sorted(s.members)) for s in found] == [
        (0, 5, [1]),
        (10, 30, [0, 2]),
        (30, 31, [3]),
    ]
