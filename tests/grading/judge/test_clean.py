"""Claims of several functions share a clean process only where nobody can tell the difference."""

import numpy as np
import pytest

from tito.checks.failure import CheckFailed
from tito.grading.judge import clean
from tito.grading.judge.clean import Clean
from tito.grading.judge.plan import Step
from tito.grading.judge.proxy import target_of
from tito.grading.judge.world import World
from tito.grading.limits import Limits
from tito.grading.stage import make_stage

# A process that has used much CPU time is shared no longer.
pytestmark = pytest.mark.clock

GIVEN = "import numpy as np\nseen = []"
FRUGAL = "def {}(x, out):\n    return np.multiply(x, 2, out=out)"
WASTEFUL = "def {}(x, out):\n    out[...] = x * 2\n    return out"
SIZE = 20_000


class Handed:
    """A hand-in whose cells are told, and the processes that its claims take."""

    def __init__(self, engine, limits=None, **cells):
        steps = [Step("given", "given", GIVEN, 0, in_g=True)]
        steps += [
            Step("solution", name, text.format(name), i, defines=frozenset([name]))
            for i, (name, text) in enumerate(cells.items(), 1)
        ]
        self._engine, self._open, self.limits = engine, [], limits or Limits()
        self._position = {name: i for i, name in enumerate(cells, 1)}
        self.student = self._world({})
        for step in steps:
            self.student.run_cell(step.label, step.source, defines=step.defines)
        self.started = []
        self.clean = Clean(steps, {}, self._start)

    def _world(self, contracts):
        stage = make_stage()
        world = World(self._engine, stage, self.limits, contracts)
        self._open.append((world, stage))
        return world

    def _start(self, contracts):
        self.started.append(self._world(contracts))
        return self.started[-1]

    def close(self):
        for world, stage in self._open:
            world.close()
            stage.remove()

    def claim(self, name, kind="peak_bytes"):
        """As in a test right below the function's cell."""
        self.student.test_begins(name)
        try:
            func = self.student.bind([name])[name]
            arguments = np.arange(float(SIZE)), np.zeros(SIZE)
            self.student._contracts = {name: clean.Trusted()}
            return self.clean.claim(kind, target_of(func), arguments, {}, self._position[name])
        finally:
            self.student.test_ends()


@pytest.fixture
def handed(engine):
    made = []

    def hand_in(**cells):
        made.append(Handed(engine, **cells))
        return made[-1]

    yield hand_in
    for each in made:
        each.close()


def test_functions_that_are_strangers_share_a_process(handed):
    work = handed(one=FRUGAL, two=WASTEFUL, three=FRUGAL)
    readings = [work.claim(name) for name in ("one", "two", "three", "two", "one")]
    assert [reading > 8 * SIZE for reading in readings] == [False, True, False, True, False]
    assert len(work.started) == 1


def test_functions_whose_helpers_have_one_name_do_not(handed):
    helper = "def halved(x):\n    return {}\n\n"
    use = "def {}(x, out):\n    return np.multiply(halved(x), 2, out=out)"
    work = handed(one=helper.format("x") + use, two=helper.format("x.copy()") + use)
    assert [work.claim(n) > 4 * SIZE for n in ("one", "two", "one")] == [False, True, False]
    assert len(work.started) == 2


def test_what_fails_in_a_shared_process_is_read_in_one_of_its_own(handed):
    """A claim calls a function twice, the judge once: here only the shared process minds."""
    noting = "def {}(x, out):\n    seen.append(1)\n    return np.multiply(x, 2, out=out)"
    minding = "def {}(x, out):\n    1 / (len(seen) < 2)\n    return np.multiply(x, 2, out=out)"
    work = handed(one=noting, two=minding, three=FRUGAL)
    for name in ("one", "two", "three"):
        assert work.claim(name) < 4 * SIZE
    assert len(work.started) == 2
    names = [world.bind(["one", "two", "three"]).keys() for world in work.started]
    assert names == [{"one", "two"}, {"two", "three"}], "nobody follows where one failed"


def test_what_raises_where_it_is_graded_too_is_not_read_again(handed):
    work = handed(one=FRUGAL, two="def {}(x, out):\n    raise ValueError('no')", three=FRUGAL)
    assert work.claim("one") < 4 * SIZE
    with pytest.raises(CheckFailed, match="ValueError: no"):
        work.claim("two")
    assert work.claim("three") < 4 * SIZE
    assert len(work.started) == 1


def test_nobody_shares_a_process_in_which_one_died(handed):
    work = handed(limits=Limits(call=0.5), one="def {}(x, out):\n    while True: pass", two=FRUGAL)
    with pytest.raises(CheckFailed, match="took longer than"):
        work.claim("one")
    assert work.claim("two") < 4 * SIZE
    assert len(work.started) == 2


def test_what_does_not_pass_the_gate_runs_in_no_process_at_all(handed):
    work = handed(one="import tracemalloc\n" + FRUGAL.replace(":", ":\n    tracemalloc.stop()", 1),
                  two=WASTEFUL)  # fmt: skip
    with pytest.raises(CheckFailed, match="cannot be read"):
        work.claim("one")
    assert not work.started
    assert work.claim("two") > 8 * SIZE
    assert work.started[0].bind(["one", "two"]).keys() == {"two"}


def test_a_reading_of_what_was_compiled_gets_a_process_that_compiled_nothing_else(handed):
    work = handed(one=FRUGAL, two=FRUGAL)
    work.claim("one")
    with pytest.raises(CheckFailed, match="no function that Numba compiled"):
        work.claim("two", "signatures")
    assert len(work.started) == 2
    assert work.started[0].bind(["one", "two"]).keys() == {"one"}


def _cell(label, binds="", reads="", is_own=True):
    names = [name.partition("=") for name in binds.split()]
    pairs = frozenset((name, origin) for name, _, origin in names)
    return clean._Cell(label, label, is_own, pairs, frozenset(reads.split()))


@pytest.mark.parametrize(
    ("cell", "other", "strangers"),
    [
        (("f", "np g"), ("h", "np k"), True),
        (("f", "g"), ("g", ""), False),
        (("f", ""), ("f", ""), False),
        (("f", ""), ("h", "f"), False),
        (("f np=numpy", "np"), ("h np=numpy", ""), True),
        (("f np=numpy", "np"), ("h np=math", "np"), False),
        (("f np", "np"), ("h np=numpy", "np"), False),
        (("f np=numpy np", "np"), ("h np=numpy", ""), False),
        (("f", "np"), ("h np=numpy", ""), False),
    ],
)
def test_which_cells_are_strangers(cell, other, strangers):
    assert clean._are_strangers([_cell("one", *cell)], [_cell("two", *other)]) is strangers
    given = _cell("given", "a", "b", is_own=False)
    assert clean._are_strangers([given], [_cell("two", "c", "a")]), "a given name may be read"
    assert not clean._are_strangers([given], [_cell("two", "b", "")])


def test_cells_that_should_have_run_before_are_not_run_after():
    process = clean._Process(type("World", (), {"seconds": 0.0})(), {})
    first, second, mine = _cell("1", "a"), _cell("2", "b"), _cell("3", "f")
    process._ran = [second]
    assert not process.suits([first, second, mine])
    assert process.suits([second, first, mine])
