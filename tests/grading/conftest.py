"""Both engines, for every test that takes the fixture `engine`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tito.grading.engine.base import Engine
from tito.grading.engine.fork import ForkEngine, start_warm_student
from tito.grading.engine.spawn import SpawnEngine
from tito.grading.engine.warm import WarmProcess, forking_works
from tito.grading.stage import make_library, remove_folder


@pytest.fixture(scope="session")
def warm_student() -> Iterator[WarmProcess]:
    """A warm process that student processes are forked from."""
    if not forking_works():
        pytest.skip("this system cannot fork as the fork engine needs it")
    library = make_library()
    warm = start_warm_student(library, with_numba=True)
    warm.library = library
    yield warm
    warm.close()
    remove_folder(library)


@pytest.fixture(scope="module", params=["spawn", "fork"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn: what a test says holds with both."""
    if request.param == "spawn":
        return SpawnEngine()
    return ForkEngine(request.getfixturevalue("warm_student"))
