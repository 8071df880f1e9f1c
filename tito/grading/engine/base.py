"""The interface of an engine: it starts student processes and hands out a channel to each.

The judge knows only these two classes, so a plain subprocess (`spawn`) and a warm fork server
grade alike.
"""

from __future__ import annotations

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tito.grading.limits import Limits
from tito.grading.stage import Stage


def stat_of(folder: Path) -> list[str]:
    """What Linux says of a process or thread behind its name: its state first.

    folder : its place in /proc; OSError where it is gone
    """
    # The name in parentheses may hold anything, parentheses too.
    return (folder / "stat").read_text().rpartition(")")[2].split()


def tasks_of(pid: int) -> list[Path]:
    """The folders of a process's threads in /proc; none once it is gone, and off Linux."""
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def wants_cpu(pid: int) -> bool:
    """Whether a thread of a process runs, or waits for a CPU or a disk; False off Linux."""
    for task in tasks_of(pid):
        with suppress(OSError, IndexError):
            if stat_of(task)[0] in "RD":
                return True
    return False


def waited_for_cpu(pid: int) -> float:
    """Seconds that the threads of a process which are alive wanted a CPU and had none.

    Each thread's own are added up; 0.0 off Linux.
    """
    return sum(waited for _, waited in _scheduled(pid).values())


def _scheduled(pid: int) -> dict[int, tuple[float, float]]:
    """{thread: (seconds on a CPU, seconds that it waited for one)} of those that are alive."""
    found = {}
    for task in tasks_of(pid):
        with suppress(OSError, ValueError):
            ran, waited, _ = (task / "schedstat").read_text().split()
            found[int(task.name)] = int(ran) / 1e9, int(waited) / 1e9
    return found


class ChannelClosed(Exception):
    """The process at the other end is gone."""


class Channel(ABC):
    """The judge's hold on one student process: its bytes, its clock and its life."""

    pid: int

    @abstractmethod
    def recv(self, most: int) -> bytes:
        """Between 1 and `most` bytes, waiting for the first; raises ChannelClosed at the end."""

    @abstractmethod
    def recv_into(self, view: memoryview) -> int:
        """Like `recv`, into memory that is there already; the number of bytes."""

    @abstractmethod
    def send(self, data: bytes | memoryview) -> None:
        """All of the bytes; raises ChannelClosed when nobody reads them any more."""

    @abstractmethod
    def cpu_seconds(self) -> float:
        """CPU time the process has used so far, read from outside it; 0.0 once it is gone."""

    def thread_seconds(self) -> dict[int, float]:
        """CPU time of each of its threads that is alive, by thread id; Linux only, else empty."""
        return {thread: ran for thread, (ran, _) in _scheduled(self.pid).items()}

    def is_held_up(self) -> bool:
        """Whether a thread of it wants to run but waits for a CPU or a disk; False off Linux."""
        return wants_cpu(self.pid)

    def pause(self) -> None:
        """Stop all of its threads until `resume`; nothing where the system cannot."""
        self._signal("SIGSTOP")

    def resume(self) -> None:
        self._signal("SIGCONT")

    def pin(self, cpus: Iterable[int]) -> None:
        """Let its threads run on these CPUs only; nothing where the system cannot."""
        for thread in self.thread_seconds():
            with suppress(OSError):
                os.sched_setaffinity(thread, cpus)

    def _signal(self, name: str) -> None:
        number = getattr(signal, name, None)
        if number is not None:
            with suppress(OSError):  # it is gone
                os.kill(self.pid, number)

    @abstractmethod
    def kill(self) -> None:
        """End the process and all it started; wakes up who waits in `recv`. May be repeated."""

    @abstractmethod
    def close(self) -> None:
        """Kill it and give its pipes back; nobody may be waiting on them any more."""

    @abstractmethod
    def exit_reason(self) -> str:
        """How it ended: "killed by SIGSEGV", "ended the process (exit code 3)"."""

    @abstractmethod
    def take_output(self) -> str:
        """What was written straight to file descriptors 1 and 2 since the last call."""


class Engine(ABC):
    """A way to start student processes.

    starts_ahead : whether `start` returns while the process is still starting
    library, packages : what all its stages may share (see tito.grading.stage), if it has them
    """

    name: str
    starts_ahead = False
    library: Path | None = None
    packages: Path | None = None

    @abstractmethod
    def start(self, stage: Stage, limits: Limits) -> Channel:
        """A new process in which the stage's child is about to say hello."""

    def close(self) -> None:  # noqa: B027
        """End what the engine keeps running between hand-ins; may be repeated."""
