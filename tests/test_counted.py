"""The counted array's face: exact counts, views, and copies that name themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tito.counted import CountedArray, LocalBackend, WholeArrayError, backend_of, counted


def matrix(**kwargs):
    return np.arange(12.0).reshape(3, 4), counted(np.arange(12.0).reshape(3, 4), **kwargs)


def reads(x):
    return backend_of(x).reads


def writes(x):
    return backend_of(x).writes


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x[1, 2],
        lambda x: x[1][2],
        lambda x: x[-1, -4],
        lambda x: x[np.int64(2), np.int8(1)],
        lambda x: x.T[2, 1],
        lambda x: x[:, 3][0],
        lambda x: x[::-1, 1:][0][0],
        lambda x: x[1:2][0, 3],
        lambda x: x[...][1, 1],
        lambda x: x[..., 2][1],
        lambda x: x.flat[7],
        lambda x: x.flat[-1],
        lambda x: x.reshape(4, 3)[3, 1],
        lambda x: x.reshape((2, -1))[1, 0],
        lambda x: x.ravel()[11],
        lambda x: x[2].ravel()[1],
        lambda x: x.transpose(1, 0)[3, 1],
        lambda x: np.transpose(x)[3, 1],
        lambda x: x[(1, 1)],
    ],
)
def test_one_read_of_the_element_numpy_reads(read):
    plain, x = matrix()
    got, want = read(x), read(plain)
    assert got == want and type(got) is type(want) is np.float64
    assert (reads(x), writes(x)) == (1, 0)


def test_views_read_nothing():
    _, x = matrix()
    views = x[1], x[:, 1], x.T, x[1:, ::2], x.flat, x.reshape(-1), x[...]
    assert [len(v) for v in views] == [4, 3, 4, 2, 12, 12, 3]
    assert x.shape == (3, 4) and x.size == 12 and x.ndim == 2 and x.nbytes == 96
    assert reads(x) == 0


def test_iteration_reads_each_element_once():
    plain, x = matrix()
    assert [[float(v) for v in row] for row in x] == plain.tolist()
    assert reads(x) == 12
    assert list(x.flat) == list(plain.flat)
    assert reads(x) == 24
    assert 5.0 in x and 99.0 not in x
    assert list(zip(x[0], x[1])) == list(zip(plain[0], plain[1]))


def test_numbers():
    x = counted(np.array([[2.5]]))
    assert (float(x), int(x), bool(x), x.item()) == (2.5, 2, True, 2.5)
    assert reads(x) == 4
    one = counted(np.array(3.0))
    assert one[()] == 3.0 and float(one) == 3.0 and one.shape == ()
    with pytest.raises(TypeError, match="unsized"):
        len(one)


ARRAYS = [
    np.arange(12.0).reshape(3, 4),
    np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    np.arange(24, dtype=np.float32).reshape(4, 6)[1:, ::2],
    np.arange(6, dtype=np.int16)[::-1],
    np.broadcast_to(np.float32(2), (2, 3)),
    np.zeros((0, 3)),
    np.ones((1, 5))[:, :1],
    np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
]


@pytest.mark.parametrize("plain", ARRAYS)
def test_the_face_looks_like_the_array(plain):
    x = counted(plain)
    for name in ("shape", "strides", "dtype", "ndim", "size", "itemsize", "nbytes"):
        assert getattr(x, name) == getattr(plain, name), name
    for flag in ("c_contiguous", "f_contiguous", "contiguous", "forc", "fnc"):
        assert getattr(x.flags, flag) == getattr(plain.flags, flag), flag
    assert x.flags["C_CONTIGUOUS"] == plain.flags["C_CONTIGUOUS"]
    assert x.T.shape == plain.T.shape and x.T.strides == plain.T.strides
    assert np.shape(x) == plain.shape and np.ndim(x) == plain.ndim and np.size(x) == plain.size
    assert [x[i] for i in np.ndindex(*x.shape)] == list(plain.flat)
    with pytest.raises(KeyError):
        x.flags["NO_SUCH"]


@pytest.mark.parametrize("plain", ARRAYS)
@pytest.mark.parametrize("make", [np.empty_like, np.zeros_like, np.ones_like])
def test_empty_like_and_kin_make_plain_arrays(plain, make):
    x = counted(plain)
    made = make(x)
    assert type(made) is np.ndarray
    assert (made.shape, made.dtype) == (plain.shape, plain.dtype)
    assert make(x, np.int32).dtype == np.int32
    assert make(x, dtype=np.int32).dtype == np.int32
    assert make(x, shape=(2, 2)).shape == (2, 2)
    assert made.flags.f_contiguous == make(plain).flags.f_contiguous
    assert make(x, order="F").flags.f_contiguous
    assert reads(x) == 0


def test_full_like():
    _, x = matrix()
    assert np.full_like(x, 7.0).tolist() == [[7.0] * 4] * 3
    assert np.full_like(x, 7.0, dtype=np.float32).dtype == np.float32
    assert np.result_type(x, np.float32) == np.float64


WHOLE = {
    "x + 1": lambda x: x + 1,
    "1 - x": lambda x: 1 - x,
    "array + x": lambda x: np.ones(4) + x,
    "scalar * x": lambda x: np.float32(2) * x,
    "-x": lambda x: -x,
    "abs": abs,
    "x > 0": lambda x: x > 0,
    "x == x": lambda x: x == x,
    "x @ x": lambda x: x @ x.T,
    "x[mask]": lambda x: x[np.ones((3, 4), bool)],
    "x[list]": lambda x: x[[0, 1]],
    "x[True]": lambda x: x[True],
    "float(x)": float,
    "bool(x)": bool,
    "sum": lambda x: x.sum(),
    "tolist": lambda x: x.tolist(),
    "copy": lambda x: x.copy(),
    "astype": lambda x: x.astype(np.float32),
    "tobytes": lambda x: x.tobytes(),
    "max": max,
    "sorted": sorted,
    "np.asarray": np.asarray,
    "np.array": np.array,
    "np.asarray(flat)": lambda x: np.asarray(x.flat),
    "np.sum": np.sum,
    "np.exp": np.exp,
    "np.maximum": lambda x: np.maximum(x, 0),
    "np.add.reduce": np.add.reduce,
    "np.copyto": lambda x: np.copyto(np.zeros((3, 4)), x),
    "np.add(out)": lambda x: np.add(x, 1, out=np.zeros((3, 4))),
    "np.ndenumerate": lambda x: list(np.ndenumerate(x)),
    "np.ascontiguousarray": np.ascontiguousarray,
    "flat slice": lambda x: x.flat[:3],
    "reshape of .T": lambda x: x.T.reshape(-1),
    "array[...] = x": lambda x: np.zeros((3, 4)).__setitem__(..., x),
}


@pytest.mark.parametrize("use", WHOLE.values(), ids=WHOLE.keys())
def test_what_would_copy_the_array_says_so_and_reads_nothing(use):
    _, x = matrix()
    with pytest.raises(TypeError, match="this copies the array; the count is about"):
        use(x)
    assert reads(x) == 0


def test_names_of_other_things_are_missing():
    _, x = matrix()
    assert not hasattr(x, "no_such_thing")
    # NumPy would read the memory that these tell it.
    assert not hasattr(x, "__array_interface__") and not hasattr(x, "__array_struct__")
    with pytest.raises(TypeError):
        memoryview(x)
    with pytest.raises(TypeError):
        hash(x)


@pytest.mark.parametrize("index", [3, -4, (0, 4), (0, -5), (0, 0, 0), 1.0, "0"])
def test_a_wrong_index(index):
    plain, x = matrix()
    with pytest.raises(IndexError):
        plain[index]
    with pytest.raises(IndexError):
        x[index]


def test_an_input_is_read_only():
    _, x = matrix()
    assert not x.flags.writeable
    for index in ((0, 0), 0, ..., slice(None)):
        with pytest.raises(ValueError, match="read-only"):
            x[index] = 1
    with pytest.raises(ValueError, match="read-only"):
        x.flat[0] = 1
    assert writes(x) == 0


@pytest.mark.parametrize(
    ("write", "count"),
    [
        (lambda x: x.__setitem__((1, 2), 9), 1),
        (lambda x: x[1].__setitem__(2, np.float32(9)), 1),
        (lambda x: x.flat.__setitem__(-1, 9), 1),
        (lambda x: x.__setitem__(1, 9), 4),
        (lambda x: x.__setitem__(1, [1, 2, 3, 4]), 4),
        (lambda x: x.__setitem__((slice(None), 0), np.arange(3)), 3),
        (lambda x: x.__setitem__(..., 0), 12),
        (lambda x: x.T.__setitem__((3, 0), 7), 1),
    ],
)
def test_writes_reach_the_array_and_are_counted(write, count):
    array = np.arange(12.0).reshape(3, 4)
    x = counted(array, writeable=True)
    plain = array.copy()
    write(plain)
    write(x)
    assert np.array_equal(array, plain)
    assert (reads(x), writes(x)) == (0, count)


def test_adding_to_an_element_reads_and_writes_it():
    array = np.zeros(3)
    x = counted(array, writeable=True)
    x[1] += 2
    assert array[1] == 2 and (reads(x), writes(x)) == (1, 1)


def test_a_row_copied_from_another_counted_array_counts_on_both_sides():
    a = counted(np.arange(6.0).reshape(2, 3))
    out = counted(np.zeros((2, 3)), writeable=True)
    out[0] = a[1]
    assert (reads(a), writes(out)) == (3, 3)
    out[1, 0] = a[0, 2]
    assert (reads(a), writes(out)) == (4, 4)


def test_a_value_is_cast_to_the_dtype():
    array = np.zeros(2, np.float32)
    x = counted(array, writeable=True)
    x[0] = 0.1
    assert array[0] == np.float32(0.1)
    with pytest.raises(ValueError):
        x[1] = [1, 2, 3]


def test_a_backend_gets_positions_in_c_order_whatever_the_layout():
    class Tape:
        def __init__(self):
            self.log = []

        def read(self, position):
            self.log.append(position)
            return np.float64(position)

        def write(self, position, value):
            self.log.append((position, value))

    tape = Tape()
    x = CountedArray(tape, np.float64, (2, 3), (8, 16), writeable=True)
    assert x.flags.f_contiguous
    assert x[1, 2] == 5.0 and x.T[2, 0] == 2.0
    x[1][0] = 4
    assert tape.log == [5, 2, (3, np.float64(4))]


def test_threads_lose_no_count():
    import threading

    x = counted(np.zeros(100))
    threads = [threading.Thread(target=lambda: [list(x) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reads(x) == 4 * 50 * 100


slices = st.slices(7)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(slices, st.slices(5)), max_size=3), st.booleans())
def test_any_chain_of_slices_is_numpys(chain, fortran):
    plain = np.arange(35.0).reshape(7, 5)
    x = counted(np.asfortranarray(plain) if fortran else plain)
    got, want = x, np.asfortranarray(plain) if fortran else plain
    for rows, columns in chain:
        got, want = got[rows, columns], want[rows, columns]
    assert got.shape == want.shape
    assert [float(v) for v in got.flat] == list(want.flat)
    assert all(g == w for n, g, w in zip(want.shape, got.strides, want.strides) if n > 1)


def test_the_backend_of_a_view_is_the_arrays():
    backend = LocalBackend(np.zeros((2, 2)))
    x = CountedArray(backend, np.float64, (2, 2))
    assert backend_of(x) is backend_of(x[0]) is backend_of(x.T) is backend


def test_a_compiled_helper_runs_as_python_on_counted_arrays():
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(row):
        found = 0.0
        for j in range(len(row)):
            found += row[j]
        return found

    @numba.njit
    def totals(x, out):
        for i in range(len(x)):
            out[i] = total(x[i])

    plain, x = matrix()
    out = counted(np.zeros(3), writeable=True)
    totals.py_func(x, out)
    assert [out[i] for i in range(3)] == plain.sum(axis=1).tolist()
    assert (reads(x), writes(out)) == (12, 3)
    assert total(plain[1]) == plain[1].sum() and len(total.signatures) == 1


def test_filling_is_writing():
    for write in (lambda a: a.fill(3), lambda a: np.copyto(a, 3), lambda a: np.copyto(a, [3, 3])):
        a = counted(np.zeros((4, 2)), writeable=True)
        write(a)
        assert backend_of(a).array.tolist() == [[3, 3]] * 4
        assert (backend_of(a).reads, backend_of(a).writes) == (0, 8)
    frozen = counted(np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        frozen.fill(1)
    for copy in (
        lambda: np.copyto(np.zeros(3), frozen),
        lambda: np.copyto(frozen, 1, where=[True]),
    ):
        with pytest.raises(WholeArrayError, match="copyto"):
            copy()
