"""The fast engine (Linux): student processes are forks of a warm Python that has NumPy loaded.

The warm process is a Python of its own, exec'ed and with its own string hashes. No solution of any
module is ever imported there, and student code runs in its forks alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from tito.grading.engine.base import Channel, Engine
from tito.grading.engine.interpreter import (
    FLAGS,
    cpu_seconds,
    environment,
    first_folders,
    last_folders,
    package_folders,
)
from tito.grading.engine.pipes import PipeChannel
from tito.grading.engine.warm import Forked, WarmControl, WarmProcess
from tito.grading.limits import Limits
from tito.grading.stage import Stage


def start_warm_student(library: Path, *, with_numba: bool) -> WarmProcess:
    """The warm process; it loads while the caller goes on.

    library : a folder with the thin tito (see tito.grading.stage); must outlive the process
    with_numba : whether Numba is loaded too, with a function compiled
    """
    bootstrap = (
        "import sys\n"
        "own = list(sys.path)\n"
        f"sys.path[:0] = [{str(library)!r}]\n"
        f"sys.path += {package_folders()!r}\n"
        "from tito.grading.child.warm import main\n"
        f"main(int(sys.argv[-1]), own, {with_numba})\n"
    )
    return WarmProcess([*FLAGS, "-c", bootstrap], environment(library))


class ForkEngine(Engine):
    """Asks a warm process for each student process.

    library, packages : the thin tito, and the package of the job's earlier modules, that the
        stages may share
    """

    name = "fork"
    starts_ahead = True

    def __init__(
        self, warm: WarmControl, library: Path | None = None, packages: Path | None = None
    ) -> None:
        self.warm = warm
        self.library = library
        self.packages = packages

    def start(self, stage: Stage, limits: Limits) -> Channel:
        stage.prepare(limits)
        request = {
            "root": str(stage.root),
            "path": [first_folders(stage), last_folders(stage)],
            "environment": environment(stage.scratch),
        }
        theirs_in, outgoing = os.pipe()
        incoming, theirs_out = os.pipe()
        printed, theirs_printed = os.pipe()
        theirs = [theirs_in, theirs_out, theirs_printed]
        try:
            shared = [] if stage.arena is None else [stage.arena]
            child = self.warm.fork(request, [*theirs, *shared])
        except BaseException:
            _close(outgoing, incoming, printed)
            raise
        finally:
            _close(*theirs)
        return ForkChannel(child, incoming, outgoing, printed, limits.output)


class ForkChannel(PipeChannel):
    """A fork, held by its leash."""

    def __init__(
        self, child: Forked, incoming: int, outgoing: int, printed: int, most_output: int
    ) -> None:
        self._child = child
        self._pipes = (incoming, outgoing, printed)
        super().__init__(child.pid, incoming, outgoing, printed, most_output)

    def _end(self) -> None:
        self._child.kill()

    def _exit_code(self, seconds: float) -> int | None:
        return self._child.wait(seconds)

    def _close_pipes(self) -> None:
        self._child.close()
        _close(*self._pipes)
        self._pipes = ()

    def _read_clock(self) -> float:
        return cpu_seconds(self.pid)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
