"""Generated mutants: each change of each node, in the student's lines and nowhere else."""

from __future__ import annotations

import ast

import pytest

from tito.grading.audit.mutate import mutants
from tito.notebook import Cell

AROUND = "def f(x, n=3):\n    '''Doc with 1.'''\n    ### BEGIN SOLUTION\n{}\n    ### END SOLUTION\n"


def changes(line):
    cell = Cell("code", AROUND.format("    " + line), {"nbgrader": {"grade_id": "f"}})
    found = mutants(cell)
    assert all(m.exercise == "f" and m.line == 4 and m.was == line for m in found)
    return [m.becomes for m in found]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("return x < n", ["return (x <= n)", "return (x >= n)"]),
        ("return x == n", ["return (x != n)"]),
        ("return x is None", ["return (x is not None)"]),
        ("return x in n", ["return (x not in n)"]),
        ("return x + n", ["return (x - n)"]),
        ("return x @ n", ["return (x * n)"]),
        ("x += n", ["x -= n"]),
        ("return -x", ["return x"]),
        ("return not x", ["return x"]),
        ("return x and n", ["return (x or n)"]),
        ("x = 5", ["x = 6"]),
        ("x = 0.5", ["x = 1.5"]),
        ("x = True", ["x = False"]),
        ("return x[n]", ["return (x[n + 1])"]),
        ("return x[n, 0]", ["return (x[n + 1, 0])", "return x[n, 1]"]),
        ("return x[n:]", ["return (x[n + 1:])"]),
        ("return list(range(n))", ["return list((range(n - 1)))"]),
        ("x = 'a text'", []),
        ("raise ValueError('n is 1' + str(x + 1))", []),
        ("return f'{x} of' + 'n'", []),
    ],
)
def test_each_thing_in_turn(line, wanted):
    assert sorted(changes(line)) == sorted(wanted)


def test_only_the_students_lines_are_changed():
    source = "LIMIT = 1\n\n\n" + AROUND.format("    return x") + "\n\nother = 1 + 2\n"
    assert mutants(Cell("code", source, {"nbgrader": {"grade_id": "f"}})) == []


def test_every_mutant_is_another_program_and_differs_in_one_place():
    body = "    y = [x[i, j] * 2 - 1 for i in range(n) for j in range(1, n) if i != j or -x[0] > 0]"
    source = AROUND.format(body)
    found = mutants(Cell("code", source, {"nbgrader": {"grade_id": "f"}}))
    assert len({m.source for m in found}) == len(found) > 12
    for mutant in found:
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(source))
        before, after = source.split("\n"), mutant.source.split("\n")
        assert [a == b for a, b in zip(before, after)].count(False) == 1


def test_text_before_the_place_may_hold_any_character():
    found = changes("x = {'größe — é': 1}")
    assert found == ["x = {'größe — é': 2}"]
