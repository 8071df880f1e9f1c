"""The engine that works everywhere: each student process is a new Python, joined by pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tito.grading.engine.base import Channel, Engine
from tito.grading.engine.interpreter import (
    FLAGS,
    cpu_seconds,
    environment,
    first_folders,
    last_folders,
)
from tito.grading.engine.pipes import PipeChannel
from tito.grading.limits import Limits
from tito.grading.stage import Stage


class SpawnEngine(Engine):
    """Starts an interpreter for each process."""

    name = "spawn"

    def start(self, stage: Stage, limits: Limits) -> Channel:
        stage.prepare(limits)
        return SpawnChannel(
            subprocess.Popen(
                [sys.executable, *FLAGS, "-c", _bootstrap(stage)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=stage.scratch,
                env=environment(stage.scratch),
                start_new_session=os.name == "posix",
                pass_fds=() if stage.arena is None else (stage.arena,),
            ),
            limits.output,
        )


class SpawnChannel(PipeChannel):
    """A subprocess: its stdin and stdout are the wire, its stderr what is written to 1 and 2."""

    def __init__(self, process: subprocess.Popen, most_output: int) -> None:
        self._process = process
        wire = process.stdout.fileno(), process.stdin.fileno()
        super().__init__(process.pid, *wire, process.stderr.fileno(), most_output)

    def _end(self) -> None:
        if self._process.returncode is None:
            _kill_group(self._process)
            self._process.wait()

    def _exit_code(self, seconds: float) -> int | None:
        try:
            return self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def _close_pipes(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            stream.close()

    def _read_clock(self) -> float:
        return cpu_seconds(self.pid)


def _bootstrap(stage: Stage) -> str:
    """The first lines of the process: its path, then the child."""
    return (
        "import sys\n"
        f"sys.path[:0] = {first_folders(stage)!r}\n"
        f"sys.path += {last_folders(stage)!r}\n"
        "from tito.grading.child.main import main\n"
        f"main({str(stage.root)!r}, {os.getpid()}, {stage.arena})\n"
    )


def _kill_group(process: subprocess.Popen) -> None:
    """The process and, where it leads a group of its own, all it started."""
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
            return
        except OSError:
            pass
    process.kill()
