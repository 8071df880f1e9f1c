"""A student's process to talk to: one for a test file, or a fresh one for what ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from tito.grading.engine.base import Engine
from tito.grading.judge.world import World, contracts_of
from tito.grading.limits import Limits
from tito.grading.stage import make_stage


class Student:
    """A world whose notebook is one cell, and the names of a test cell in it."""

    def __init__(self, world: World) -> None:
        self.world = world

    @contextmanager
    def test(self, *names: str) -> Iterator[Any]:
        """A test cell: yields what it finds under the names."""
        self.world.test_begins("test")
        found = self.world.bind(names)
        try:
            yield [found[name] for name in names] if len(names) != 1 else found[names[0]]
        finally:
            self.ended = self.world.test_ends()


@contextmanager
def student(
    engine: Engine, source: str = "", *, limits: Limits | None = None, writes: str = ""
) -> Iterator[Student]:
    contracts = contracts_of(source, writes.split())
    with make_stage() as stage:
        world = World(engine, stage, limits or Limits(), contracts)
        try:
            if source:
                outcome = world.run_cell("cell", source)
                assert outcome.status == "ok", outcome
            yield Student(world)
        finally:
            world.close()


@pytest.fixture(scope="module")
def shared(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Student]:
    """One process for all tests of a file: it has run the file's STUDENT cell."""
    writes = getattr(request.module, "WRITES", "")
    with student(engine, request.module.STUDENT, writes=writes) as one:
        yield one


@pytest.fixture(scope="module")
def hunted(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Student]:
    """The file's FORGER, which ends its process in each test; the next one starts another."""
    limits = Limits(idle=2.5, call=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tito.grading.judge.world.MOST_STARTS", 1000)
        with student(engine, request.module.FORGER, limits=limits) as one:
            yield one


@pytest.fixture
def fresh(engine: Engine) -> Callable[..., Any]:
    """`with fresh(source) as student:` for a process of its own."""
    return partial(student, engine)
