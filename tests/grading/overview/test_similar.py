from __future__ import annotations

import random

import numpy as np
import pytest

from tito.grading.overview import similar
from tito.grading.overview.similar import LEAST, identical, likeness, read_work, traits
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
    } | {t for t in traits(own, GIVEN) if t.startswith("cell f ")}
    assert sum(t.startswith("cell f ") for t in traits(own, GIVEN)) == 1
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
    assert all(pair.likeness >= LEAST for pair in found.pairs)


def test_pairs_that_share_next_to_nothing_are_not_shown():
    some = crowd(40)
    assert 0 < max(p.likeness for p in likeness(some, least=0).pairs) < 0.3
    assert likeness({**some, "s000": some["s000"] | {"name rare"}}, least=0.9).pairs == ()
    two = {"a": frozenset(["name x"]), "b": frozenset(["name x"]), "c": frozenset(["name y"])}
    assert likeness(two).pairs == () and likeness(two, least=0).pairs != ()


# -- the same work


def answered(code, why="because", extra=()):
    given = {"nbgrader": {"grade_id": "f", "solution": True}}
    think = {"nbgrader": {"grade_id": "why", "solution": True, "grade": True, "points": 1}}
    cells = [Cell("code", code, given), *(Cell("code", text) for text in extra)]
    return Notebook([*cells, Cell("markdown", why, think)])


HANDED_OUT = answered("def f(x):\n    raise NotImplementedError()", "*Why?*")


def works(**hand_ins):
    return {name: read_work(own, HANDED_OUT) for name, own in hand_ins.items()}


def compared(own):
    return likeness({n: w.traits for n, w in own.items()}, same=identical(own))


def test_copies_are_named_in_a_class_that_shares_all_its_names():
    """The names that all of the class use weigh nothing: only that the cells are the same does."""
    crowd = {f"s{i}": answered(f"def f(x):\n    y = x * {i}\n    return y") for i in range(9)}
    own = works(**crowd, s9=crowd["s3"])
    [group] = identical(own)
    assert (group.students, group.cells, group.texts) == (("s3", "s9"), 2, True)
    found = compared(own)
    assert [(p.first, p.second, p.likeness) for p in found.pairs] == [("s3", "s9", 1.0)]
    assert found.counts[-1] == 1 and sum(found.counts) == 45


def test_spaces_at_the_ends_of_lines_make_no_other_work():
    code = "def f(x):\n    return x"
    [group] = identical(works(a=answered(code), b=answered(code.replace("\n", "  \n") + "\n\n")))
    assert group.students == ("a", "b")


def test_the_same_code_with_other_answers_is_told_apart():
    code = "def f(x):\n    return x + x"
    own = works(
        a=answered(code), b=answered(code, "I think so"), c=answered(code), d=answered("f = abs")
    )
    groups = [(g.students, g.texts) for g in identical(own)]
    assert groups == [(("a", "c"), True), (("a", "b", "c"), False)]
    assert compared(own).pairs[0].likeness == 1.0


def test_many_copies_are_one_pair_and_one_group():
    code = "def f(x):\n    return x + x"
    own = works(**{f"s{i:02}": answered(code) for i in range(20)}, z=answered("f = abs"))
    [group] = identical(own)
    assert len(group.students) == 20
    assert [(p.first, p.second) for p in compared(own).pairs] == [("s00", "s01")]


def test_who_has_written_nothing_is_nobodys_copy():
    blank = HANDED_OUT
    one = "def f(x):\n    return x"
    assert identical(works(a=blank, b=blank, c=answered(one))) == ()
    assert compared(works(a=blank, b=blank)).pairs == ()


def test_copies_with_one_cell_changed_are_close_though_all_names_are_shared():
    crowd = {
        f"s{i}": answered(f"def f(x):\n    y = x * {i}\n    return y", f"{i}", ("y = f(1)",))
        for i in range(30)
    }
    crowd["s7"] = answered(crowd["s3"].cells[0].source, "3", ("y = f(2)",))
    found = compared(works(**crowd))
    assert {found.pairs[0].first, found.pairs[0].second} == {"s3", "s7"}
    assert any(trait.startswith("cell f ") for trait in found.pairs[0].shared)


def test_a_copy_is_close_to_1_and_a_shared_word_is_not():
    some = crowd(30)
    some["s000"] = some["s001"] = frozenset(f"name c{i}" for i in range(60))
    some["s002"] = some["s003"] = frozenset(["name x"])
    found = {(p.first, p.second): p.likeness for p in likeness(some, closest=500, least=0).pairs}
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


def test_a_shared_cell_is_shown_without_its_hash():
    cell = {"half": frozenset({"cell f 1f3a9c2e"}), "twin": frozenset({"cell f 1f3a9c2e"})}
    [pair] = likeness({**cell, "other": frozenset({"name x"})}, least=0).pairs
    assert pair.shared == ("cell f as a whole",)
