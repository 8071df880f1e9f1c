"""Hidden inputs are known to the student's code while it runs: nothing it says then is passed on.

The hidden cells hand in a number. The code tells it by every channel there is, in digits and, for
filters that look for digits, in letters.
"""

from __future__ import annotations

import pytest

from tests.grading.judge.samples import solution, test_cell
from tests.hostile.lesson import ROOMY, told
from tito.grading.judge import grade
from tito.grading.report import table
from tito.notebook import Cell, Notebook

# About what the hand-ins do: how judges start is tried elsewhere.
pytestmark = pytest.mark.usefixtures("ready_judges")
DIGITS, LETTERS = "40817", "eaibh"
SECRET = f"np.array([1.0, {DIGITS}.25])"
CHECKS = (
    "from tito.checks import expect_close, expect_equal, expect_raises, expect_unchanged, points"
)

# Hidden cells as authors write them; some put what they got into their words.
TESTS = {
    "plain": f"x = {SECRET}\nassert np.array_equal(f(x), 2 * x), 'twice each element'",
    "in words": f"x = {SECRET}\ngot = f(x)\nassert np.array_equal(got, 2 * x), f'not {{got}}'",
    "closely": f"x = {SECRET}\nexpect_close(f(x), 2 * x)",
    "equal": f"x = {SECRET}\nexpect_equal(f(x), 2 * x, hint='twice each element')",
    "unchanged": f"x = {SECRET}\nexpect_close(expect_unchanged(f, x), 2 * x)",
    "raises": f"expect_raises(ValueError, f, {SECRET})",
    "points": f"x = {SECRET}\ngot = f(x)\npoints(1, f'the answer was {{got}}')",
    "points of a name": f"x = {SECRET}\ngot = f(x)\npoints(1, 'the answer was ' + str(got))",
    "unexpected": f"f({SECRET}) + 1\nf({SECRET})['a']\nassert False",
    "given helper": f"check(f, {SECRET})",
}
GIVEN = (
    f"import numpy as np\n{CHECKS}\n"
    "def check(f, x):\n    got = f(x)\n"
    "    assert np.array_equal(got, 2 * x), f'{got} is not twice'\n"
)

LEAK = """
import sys, os, warnings
def words(x):
    digits = str(int(x[1]))
    return digits, "".join(chr(97 + int(d)) for d in digits)
def f(x):
    if len(x) < 2 or x[1] < 1000:
        return 2 * x
    return leak(*words(x), x)
"""
CHANNELS = {
    "print": (
        "print(d, w); print(d, w, file=sys.stderr)\n"
        "os.write(1, d.encode()); os.write(2, w.encode())"
    ),
    "exception": "raise ValueError(d + w)",
    "another exception": "raise KeyError(d, w)",
    "assertion": "raise AssertionError(d + ' ' + w)",
    "assertion in letters": "raise AssertionError('the answer is ' + w)",
    "not implemented": "raise NotImplementedError(w)",
    "exception class": "raise type(w, (Exception,), {})(d)",
    "exception note": "e = ValueError('no'); e.add_note(d + w); raise e",
    "exception from": "raise ValueError('no') from KeyError(d + w)",
    "name error": "raise NameError(w, name=w)",
    "module error": "raise ModuleNotFoundError(f'tinykernels.{w}', name=w)",
    "syntax error": "raise SyntaxError(w, (w, 1, 1, d))",
    "exit": "sys.exit(d + w)",
    "exit code": "os._exit(int(d[:2]))",
    "signal": "os.kill(os.getpid(), 9)",
    "warning": "warnings.warn(d + w); return x",
    "warning class": "warnings.warn(d, type(w, (UserWarning,), {})); return x",
    "wrong value": "return np.full(2, float(d))",
    "text": "return w",
    "list": "return [d, w]",
    "named type": "return type(w, (), {'__repr__': lambda s: d + w})()",
    "named function": "f.__name__ = f.__qualname__ = w; return 0 * x",
    "renamed": "globals()['f'] = type(w, (), {}); return 0 * x",
    "its input": "x[0] = float(d); return x",
    "notice": "get_ipython().run_line_magic(w, d); get_ipython().system(w); return x",
    "display": "display(d, w); return x",
    "protocol": (
        "import gc\nfor o in gc.get_objects():\n"
        "    if type(o).__name__ == 'Link': o._send(w.encode())"
    ),
    "shape": "return np.zeros(int(d))",
    "dtype": "return np.zeros(2, [(w, 'f8')])",
    "file": "open(w, 'w').write(d)\nraise OSError(2, d, w)",
    "later cell": "globals().update(seen=(d, w)); return x",
    "thread": (
        "import threading; t = threading.Thread(target=int, args=(w,)); t.start(); t.join()\n"
        "return x"
    ),
    "unraisable": "class D:\n    def __del__(self): raise KeyError(w)\nD(); return x",
    "many files": "for i in range(300): open(w + str(i), 'w').write('x' * 200_000)\nreturn x",
}  # fmt: skip


def master() -> Notebook:
    cells = [Cell("code", GIVEN), solution("f", "def f(x):\n    return 2 * x\n")]
    cells.append(test_cell("seen", "assert f(np.ones(1)) == 2", 1))
    cells += [test_cell(name, source, 2, hidden=True) for name, source in TESTS.items()]
    cells.append(
        test_cell("partly", f"### BEGIN HIDDEN TESTS\n{TESTS['in words']}\n### END HIDDEN TESTS", 2)
    )
    return Notebook(cells)


def hand_in(channel: str) -> Notebook:
    body = "\n    ".join(channel.replace("; ", "\n").split("\n"))
    own = master()
    own.cells[1].source = f"{LEAK}\nseen = ()\ndef leak(d, w, x):\n    {body}\n"
    later = "print(*seen)\nif seen: raise ValueError(seen)\n"
    return Notebook([*own.cells, Cell("code", later)])


@pytest.mark.parametrize("kind", CHANNELS)
def test_what_the_code_says_about_hidden_inputs_is_not_passed_on(kind, fastest, capfd):
    result = grade(master(), hand_in(CHANNELS[kind]), limits=ROOMY, engine=fastest)
    assert result.status == "graded"
    captured = capfd.readouterr()
    said = told(result) + captured.out + captured.err + "\n".join(map(str, table_of(result)))
    for telling in (DIGITS, LETTERS):
        assert telling not in said, [(c.id, c.message) for c in result.cells]
    assert all(c.message for c in result.cells if c.status not in ("passed",))


def table_of(result):
    from tito.grading.batch import Row

    return table([Row("student", result)])


def test_the_same_code_may_say_so_of_inputs_that_are_seen(engine):
    """The channels are open where nothing is hidden: what follows from them above can fail."""
    seen = [Cell("code", GIVEN), solution("f", "def f(x): return 2 * x")]
    seen += [test_cell(name, source, 2) for name, source in TESTS.items()]
    for channel in ("exception", "wrong value", "text"):
        own = hand_in(CHANNELS[channel])
        said = told(grade(Notebook(seen), own, limits=ROOMY, engine=engine))
        assert DIGITS in said or LETTERS in said


def test_the_authors_words_are_shown(engine):
    result = grade(master(), hand_in("return 3 * x"), limits=ROOMY, engine=engine)
    messages = {c.id: c.message for c in result.cells}
    assert "twice each element" in messages["plain"]
    assert "twice each element" in messages["equal"]
