"""The first thing that runs in a spawned Python: the student's process is a fork of it, apart.

    G ── this process ── the keeper of their namespace
                     └── the student's process: its first line is its number outside

Without a process namespace there is no fork, and this process is the student's.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from tito.grading import sandbox
from tito.grading.child import main as child
from tito.grading.sandbox.namespaces import Keeper


def main(root: str, judge: int, arena: int | None = None) -> None:
    """Serve as `child.main` does; on Linux, say first on the wire which process does."""
    if sys.platform == "linux":
        child.die_with(judge)
        keeper = sandbox.own_processes()
        if keeper is None:
            _say(os.getpid())
        else:
            judge = _fork(keeper, arena)
    child.main(root, judge, arena)


def _fork(keeper: Keeper, arena: int | None) -> int:
    """Go on in a fork; what it calls its judge. This process waits for it and ends as it does."""
    told, telling = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(telling)
        os.read(told, 1)
        os.close(told)
        keeper.leave()
        return os.getppid()
    _say(pid)
    os.close(telling)
    for descriptor in (0, 1, told, *([] if arena is None else [arena])):
        os.close(descriptor)  # when the fork ends, nobody holds its wire
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    keeper.end()
    _end_like(code)
    return 0


def _say(pid: int) -> None:
    os.write(1, b"%d\n" % pid)


def _end_like(code: int) -> None:
    """End with this exit code or, below 0, by this signal."""
    import resource

    if code >= 0:
        os._exit(code)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # SIGKILL has no handler
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(70)
