"""The engine that works everywhere: each student process is a new Python, joined by pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

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

CLEAR_UP_SECONDS = 5.0


class SpawnEngine(Engine):
    """Starts an interpreter for each process."""

    name = "spawn"

    def start(self, stage: Stage, limits: Limits) -> Channel:
        stage.prepare(limits)
        process = subprocess.Popen(
            [sys.executable, *FLAGS, "-c", _bootstrap(stage)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=stage.scratch,
            env=environment(stage.scratch),
            start_new_session=os.name == "posix",
            pass_fds=() if stage.arena is None else (stage.arena,),
        )
        return SpawnChannel(process, limits.output, _told_pid(process))


class SpawnChannel(PipeChannel):
    """A subprocess: its stdin and stdout are the wire, its stderr what is written to 1 and 2.

    pid : the student's process, where it is a child of the one that was started
    """

    def __init__(self, process: subprocess.Popen, most_output: int, pid: int | None = None) -> None:
        self._process = process
        wire = process.stdout.fileno(), process.stdin.fileno()
        super().__init__(pid or process.pid, *wire, process.stderr.fileno(), most_output)

    def _end(self) -> None:
        if self._process.poll() is not None:
            return
        if self.pid != self._process.pid and self._ended_alone():
            return
        _kill_group(self._process)
        self._process.wait()

    def _ended_alone(self) -> bool:
        """Kill the student's process only: the one around it ends after it, and clears up."""
        with suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        return self._exit_code(CLEAR_UP_SECONDS) is not None

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
        "from tito.grading.child.apart import main\n"
        f"main({str(stage.root)!r}, {os.getpid()}, {stage.arena})\n"
    )


def _told_pid(process: subprocess.Popen) -> int:
    """The student's process: where it has a process namespace, not the one that was started.

    No code of a student runs before it is told.
    """
    if sys.platform != "linux":
        return process.pid
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            return process.pid  # it did not start
        line += byte
    return int(line)


def _kill_group(process: subprocess.Popen) -> None:
    """The process and, where it leads a group of its own, all it started."""
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
            return
        except OSError:
            pass
    process.kill()
