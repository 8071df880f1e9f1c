"""The warm side of a fork engine (Linux): a process that has loaded what its children need.

    control = socket.socket(fileno=...)        # the other end: tito.grading.engine.warm
    serve(control, run)                        # run(request, files) in a fork for each request

Messages on the control socket are JSON with descriptors: {"fork": request} with the child's leash
and its files, or {"prepare": request}. The leash is a socket of the child's own. On it the server
says {"pid": ...} and, at the end, {"code": ...}; a byte the other way kills the child, and so does
letting go of it. Until then an ended child stays a zombie, so that its process id is nobody
else's.

The process stays single-threaded for ever: a fork of several threads may copy a locked lock. The
file is also copied into the student's side as it stands: it needs the standard library alone.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

READY = b"ready"
MOST_FILES = 8
MOST_BYTES = 1 << 16
PR_SET_PDEATHSIG = 1

Run = Callable[[dict[str, Any], list[int]], None]


def serve(control: socket.socket, run: Run, prepare: Run | None = None) -> None:
    """Say that all is loaded, then fork for each request until the other end is closed.

    run     : called in the child with a request and its descriptors; the child ends with it
    prepare : called in this process, between forks; it may load things, but start no thread
    """
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise RuntimeError(f"{threads} threads run: this process cannot fork safely")
    _freeze()
    control.send(READY)
    _Server(control, run, prepare).serve()


def _freeze() -> None:
    """Leave all that is loaded out of garbage collection: children then share its pages."""
    gc.collect()
    gc.freeze()


class _Child:
    """A forked process, as its parent sees it."""

    def __init__(self, pid: int, leash: socket.socket) -> None:
        self.pid = pid
        self.leash = leash
        self.descriptor = os.pidfd_open(pid)
        self.ended = False
        self.let_go = False

    def tell(self, message: dict[str, Any]) -> None:
        with suppress(OSError):  # nobody is interested any more
            self.leash.send(json.dumps(message).encode())

    def kill(self) -> None:
        """End it and all in its group; a zombie holds the number of the group, so none other."""
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)

    def exit_code(self) -> int:
        """Exit code, or minus the number of a signal; the process stays a zombie."""
        status = os.waitid(os.P_PIDFD, self.descriptor, os.WEXITED | os.WNOWAIT)
        number = status.si_status
        return number if status.si_code == os.CLD_EXITED else -number

    def bury(self) -> None:
        self.kill()
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        self.leash.close()


class _Server:
    """Forks, and waits for requests, ends and let-go leashes, whichever comes."""

    def __init__(self, control: socket.socket, run: Run, prepare: Run | None) -> None:
        self._control = control
        self._run = run
        self._prepare = prepare
        self._children: dict[int, _Child] = {}  # by the descriptors of leash and process
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve(self) -> None:
        try:
            while True:
                for descriptor, _ in self._poll.poll():
                    if descriptor == self._control.fileno():
                        if not self._request():
                            return
                    elif descriptor in self._children:  # else it went a moment ago
                        self._hear(descriptor, self._children[descriptor])
        finally:
            for child in set(self._children.values()):
                child.bury()

    def _request(self) -> bool:
        """Take a message; False when there will be none any more."""
        flags = socket.MSG_CMSG_CLOEXEC
        try:
            message, files, _, _ = socket.recv_fds(self._control, MOST_BYTES, MOST_FILES, flags)
        except OSError:
            return False
        if not message:
            return False
        ((kind, request),) = json.loads(message).items()
        if kind == "fork":
            self._fork(request, files)
        elif self._prepare is not None:
            self._load(request, files)
        for file in files:
            with suppress(OSError):
                os.close(file)
        return True

    def _load(self, request: dict[str, Any], files: list[int]) -> None:
        """What cannot be prepared is done by every child itself."""
        try:
            self._prepare(request, files)
        except Exception:
            traceback.print_exc()
        gc.freeze()

    def _fork(self, request: dict[str, Any], files: list[int]) -> None:
        parent = os.getpid()
        leash = socket.socket(fileno=os.dup(files[0]))
        try:
            pid = os.fork()
        except OSError as error:  # no memory, no process left
            with suppress(OSError):
                leash.send(json.dumps({"error": str(error)}).encode())
            leash.close()
            return
        if pid == 0:
            self._be_child(parent, request, files[1:])
        child = _Child(pid, leash)
        for descriptor in (leash.fileno(), child.descriptor):
            self._children[descriptor] = child
            self._poll.register(descriptor, select.POLLIN)
        child.tell({"pid": pid})

    def _be_child(self, parent: int, request: dict[str, Any], files: list[int]) -> None:
        code = 70  # EX_SOFTWARE
        try:
            os.setsid()
            die_with(parent)
            self._run(request, files)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _hear(self, descriptor: int, child: _Child) -> None:
        if descriptor == child.descriptor:
            child.ended = True
            self._forget(descriptor)
            child.tell({"code": child.exit_code()})
        else:
            try:
                child.let_go = not child.leash.recv(MOST_BYTES)
            except OSError:
                child.let_go = True
            if not child.ended:
                child.kill()
            if child.let_go:
                self._forget(descriptor)
        if child.ended and child.let_go:
            child.bury()

    def _forget(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        del self._children[descriptor]


def die_with(parent: int) -> None:
    """Let the kernel end this process when its parent's thread ends, however that comes."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() not in (parent, 0):  # 0: it lives, in another process namespace
        os._exit(0)


def keep_only(files: list[int]) -> None:
    """Make these the descriptors 0, 1, 2, ... and close all others; for the child."""
    # Moved up first, so that none is overwritten before its turn.
    moved = [_above(file, len(files)) for file in files]
    for place, file in enumerate(moved):
        os.dup2(file, place)
    for name in os.listdir("/proc/self/fd"):
        if int(name) >= len(files):
            with suppress(OSError):
                os.close(int(name))


def _above(file: int, least: int) -> int:
    import fcntl

    return fcntl.fcntl(file, fcntl.F_DUPFD, least)
