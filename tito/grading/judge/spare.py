"""Student processes that start before they are needed, while the judge does something else.

A process takes some 15 ms from its fork to its hello. It has run nothing of anybody's until it is
taken, so that it makes no difference which of them serves what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from tito.grading.engine.warm import WarmFailed
from tito.grading.judge.contracts import Contract
from tito.grading.judge.world import World


class Spare:
    """One process in reserve.

    make  : a new world that is not waited for
    ahead : whether that is any use: an engine may wait for the process itself
    """

    def __init__(self, make: Callable[[], World], ahead: bool) -> None:
        self._make = make
        self._ahead = ahead
        self._world: World | None = None

    def start(self) -> None:
        """Have one ready soon, unless there is one."""
        if self._ahead and self._world is None:
            with suppress(OSError, WarmFailed):  # who takes one hears of it
                self._world = self._make()

    def take(self, contracts: Mapping[str, Contract]) -> World:
        """A world whose process has started."""
        world, self._world = self._world or self._make(), None
        world.begin(contracts)
        return world
