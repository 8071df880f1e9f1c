"""Which names of the module a cell binds and reads: by scope, on every Python alike."""

from __future__ import annotations

import ast

import pytest

from tito.notebook.names import at_import, bound, of_source, used


@pytest.mark.parametrize(
    ("source", "assigned", "imported"),
    [
        ("a = 1\nb, (c, *d) = 1, (2, 3)", "abcd", ""),
        ("def f(x): y = 1", "f", ""),
        ("async def f(): pass\nclass C:\n    x = 1", "fC", ""),
        ("import a.b\nimport c.d as e\nfrom f import g, h as i", "", "aegi"),
        ("from a import *", "", ""),
        ("for a in []:\n    b = 1\nelse:\n    c = 1", "abc", ""),
        ("with a as b, c as (d, e): pass", "bde", ""),
        ("try:\n    import a\nexcept E as x:\n    a = None", "", "a"),
        ("from a import b\ndef b(): pass", "b", ""),
        ("b = 1\nfrom a import b", "", "b"),
        ("a = [i for i in range(3)]\nb = {k: v for k, v in a}\nc = (j for j in a)", "abc", ""),
        ("print([y := 1 for x in [1]])", "y", ""),
        ("if (n := 3): pass\nwhile m := n: pass", "nm", ""),
        ("a: int = 1\nb: int", "a", ""),
        ("a += 1", "a", ""),
        ("a = 1\nb = 2\ndel a", "b", ""),
        ("def f():\n    global g\n    g = 1", "fg", ""),
        ("def f():\n    global g\n    return g", "f", ""),
        ("x.y = 1\nz[0] = 2", "", ""),
        ("match a:\n case [b, *c]: pass\n case {'k': d, **e}: pass\n case f: pass", "bcdef", ""),
        ("lambda a: a", "", ""),
        ("this does not parse", "", ""),
        ("x = '\0'", "", ""),
    ],
)  # fmt: skip
def test_names_that_a_cell_binds(source, assigned, imported):
    assert bound(source) == (set(assigned), set(imported))


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = b.c(d, e=f)[g]", "bdfg"),
        ("a = [i + n for i in m if i]", "nm"),
        ("a = [[x for x in y] for y in z]", "z"),
        ("def f(a, *b, c=d, **e) -> g:\n    h = a\n    return h, b, i, e, c", "dgi"),
        ("def f():\n    def g():\n        return x, y\n    x = 1\n    return g", "y"),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = z", "z"),
        ("def f():\n    global x\n    return x", "x"),
        ("def f():\n    import a\n    return a.b", ""),
        ("def f():\n    try: pass\n    except a as b: return b", "a"),
        ("class A(b, metaclass=c):\n    d = e\n    f = d\n    def g(self): return d", "bced"),
        ("class A:\n    def f(self): return __class__", ""),
        ("class A:\n    class B: pass\n    class C(B): pass\n    def f(self) -> B: pass", ""),
        ("@a\ndef f(): pass\n@b\nclass C: pass", "ab"),
        ("f = lambda a, b=c: a + d", "cd"),
        ("a: b = c", "bc"),
        ("def f(a: 'b', c: \"d | None\"): pass", "bd"),
        ("a += 1", "a"),
        ("a.b += c", "ac"),
        ("a[b] += 1", "ab"),
        ("def f():\n    a = 1\n    a += b", "b"),
        ("del a", ""),
        ("x = f'{a} {b:{c}}'", "abc"),
        ("try: pass\nexcept a as b: print_(b)", ["a", "print_"]),
        ("match a:\n    case b.c if d: e", "abde"),
    ],
)
def test_names_that_a_cell_reads(source, names):
    assert used(source) == set(names)


def test_the_text_of_strings_and_comments_is_no_name():
    assert used("x = 'a b c'  # d e f") == set()
    assert of_source("from typing import Literal\nx: Literal['a'] = 1").quoted == {}


def test_names_know_their_first_line():
    found = of_source("x = 1\ny = (\n    a\n)\ndef f(z: b):\n    return a, 'c'")
    assert (found.used, found.annotated) == ({"a": 3}, {"b": 5})


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(a=b):\n    return c", "b"),
        ("@d\ndef f(): return c", "d"),
        ("class A(b):\n    c = d\n    def f(self): return e", "bd"),
        ("f = lambda: a", ""),
        ("x = [a for b in c]", "ac"),
        ("def f(a: b): pass", ""),
    ],
)
def test_names_that_are_read_at_once(source, names):
    assert set(at_import(ast.parse(source).body[0])) == set(names)
