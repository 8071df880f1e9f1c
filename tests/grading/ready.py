"""Spawned judges without their start, for tests that are about what a judge and a student do.

A judge of the spawn engine is a new Python, which loads for longer than it then works. Here it is
a fork of one that has loaded the same; what it starts for the student is spawned as ever. How
judges themselves are started is tried elsewhere (test_pool.py, tests/commands).
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from tito.grading import forkserver
from tito.grading.engine.interpreter import KEEP_MEMORY, ONE_THREAD
from tito.grading.engine.warm import WarmControl, WarmProcess
from tito.grading.judge import run
from tito.grading.judge.process import HOME, ForkedJudge
from tito.grading.judge.warm import LOADED
from tito.grading.stage import readable


class ReadyJudge(ForkedJudge):
    """In place of a SpawnedJudge, and made as that is."""

    ready: WarmControl

    def __init__(self, folder: str, job: str) -> None:
        super().__init__(folder, job, self.ready, {"folder": folder})


def start_ready() -> WarmProcess:
    """The process that ready judges are forked from; the caller closes it."""
    alone = dict.fromkeys(ONE_THREAD, "1")  # whoever forks must have one thread only
    environment = {**os.environ, **KEEP_MEMORY, **alone, "PYTHONPATH": str(HOME)}
    return WarmProcess(["-P", str(Path(__file__))], environment)


def _judge(request: dict[str, Any], files: list[int]) -> None:
    """Be a judge that knows nothing yet: `files` are its stdin, stdout and stderr."""
    forkserver.keep_only(files)
    os.chdir(request["folder"])
    tempfile.tempdir = request["folder"]
    run.main()


if __name__ == "__main__":
    for name in LOADED:
        __import__(name)
    readable()
    forkserver.serve(socket.socket(fileno=int(sys.argv[1])), _judge)
