"""The first thing that runs in a student's process: take the pipes, shut the door, serve."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tito.grading import sandbox


def main(root: str, judge: int, arena: int | None = None) -> None:
    """Serve the judge with process id `judge` from the staging folder `root`.

    arena : descriptor of the memory for calls that are measured
    """
    config = json.loads((Path(root) / "stage.json").read_text(encoding="utf-8"))
    scratch = Path(root) / "work"
    os.chdir(scratch)
    pipes = _take_pipes()
    die_with(judge)
    readable = [Path(path) for path in config["readable"]]
    layers = sandbox.confine(scratch, readable, SimpleNamespace(**config["limits"]))
    _serve(pipes, scratch, config["output"], layers, arena)


def _serve(
    pipes: tuple[int, int], scratch: Path, output: int, layers: list[str], arena: int | None
) -> None:
    """Say hello, then answer. NumPy is first imported here, inside the fences."""
    from tito.grading.child import hooks
    from tito.grading.child.capture import Capture
    from tito.grading.child.cells import Cells
    from tito.grading.child.server import Server

    link = _link(*pipes)
    capture = Capture(output)
    cells = Cells(scratch / ".cells")
    hooks.install(lambda: cells.shell)
    sys.argv = ["notebook"]
    capture.install()
    capture.record_warnings()
    link.write(["hi", layers])
    Server(link, cells, capture, arena).serve()


def _take_pipes() -> tuple[int, int]:
    """Move the judge's pipes away from 0 and 1, which student code may read, print to or close."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (incoming, outgoing):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return incoming, outgoing


def _link(incoming: int, outgoing: int) -> Any:
    from tito.grading import wire

    def recv(most: int) -> bytes:
        data = os.read(incoming, most)
        if not data:
            raise EOFError
        return data

    def recv_into(view: memoryview) -> int:
        data = recv(min(len(view), 1 << 20))
        view[: len(data)] = data
        return len(data)

    def send(data: Any) -> None:
        view = memoryview(data)
        while len(view):
            view = view[os.write(outgoing, view) :]

    return wire.Link(recv, recv_into, send)


def die_with(judge: int) -> None:
    """See to it that no student process outlives a judge that was killed."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() not in (judge, 0):  # 0: it lives, in another process namespace
            os._exit(0)
        return
    import threading

    threading.Thread(target=_wait_for_end, args=(judge,), daemon=True).start()


def _wait_for_end(judge: int) -> None:
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.WaitForSingleObject(kernel.OpenProcess(0x00100000, False, judge), -1)  # SYNCHRONIZE
    else:
        import time

        while os.getppid() == judge:
            time.sleep(1)
    os._exit(0)
