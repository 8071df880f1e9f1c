"""What a cell binds whatever happens."""

import pytest

from tito.forbid import replaces


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(): return f()", "f"),
        (
            "class F: pass\nimport numpy as np, os.path\nfrom math import *, pi as p",
            "",
        ),  # no Python
        ("class F: pass\nimport numpy as np, os.path\nfrom math import pi as p", "F np os p"),
        ("from math import *", ""),
        ("a = b, (c, *d) = values\ne: int = 1", "a b c d e"),
        ("f = lambda: f()", "f"),
        ("f: int", ""),
        ("f += 1\ng[0] = 1\nh.x = 1", ""),
        ("f = faster(f)", ""),
        ("def f(x=f): pass\n@g\ndef g(): pass\ndef h() -> h: pass", ""),
        ("print(f)\ndef f(): pass", ""),
        ("def f(): pass\nprint(f)\nf = faster(f)", "f"),
        ("if 1:\n    def f(): pass\nwhile 1:\n    g = 1\nfor h in x: pass\nwith x as i: pass", ""),
        ("try:\n    f = 1\nfinally:\n    pass\nx and (g := 1)\n[h := 1 for _ in x]", ""),
        ("del f\ndef f(): pass", ""),
        ("!ls\nf = 1", "f"),
        ("", ""),
    ],
)
def test_what_a_cell_binds_in_any_case(source, names):
    assert replaces(source) == set(names.split())
