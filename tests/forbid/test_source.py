"""Cells as Python."""

import sys

import pytest

from tito.forbid import python_source


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("x = 1", "x = 1"),
        ("x = 7 % 2", "x = 7 % 2"),
        ("s = '''\n%no magic\n'''", "s = '''\n%no magic\n'''"),
        ("x = (7\n% 2)", "x = (7\n% 2)"),
        ("%pylab inline\nx = 1", "get_ipython().run_line_magic('pylab', 'inline')\nx = 1"),
        ("if x:\n    !ls\n    y = 2", "if x:\n    get_ipython().system('ls')\n    y = 2"),
        ("a = 1\nx = !ls", "a = 1\nx = get_ipython().getoutput('ls')"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%capture\nx = 1", "\nget_ipython().begin_capture()\nx = 1"),
        (
            "%%capture --no-stderr out\n%time x = 1",
            "get_ipython().begin_capture()\nx = 1\nout = get_ipython().end_capture()",
        ),
        ("%%bash\nls", "get_ipython().run_cell_magic('bash', '', 'ls\\n')"),
        ("%%timeit\nx = 1", "get_ipython().run_cell_magic('timeit', '', 'x = 1\\n')"),
        ("x?\ny = 1", "get_ipython().run_line_magic('pinfo', 'x')\ny = 1"),
        ("\n\n%prun -s cumulative x = 1", "\n\nx = 1"),
        ("é = %time 1", "é = (1)"),
        ("if x:\n    %time a = 1; b = 2", "if x:\n    a = 1; b = 2"),
        ("%time %time x = f(2)", "x = f(2)"),
        ("%time x = = 1", "get_ipython().run_line_magic('time', 'x = = 1')"),
        (">>> x = 1\n... y = 2", "x = 1\ny = 2"),
        ("In [1]: for i in x: y = 2", "for i in x: y = 2"),
        ("  x = 1\n  y = 2", "x = 1\ny = 2"),
        ("/f x", "f(x)"),
        # What a script has that was made of a notebook.
        ("# In[3]:\n\nget_ipython().run_cell_magic('time', '', 'x = 1\\n')", "\n\n\nx = 1"),
        ("get_ipython().run_line_magic('time', 'x = 1')\ny = 2", "x = 1\ny = 2"),
        ("get_ipython().run_line_magic(name, 'x = 1')", None),
        ("other().run_line_magic('time', 'x = 1')", None),
        ("x = = 1 % 2\n", None),
        ("def f(:\n", None),
    ],
)
def test_a_cell_is_what_a_notebook_makes_of_it_and_lines_stay(source, python):
    assert python_source(source).rstrip("\n") == (source if python is None else python).rstrip("\n")


def test_without_ipython_magics_are_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython.core.inputtransformer2", None)
    assert python_source("  %alone = 1\n!ls\ny = 2") == "  pass\npass\ny = 2"
