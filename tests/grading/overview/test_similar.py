from __future__ import annotations

import random

import numpy as np
import pytest

from tito.grading.overview import similar
from tito.grading.overview.similar import likeness, traits
from tito.notebook import Cell, Notebook


def notebook(*sources, grade_id="f"):
    solution = Cell("code", sources[0], {"nbgrader": {"grade_id": grade_id, "solution": True}})
    return Notebook([solution, *(Cell("code", text) for text in sources[1:])])


GIVEN = notebook("def f(values):\n    # total of all\n    raise NotImplementedError()")


def test_only_what_was_not_handed_out_counts():
    own = notebook(
        "def f(values):\n    # total over Kittens\n    tally = sum(values)\n    return tally",
        "tally_check = f([1])\nplot(3)",
    )
    assert traits(own, GIVEN) == {
        "name tally",
        "name sum",
        "comment over",
        "comment kittens",
        "name tally_check",
        "name plot",
        "line tally_check = f([1])",
        "line plot(3)",
    }
    assert traits(GIVEN, GIVEN) == frozenset()


@pytest.mark.parametrize(
    "source",
    ["def f(:\n  '''", "x = (", "a\n  b\n c", "\0", " = 1\n$0\\\0", "if 1:\n\tx\n        y"],
)
def test_what_does_not_parse_is_read_as_far_as_it_goes(source):
    traits(notebook(source), GIVEN)


def test_a_million_names_are_not_a_million_columns(monkeypatch):
    """Copies are found all the same: of both the same names are kept."""
    monkeypatch.setattr(similar, "MOST_TRAITS", 50)
    source = "\n".join(f"name_{i} = 1" for i in range(3000))
    first, second = (traits(notebook(s), GIVEN) for s in (source, f"other = 2\n{source}"))
    assert len(first) == len(second) == 50
    assert len(first & second) >= 49


def crowd(n, size=15, seed=3):
    draw = random.Random(seed)
    words = [f"name w{i}" for i in range(400)]
    return {f"s{i:03}": frozenset(draw.sample(words, size)) for i in range(n)}


def test_two_that_share_rare_traits_are_the_closest():
    some = crowd(40)
    odd = {f"name kitten{i}" for i in range(12)}
    some["s007"] |= odd
    some["s031"] |= odd
    found = likeness(some)
    first = found.pairs[0]
    assert (first.first, first.second) == ("s007", "s031")
    assert set(first.shared) <= odd and len(first.shared) == 8
    assert first.likeness > 2 * found.pairs[1].likeness
    assert found.compared == sum(found.counts) == 40 * 39 // 2
    assert len(found.pairs) == similar.CLOSEST


def test_a_copy_is_close_to_1_and_a_shared_word_is_not():
    some = crowd(30)
    some["s000"] = some["s001"] = frozenset(f"name c{i}" for i in range(60))
    some["s002"] = some["s003"] = frozenset(["name x"])
    found = {(p.first, p.second): p.likeness for p in likeness(some, closest=500).pairs}
    assert found["s000", "s001"] > 0.9
    assert found["s002", "s003"] < 0.25


def test_blocks_change_nothing(monkeypatch):
    some = crowd(50)
    whole = likeness(some)
    monkeypatch.setattr(similar, "_BLOCK", 7)
    parts = likeness(some)
    assert parts.counts == whole.counts
    assert [(p.first, p.second) for p in parts.pairs] == [(p.first, p.second) for p in whole.pairs]
    assert np.allclose([p.likeness for p in parts.pairs], [p.likeness for p in whole.pairs])


def test_nothing_to_compare():
    assert likeness({}).pairs == ()
    assert likeness({"a": frozenset(["name x"]), "b": frozenset()}).compared == 0
    assert likeness({"a": frozenset(["name x"]), "b": frozenset(["name y"])}).pairs == ()
