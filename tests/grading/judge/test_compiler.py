"""What Numba says of real kernels, in few lines and without a path of the machine."""

import numpy as np
import pytest

from tito.grading.judge.compiler import brief
from tito.grading.judge.messages import tidy

numba = pytest.importorskip("numba")
FLOAT = np.float32(1.5)


def said(source, tmp_path, argument=FLOAT):
    """Numba's own words for a function f, as the judge would show them."""
    path = tmp_path / "cell_3_f_.py"
    path.write_text(source)
    names = {"np": np, "njit": numba.njit, "LOW": np.float32(0)}
    exec(compile(source, str(path), "exec"), names)
    with pytest.raises(Exception) as caught:
        numba.njit(names["f"])(argument)
    whole = f"TypingError: {caught.value}"
    text = brief(whole)
    assert tidy(whole) == text
    assert "/" not in text and "0x" not in text and "During" not in text and "^" not in text
    assert len(text.split("\n")) <= 3
    return text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("y = x + 1\n    return np.clip(x, LOW, y)", ["Numba has no clip(float32, float32, f"]),
        ("return x + no_such", ["name 'no_such' is not defined"]),
        ("y = 1\n    if x:\n        y = 'a'\n    return y", ["Cannot unify", "'y.2'"]),
        ("return x.foo", ["Unknown attribute 'foo' of type float32\n  in f: return x.foo"]),
        ("a = np.zeros(3)\n    a[x] = 1", ["setitem(", "Unsupported array index type", "a[x] ="]),
        ("return np.einsum('i,i', x, x)", ["unsupported NumPy function 'numpy.einsum'"]),
        ("class K: pass\n    return K()", ["unsupported opcode", "line 2 of its cell"]),
        ("with open('a') as h:\n        return x", ["'with (context manager)"]),
        ("return np.zeros((3, 3))[0, 0, 0]", ["Numba has no getitem(", "cannot index array"]),
    ],
)  # fmt: skip
def test_what_is_wrong_and_where_is_all_that_is_left(source, words, tmp_path):
    text = said(f"def f(x):\n    {source}\n", tmp_path)
    for part in words:
        assert part in text


def test_of_several_places_the_innermost_is_told(tmp_path):
    source = "@njit\ndef g(x):\n    return x.append(1)\n\n\ndef f(x):\n    return g(x)\n"
    assert said(source, tmp_path) == (
        "TypingError: Unknown attribute 'append' of type float32\n  in g: return x.append(1)"
    )


def test_what_stands_before_and_behind_stays(tmp_path):
    source = "def f(x):\n    return x.foo\n"
    path = tmp_path / "cell_1_f_.py"
    path.write_text(source)
    names = {}
    exec(compile(source, str(path), "exec"), names)
    with pytest.raises(Exception) as caught:
        numba.njit(names["f"])(FLOAT)
    text = brief(
        f"f cannot be read: TypingError: {caught.value}\n  try       is the decorator there?"
    )
    assert text == (
        "f cannot be read: TypingError: Unknown attribute 'foo' of type float32\n"
        "  in f: return x.foo\n  try       is the decorator there?"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ValueError: n\n\n  in cell 3 (f), line 2: raise ValueError('n')",
        'File "a.py", line 3:\nDuring: the night',
        "There are 3 candidate implementations\n  of it",
    ],
)
def test_other_messages_stay_as_they_are(text):
    assert brief(text) == text
