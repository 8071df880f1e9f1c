"""Whatever is done to a hand-in: it is read, and the tests stay the master's."""

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.judge.samples import hand_in, master
from tito.grading.judge.plan import GradedTest, make_plan
from tito.grading.judge.rebuild import rebuild
from tito.grading.judge.text import is_python, normal, same_text
from tito.notebook import Cell, Notebook

JUNK = st.text(max_size=40) | st.sampled_from(
    ["def clamp(x): return 1", "pass", "%%time\nx = 1", "assert (", "\x00", "\ud800", "(" * 300]
)
META = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
PLACE = st.integers(0, 20)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("drop"), PLACE),
        st.tuples(st.just("copy"), PLACE, PLACE),
        st.tuples(st.just("move"), PLACE, PLACE),
        st.tuples(st.just("kind"), PLACE, st.sampled_from(["code", "markdown", "raw"])),
        st.tuples(st.just("source"), PLACE, JUNK),
        st.tuples(st.just("metadata"), PLACE, META),
        st.tuples(st.just("nbgrader"), PLACE, st.text(max_size=12), META),
        st.tuples(st.just("grade_id"), PLACE, st.text(max_size=12)),
        st.tuples(st.just("insert"), PLACE, JUNK),
        st.tuples(st.just("id"), PLACE, st.text(max_size=12)),
    ),
    max_size=8,
)


def changed(changes):
    cells = copy.deepcopy(hand_in().cells)
    for what, at, *rest in changes:
        if what == "insert":
            cells.insert(at, Cell("code", rest[0]))
            continue
        if not cells:
            continue
        cell = cells[at % len(cells)]
        if what == "drop":
            cells.remove(cell)
        elif what in ("copy", "move"):
            cells.insert(rest[0], copy.deepcopy(cell))
            if what == "move":
                cells.remove(cell)
        elif what == "nbgrader":
            cell.nbgrader[rest[0]] = rest[1]
        elif what == "grade_id":
            cell.nbgrader["grade_id"] = rest[0]
        elif what == "metadata":
            cell.metadata = {"nbgrader": rest[0], "tags": rest[0]}
        else:
            setattr(cell, what, rest[0])
    return Notebook(cells)


@settings(max_examples=150, deadline=None)
@given(CHANGES)
def test_tests_points_and_order_are_always_the_masters(changes):
    nb = master()
    found = rebuild(nb, changed(changes))
    tests = [(t.id, t.source, t.points) for t in make_plan(nb, found).tests]
    assert tests == [(c.grade_id, c.source, c.points) for c in nb.cells if c.graded]
    assert all(isinstance(d, str) and d.isprintable() for d in found.deviations)


@settings(max_examples=100, deadline=None)
@given(CHANGES)
def test_no_code_of_the_hand_in_runs_here(changes):
    """What runs in the judge is the master's text, to the letter."""
    nb = master()
    plan = make_plan(nb, rebuild(nb, changed(changes)))
    ours = {c.source for c in nb.cells}
    for step in plan.steps:
        if isinstance(step, GradedTest) or step.in_g:
            assert step.source in ours


@settings(max_examples=100, deadline=None)
@given(CHANGES)
def test_no_code_of_the_hand_in_is_lost(changes):
    """Each code cell runs, or is one of the course's own, or its loss is told."""
    nb, own = master(), changed(changes)
    found = rebuild(nb, own)
    pieces = [*found.solutions.values(), *found.extras.values()]
    run = "\n".join(normal(p.source) for part in pieces for p in part)
    known = [c.source for c in [*nb.cells, *hand_in().cells]]
    for cell in own.cells:
        if cell.kind != "code" or not cell.source.strip():
            continue
        told = any(cell.label[:20] in d for d in found.deviations)
        same = any(same_text(cell.source, s) for s in known)
        assert normal(cell.source) in run or told or same


@given(JUNK)
def test_any_text_has_an_answer(source):
    assert is_python(source) in (True, False)
    assert same_text(source, source)
