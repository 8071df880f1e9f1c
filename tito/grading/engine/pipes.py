"""What the channels of all engines share: two pipes for the wire, one for what is printed."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from abc import abstractmethod
from contextlib import suppress
from pathlib import Path

from tito.grading.engine.base import Channel, ChannelClosed, stat_of

PIPE_BYTES = 1 << 20
# Seconds for an end after the last byte; on a machine that has no CPU for it.
ENDS_WITHIN, ENDS_WITHIN_AT_MOST = 2.0, 60.0
SET_PIPE_SIZE = 1031  # fcntl.F_SETPIPE_SZ, Linux


class PipeChannel(Channel):
    """The judge's ends of a student process's pipes; how it is killed is left to the engine.

    incoming, outgoing : descriptors of the wire
    printed : descriptor from which comes what the process writes to its descriptors 1 and 2
    """

    def __init__(
        self, pid: int, incoming: int, outgoing: int, printed: int, most_output: int
    ) -> None:
        self.pid = pid
        self._incoming = incoming
        self._outgoing = outgoing
        self._killing = threading.Lock()
        self._killed = False
        self._cpu = 0.0
        self._output = _Output(printed, most_output)
        self._poll: select.poll | None = None
        if os.name == "posix":
            self._make_interruptible()

    @abstractmethod
    def _end(self) -> None:
        """Kill the process and all it started; returns when it is gone."""

    @abstractmethod
    def _exit_code(self, seconds: float) -> int | None:
        """Its exit code, negative for a signal; None if it still runs after so many seconds."""

    @abstractmethod
    def _close_pipes(self) -> None:
        """Give the pipes back."""

    @abstractmethod
    def _read_clock(self) -> float:
        """The process's CPU seconds; OSError once it is gone."""

    def _make_interruptible(self) -> None:
        """A kill wakes the reader up, even where a stray process keeps the pipe open."""
        import fcntl

        if sys.platform == "linux":
            for pipe in (self._incoming, self._outgoing):
                try:
                    fcntl.fcntl(pipe, SET_PIPE_SIZE, PIPE_BYTES)
                except OSError:
                    break  # over the user's limit: small pipes work too
        self._wake_reader, self._wake = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._incoming, select.POLLIN)
        self._poll.register(self._wake_reader, select.POLLIN)

    def recv(self, most: int) -> bytes:
        if self._poll is not None:
            self._wait()
        try:
            data = os.read(self._incoming, most)
        except OSError:
            raise ChannelClosed from None
        if not data:
            raise ChannelClosed
        return data

    def recv_into(self, view: memoryview) -> int:
        data = self.recv(min(len(view), PIPE_BYTES))
        view[: len(data)] = data
        return len(data)

    def _wait(self) -> None:
        if any(descriptor == self._wake_reader for descriptor, _ in self._poll.poll()):
            raise ChannelClosed

    def send(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        try:
            while len(view):
                view = view[os.write(self._outgoing, view) :]
        except (OSError, ValueError):
            raise ChannelClosed from None

    def cpu_seconds(self) -> float:
        with suppress(OSError):  # gone: what was read last
            self._cpu = self._read_clock()
        return self._cpu

    def kill(self) -> None:
        with self._killing:
            if self._killed:
                return
            self._killed = True
            self.cpu_seconds()
            self._end()
            if self._poll is not None:
                os.write(self._wake, b"x")
            self._output.finish()

    def close(self) -> None:
        self.kill()
        self._close_pipes()
        if self._poll is not None:
            os.close(self._wake)
            os.close(self._wake_reader)
            self._poll = None

    def exit_reason(self) -> str:
        code = self._exit_code(ENDS_WITHIN)
        if code is None and self._is_ending():
            code = self._exit_code(ENDS_WITHIN_AT_MOST)
        if code is None:
            return "closed its connection to the judge"
        if code < 0:
            try:
                return f"killed by {signal.Signals(-code).name}"
            except ValueError:
                return f"killed by signal {-code}"
        return f"ended the process (exit code {code})"

    def _is_ending(self) -> bool:
        """Whether it has no CPU for its end, or whoever is to tell us of it has none."""
        return self.is_held_up() or has_ended(self.pid)

    def take_output(self) -> str:
        return self._output.take()


def has_ended(pid: int) -> bool:
    """Whether no thread of the process is left; off Linux nobody can say, and it is False."""
    if sys.platform != "linux":
        return False
    try:
        return stat_of(Path(f"/proc/{pid}"))[0] in "ZX"
    except OSError:
        return True


class _Output:
    """Reads a pipe to its end in a thread of its own and keeps the beginning."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self._kept = b""
        self._ended = False
        self._lock = threading.Lock()  # also of reading
        read = self._read_when_ready if os.name == "posix" else self._read_on
        self._thread = threading.Thread(target=read, daemon=True)
        self._thread.start()

    def take(self) -> str:
        """What was kept since the last call, and what lies in the pipe by now."""
        with self._lock:
            if os.name == "posix":
                self._read_ready()
            kept, self._kept = self._kept, b""
        return kept.decode("utf-8", "replace")

    def finish(self) -> None:
        self._thread.join(timeout=0.2)

    def _read_when_ready(self) -> None:
        ready = self._readable()
        while not self._ended:
            ready.poll()
            with self._lock:
                self._read_ready()

    def _read_ready(self) -> None:
        ready = self._readable()
        while not self._ended and ready.poll(0):
            self._read_once()

    def _read_on(self) -> None:
        while not self._ended:
            self._read_once()

    def _read_once(self) -> None:
        try:
            data = os.read(self._descriptor, 1 << 16)
        except OSError:
            data = b""
        self._ended = not data
        self._kept += data[: max(0, self._most - len(self._kept))]

    def _readable(self) -> select.poll:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return poll
