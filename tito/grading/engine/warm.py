"""This side of a warm process that forks: starts it, asks for children, holds each by its leash."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tito.grading.forkserver import READY

START_SECONDS = 120.0
FORK_SECONDS = 120.0  # it may have a module to read before it forks
END_SECONDS = 10.0
LOOK_SECONDS = 1.0


class WarmFailed(Exception):
    """The warm process did not start, or is gone."""


class WarmSilent(WarmFailed):
    """The warm process is there, but does not answer."""


def forking_works() -> bool:
    """Whether this system has what the fork engine needs."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
        os.close(os.memfd_create("probe"))
    except OSError:
        return False
    return os.path.isdir("/proc/self/task")


class WarmControl:
    """The control socket of a warm process; its children are asked for here."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control

    def fork(self, request: dict[str, Any], files: Sequence[int]) -> Forked:
        """A child that works on the request, with these descriptors."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._send({"fork": request}, [theirs.fileno(), *files])
        return Forked(ours)

    def prepare(self, request: dict[str, Any], files: Sequence[int] = ()) -> None:
        """Have the warm process load what its children will need."""
        self._send({"prepare": request}, files)

    def _send(self, message: dict[str, Any], files: Sequence[int]) -> None:
        try:
            socket.send_fds(self.control, [json.dumps(message).encode()], list(files))
        except OSError as error:
            raise WarmFailed(f"the warm process is gone ({error})") from None


class WarmProcess(WarmControl):
    """A warm process, from its start to its end.

    arguments   : of the Python interpreter; the number of the control socket comes last
    environment : all of its environment
    """

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        super().__init__(ours)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close)
        self._is_ready = False
        self.said = ""
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *arguments, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                cwd="/",
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Wait until it has loaded everything; raises WarmFailed if it ended instead."""
        if self._is_ready:
            return
        if _receive(self.control, START_SECONDS) != READY:
            self.close()
            raise WarmFailed(f"a warm process did not start: {self.said}")
        self._is_ready = True

    def fork(self, request: dict[str, Any], files: Sequence[int]) -> Forked:
        self.wait_until_ready()
        return super().fork(request, files)

    def peak_memory(self) -> int:
        """The most bytes it has held so far; 0 once it is gone."""
        with suppress(OSError):
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
        return 0

    def abort(self) -> str:
        """End one that does not answer; returns what it said, with `-X faulthandler` also where
        it was."""
        self._process.send_signal(signal.SIGABRT)
        self.close()
        return self.said

    def close(self) -> None:
        """End it and its children; may be repeated."""
        self.control.close()  # it ends its children, then itself
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if not self._errors.closed:
            self._errors.seek(0)
            self.said = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
            self._errors.close()


class Forked:
    """A child of a warm process.

    orphaned : it ended because the warm process did
    """

    def __init__(self, leash: socket.socket) -> None:
        self.orphaned = False
        self._leash = leash
        self._lock = threading.Lock()
        self._code: int | None = None
        answer = self._hear(FORK_SECONDS)
        if answer is None or "pid" not in answer:
            leash.close()
            if answer is None:
                raise WarmSilent(f"the warm process did not answer in {FORK_SECONDS:.0f} s")
            raise WarmFailed(answer.get("error", "the warm process has ended"))
        self.pid: int = answer["pid"]

    def kill(self) -> None:
        """End it and wait until it is gone; may be repeated."""
        with suppress(OSError):
            self._leash.send(b"x")
        self.wait(END_SECONDS)

    def wait(self, seconds: float) -> int | None:
        """Its exit code, negative for a signal; None if it still runs after so many seconds."""
        with self._lock:
            if self._code is None:
                answer = self._hear(seconds)
                if answer is not None:
                    self._code = answer["code"]
        return self._code

    def close(self) -> None:
        """Kill it and let go; its process id may then be somebody else's."""
        self.kill()
        self._leash.close()

    def _hear(self, seconds: float) -> dict[str, Any] | None:
        """The server's next word; a server that is gone has taken its children along."""
        message = _receive(self._leash, seconds)
        if message is None:
            return None
        self.orphaned = not message
        return json.loads(message) if message else {"code": -signal.SIGKILL}


def _receive(channel: socket.socket, seconds: float) -> bytes | None:
    """A message, empty at the end of the channel; None if none came in time.

    Looks are counted, not what the clock says: where the whole machine stood still for a minute,
    the other side stood still too.
    """
    poll = select.poll()
    try:
        poll.register(channel, select.POLLIN)
        for _ in range(max(1, math.ceil(seconds / LOOK_SECONDS))):
            if poll.poll(1000 * min(seconds, LOOK_SECONDS)):
                return channel.recv(1 << 16)
    except (OSError, ValueError):
        return b""
    return None
