"""Cells as Python."""

import sys
import time

import pytest

from tito.forbid import python_source, reading


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("x = 1", "x = 1"),
        ("x = 7 % 2", "x = 7 % 2"),
        ("s = '''\n%no magic\n'''", "s = '''\n%no magic\n'''"),
        ("x = (7\n% 2)", "x = (7\n% 2)"),
        ("%pylab inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls\n    y = 2", "if x:\n    pass\n    y = 2"),
        ("a = 1\nx = !ls", "a = 1\nx = []"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%capture\nx = 1", "\nget_ipython().begin_capture()\nx = 1"),
        (
            "%%capture --no-stderr out\n%time x = 1",
            "get_ipython().begin_capture()\nx = 1\nout = get_ipython().end_capture()",
        ),
        ("%%bash\nls", "pass"),
        ("%%timeit\nx = 1", "pass"),
        ("x?\ny = 1", "pass\ny = 1"),
        ("\n\n%prun -s cumulative x = 1", "\n\nx = 1"),
        ("é = %time 1", "é = (1)"),
        ("if x:\n    %time a = 1; b = 2", "if x:\n    a = 1; b = 2"),
        ("%time %time x = f(2)", "x = f(2)"),
        ("%time x = = 1", "pass"),
        ("n = %time f(2)  # slow", "n = (f(2))"),
        ("n = %time f('#') ;", "n = (f('#'))"),
        ("n = %time 1) + (2", "n = None"),
        ("%time n = 1  # slow\nm = %pwd", "n = 1  # slow\nm = None"),
        ("%%capture\nfrom __future__ import annotations", "\nfrom __future__ import annotations"),
        (">>> x = 1\n... y = 2", "x = 1\ny = 2"),
        ("In [1]: for i in x: y = 2", "for i in x: y = 2"),
        ("  x = 1\n  y = 2", "x = 1\ny = 2"),
        ("/f x", "f(x)"),
        # What a script has that was made of a notebook.
        ("# In[3]:\n\nget_ipython().run_cell_magic('time', '', 'x = 1\\n')", "\n\n\nx = 1"),
        ("get_ipython().run_line_magic('time', 'x = 1')\ny = 2", "x = 1\ny = 2"),
        ("get_ipython().run_line_magic('time', 'm = 1  # one'); n = 0", "pass; n = 0"),
        ("get_ipython().run_line_magic('time', '\"\"\"')", "pass"),
        ("get_ipython().run_line_magic('time', '\\ud800')", "pass"),
        ("x = 1\rget_ipython().run_line_magic('time', 'y = 1')", None),
        ("get_ipython().run_line_magic(name, 'x = 1')", None),
        ("other().run_line_magic('time', 'x = 1')", None),
        ("x = = 1 % 2\n", None),
        ("def f(:\n", None),
    ],
)
def test_a_cell_is_what_a_notebook_makes_of_it_and_lines_stay(source, python):
    assert python_source(source).rstrip("\n") == (source if python is None else python).rstrip("\n")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 7 % 2", []),
        ("%%time\n!ls -l\nfiles = !pwd", ["!ls -l", "!pwd"]),
        ("%%html\n<b>", ["%%html"]),
        ("%pylab inline\n%time x = 1\nget_ipython().magic('%who x')", ["%pylab inline", "%who x"]),
        ("x?\n%time x = = 1", ["%pinfo x", "%time x = = 1"]),
    ],
)
def test_what_does_nothing_is_told(source, told):
    assert reading(source).not_run == tuple(f"{each} was not run" for each in told)


@pytest.mark.parametrize(
    "source", ["%time n = 0\n" * 501, "x = = 1\n" + "\n" * 25_000 + "%y", "(" * 5000 + "%"]
)
def test_no_text_breaks_it_or_takes_it_long(source):
    began = time.process_time()
    assert python_source(source).strip() == source.strip()
    assert time.process_time() - began < 5


def test_one_magic_in_a_long_cell_is_understood():
    """Lines that are indented, or have a % in them, are no magics."""
    body = "def f(x):\n" + "    x = x % 7 if x != 3 else f'{x!r} 100%'\n" * 400
    assert python_source(f"%pylab inline\n{body}").strip() == f"pass\n{body}".strip()


def test_without_ipython_magics_are_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython.core.inputtransformer2", None)
    assert python_source("  %alone = 1\n!ls\ny = 2") == "  pass\npass\ny = 2"
