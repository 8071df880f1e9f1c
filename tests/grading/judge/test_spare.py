"""A process that starts ahead is one like others, and one that nobody takes goes with the job."""

import pytest

from tests.grading.engine.test_fork import alive, until
from tito.grading.engine.warm import WarmFailed
from tito.grading.judge.contracts import Trusted
from tito.grading.judge.spare import Spare
from tito.grading.judge.world import World
from tito.grading.stage import make_stage


@pytest.fixture
def made(engine):
    """(makes a world that is not waited for, all that were made)."""
    worlds, stages = [], []

    def make():
        stages.append(make_stage())
        worlds.append(World(engine, stages[-1], ahead=True))
        return worlds[-1]

    yield make, worlds
    for world, stage in zip(worlds, stages):
        world.close()
        stage.remove()


def test_what_was_started_is_taken_once_and_knows_what_it_may_write(made):
    make, worlds = made
    spare = Spare(make, ahead=True)
    spare.start()
    spare.start()
    assert len(worlds) == 1
    world = spare.take({"f": Trusted()})
    assert world is worlds[0] and world.layers
    assert world.run_cell("cell", "def f(x):\n    x[0] = 7\n    return x[1]").status == "ok"
    world.test_begins("test")
    assert world.call(_target(world, "f"), ([1, 2],), {})[0] == 2
    assert spare.take({}) is worlds[1]


def _target(world, name):
    from tito.grading.judge.proxy import target_of

    return target_of(world.bind([name])[name])


def test_one_that_nobody_takes_ends_with_its_world(made):
    make, worlds = made
    Spare(make, ahead=True).start()
    (world,) = worlds
    pid = world._starting.channel.pid
    assert alive(pid)
    world.close()
    assert until(lambda: not alive(pid))


def test_one_that_died_meanwhile_is_replaced(made):
    make, worlds = made
    spare = Spare(make, ahead=True)
    spare.start()
    worlds[0]._starting.channel.kill()
    world = spare.take({})
    assert world.run_cell("cell", "a = 1").status == "ok"
    assert world._starts == 2


def test_where_an_engine_waits_by_itself_or_fails_nothing_is_started_ahead(made):
    make, worlds = made
    Spare(make, ahead=False).start()
    assert worlds == []

    def fails():
        raise WarmFailed("gone")

    spare = Spare(fails, ahead=True)
    spare.start()
    with pytest.raises(WarmFailed):
        spare.take({})
