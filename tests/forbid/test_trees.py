"""The walk that remembers the parts of each node meets all that `ast.walk` does, but leaves."""

import ast
from pathlib import Path

import pytest

from tito.forbid import trees

SOURCES = sorted(Path(trees.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("source", SOURCES, ids=lambda file: file.stem)
def test_nothing_but_leaves_is_left_out(source, again):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    wanted = [node for node in ast.walk(tree) if not isinstance(node, trees.LEAVES)]
    if again:
        list(trees.walk(tree))
    assert list(trees.walk(tree)) == wanted


def test_leaves_hold_nothing_that_could_be_a_route():
    for leaf in (ast.Load(), ast.Constant("np.dot"), ast.MatMult(), ast.USub(), ast.In(), ast.Or()):
        assert isinstance(leaf, trees.LEAVES)
        assert not list(ast.iter_child_nodes(leaf))
    kept = "a @ b, -a, a in b, a or b, x.dot, f'{a}', lambda v: v, [v for v in a]"
    kinds = {type(node).__name__ for node in trees.walk(ast.parse(kept))}
    assert kinds >= {"BinOp", "UnaryOp", "Compare", "BoolOp", "Attribute", "Name", "Lambda",
                     "JoinedStr", "ListComp", "comprehension", "arguments"}  # fmt: skip
