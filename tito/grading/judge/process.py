"""The judge's process as its caller sees it: told once, heard line by line, gone in the end.

It is a Python of its own (`SpawnedJudge`) or a fork of a warm one (`ForkedJudge`). Either way the
caller reads JSON and nothing else, and what does not end by itself is ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from tito.grading.engine.interpreter import KEEP_MEMORY, ONE_THREAD
from tito.grading.engine.warm import WarmControl, WarmFailed, WarmProcess

LOOK_EVERY = 0.5
MOST_SAID = 64 << 20  # bytes of all events of one judge
HOME = Path(__file__).resolve().parents[3]  # where tito lies


class Cancelled(Exception):
    """Whoever asked for the grading has gone."""


class JudgeProcess(ABC):
    """A judge at work on one job; a context manager that ends it.

    folder : where it works; nothing of value
    """

    def __init__(self, folder: str) -> None:
        self._errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed in __exit__)
        self._late = False

    def __enter__(self) -> JudgeProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()
        self._errors.close()

    def hear(self, seconds: float, cancelled: Callable[[], bool]) -> dict[str, Any] | None:
        """The next event; None when there will be none, or not in time."""
        until = time.monotonic() + seconds
        while not cancelled():
            try:
                return self._events.next(LOOK_EVERY)
            except queue.Empty:
                if time.monotonic() < until:
                    continue
                self._late = True
                return None
        raise Cancelled

    def how_it_ended(self) -> str:
        """One line for the report; raises WarmFailed where it was not its own end."""
        if self._late:
            return "it took too long"
        if self._events.flooded:
            return f"it said more than {MOST_SAID >> 20} MB"
        code = self._exit_code()
        if self.is_not_to_blame():
            raise WarmFailed("the warm judge has ended")
        if code < 0:
            return f"the judge was ended by {signal.Signals(-code).name}"
        self._errors.seek(0)
        text = self._errors.read()[-400:].decode("utf-8", "replace").strip()
        last = text.rpartition("\n")[2]
        return f"the judge ended with exit code {code}" + (f" ({last})" if last else "")

    def _listen(self, stream: IO[bytes]) -> None:
        self._events = _Events(stream)

    def is_not_to_blame(self) -> bool:
        """Whether it ended for a reason that lies outside the job."""
        return False

    @abstractmethod
    def _exit_code(self) -> int:
        """Its exit code, negative for a signal; waits for its end."""

    @abstractmethod
    def _end(self) -> None:
        """The judge and all it started."""


class SpawnedJudge(JudgeProcess):
    """A Python of its own."""

    def __init__(self, folder: str, job: str) -> None:
        super().__init__(folder)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tito.grading.judge.run"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env={"OPENBLAS_NUM_THREADS": "1", **_environment(), **_temporary(folder)},
            start_new_session=os.name == "posix",
        )
        self._listen(self._process.stdout)
        # One that dies at once is noticed when it is heard.
        with contextlib.suppress(OSError), self._process.stdin as stream:
            stream.write(job.encode("ascii"))

    def _exit_code(self) -> int:
        return self._process.wait()

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()


class ForkedJudge(JudgeProcess):
    """A fork of a warm judge."""

    def __init__(self, folder: str, job: str, warm: WarmControl, request: dict[str, Any]) -> None:
        super().__init__(folder)
        reading, writing = os.pipe()
        try:
            with in_memory(job) as told:
                files = [told, writing, self._errors.fileno()]
                self._child = warm.fork({**request, "folder": folder}, files)
        except BaseException:
            os.close(reading)
            self._errors.close()
            raise
        finally:
            os.close(writing)
        self._listen(os.fdopen(reading, "rb"))

    def _exit_code(self) -> int:
        code = self._child.wait(LOOK_EVERY)
        return -signal.SIGKILL if code is None else code

    def is_not_to_blame(self) -> bool:
        return self._child.orphaned

    def _end(self) -> None:
        self._child.close()


class _Events:
    """Reads a judge's lines in a thread of its own, up to a number of bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.flooded = False
        self._stream = stream
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next event; None after the last; queue.Empty if there is none in time."""
        line = self._lines.get(timeout=seconds)
        # The last words of one that was killed may be half a line.
        return json.loads(line) if line.endswith(b"\n") else None

    def _read(self) -> None:
        left = MOST_SAID
        with self._stream as stream:
            while left > 0 and (line := stream.readline(left)):
                left -= len(line)
                self._lines.put(line)
            self.flooded = left <= 0
        self._lines.put(b"")


class WarmJudge(WarmProcess):
    """A Python with the judge loaded, which forks one for each job."""

    def __init__(self, folder: str) -> None:
        arguments = ["-P", "-X", "faulthandler", "-m", "tito.grading.judge.warm", folder]
        alone = dict.fromkeys(ONE_THREAD, "1")  # whoever forks must have one thread only
        super().__init__(arguments, {**_environment(), **alone, **_temporary(folder)})


@contextlib.contextmanager
def in_memory(text: str) -> Iterator[int]:
    """A descriptor to read the text from."""
    with os.fdopen(os.memfd_create("tito"), "w", encoding="ascii") as file:
        file.write(text)
        file.seek(0)
        yield file.fileno()


def _environment() -> dict[str, str]:
    """Ours, with tito where it can be found from anywhere."""
    others = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    path = {"PYTHONPATH": os.pathsep.join([str(HOME), *others])}
    return {**os.environ, **KEEP_MEMORY, **path}


def _temporary(folder: str) -> dict[str, str]:
    """Whatever is left behind lies in the folder, which the caller removes."""
    return dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)
