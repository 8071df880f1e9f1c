"""Where hand-ins are graded: over any executor of concurrent.futures, whose workers may die.

    with local(4) as workers:
        for task, outcome in run(function, tasks, workers): ...

A worker that dies takes along what it was working on and, where it was a process of a pool, all
that waited beside it. Whatever was lost so is tried again, alone: what dies alone is to blame for
it, and takes nothing with it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.grading.stage import remove_folder

AGAIN = 2  # times that a task whose worker was lost is tried again
AHEAD = 2  # tasks for each worker that are handed out, so that none waits for the next
CONNECT_SECONDS = 30
PATIENCE = 200  # times that what workers left is looked for, 50 ms apart
LOOK_EVERY = 2.0  # seconds between two looks whether the workers can still be reached

_here = threading.local()


def stopping() -> bool:
    """In a worker: whether nobody waits for what it does any more."""
    stop = getattr(_here, "stop", None)
    return stop is not None and stop.is_set()


@dataclass
class Task:
    """Arguments of one call, and what the caller knows it by."""

    about: Any
    arguments: tuple[Any, ...]
    lost: int = 0


@dataclass(frozen=True)
class Lost:
    """Stands for the result of a task whose workers died, each time it was tried."""

    times: int


@dataclass
class Workers:
    """An executor, and how to get a fresh one; a context manager that ends it.

    width : how many tasks run at the same time
    stop : an event that `stopping` sees in the workers; None where it cannot reach them
    close : what else is to be closed in the end
    check : raises UserError once the workers cannot be reached any more
    """

    make: Callable[[], Executor]
    width: int
    stop: Any = None
    close: Callable[[], None] = lambda: None
    check: Callable[[], None] = lambda: None
    _executor: Executor | None = field(default=None, repr=False)

    def submit(self, function: Callable[..., str], arguments: tuple[Any, ...]) -> Future[str]:
        self.check()
        if self._executor is None:
            self._executor = self.make()
        try:
            return self._executor.submit(function, *arguments)
        except BrokenExecutor:  # a worker died since the last result
            self.renew()
            return self._executor.submit(function, *arguments)

    def renew(self) -> None:
        """Go on with a fresh executor."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
        self._executor = self.make()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if kind is not None and self.stop is not None:
            self.stop.set()
        try:
            self.check()
        except UserError:
            return  # nobody is there to be told
        if self._executor is not None:
            self._executor.shutdown(wait=kind is None or self.stop is not None)
        self.close()


def threads(width: int) -> Workers:
    """Threads of this process: enough where each only waits for a judge's process."""
    stop = threading.Event()
    return Workers(
        lambda: ThreadPoolExecutor(width, initializer=_begin_thread, initargs=(stop,)), width, stop
    )


def processes(width: int) -> Workers:
    """Python processes on this machine."""
    # Not forked: this process has threads, and what they lock a fork would never see released.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    folder = Path(tempfile.mkdtemp(prefix="tito-run-"))
    begin = (stop, str(folder))
    return Workers(
        lambda: ProcessPoolExecutor(
            width, mp_context=context, initializer=_begin_process, initargs=begin
        ),
        width,
        stop,
        lambda: _put_away(folder),
    )


def local(width: int) -> Workers:
    """Workers on this machine. One alone needs no process of its own: the judge has one."""
    return threads(1) if width == 1 else processes(width)


def cluster(address: str) -> Workers:
    """The workers of a Dask scheduler; the widest use of them all, a task for each thread."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            "--cluster needs Dask, which is not installed here",
            hint='pip install "distributed" (or this package with the extra "cluster")',
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it is said by us
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"no Dask scheduler answers at {address}: {error}",
            hint="start one with: dask scheduler, and workers with: dask worker ADDRESS",
        ) from None
    width = sum(client.nthreads().values())
    if not width:
        client.close()
        raise UserError(
            f"the Dask scheduler at {address} has no workers",
            hint=f"start some with: dask worker {address} --nthreads 1",
        )

    def check() -> None:
        if client.status not in ("running", "connecting"):
            hint = (
                "what was graded into a class folder is kept; the same command goes on from there"
            )
            raise UserError(f"the Dask scheduler at {address} is gone", hint=hint)

    end = _quiet(client)
    # Not pure: a task that is tried again must not be answered with what was remembered of it.
    return Workers(lambda: client.get_executor(pure=False), width, None, end, check)


def _quiet(client: Any) -> Callable[[], None]:
    """Let the workers look at themselves less often; what to call in the end."""
    from tito.grading import quiet

    # Without it grading only costs more: with a Dask that has other names, say, or workers that
    # have another tito, which the first task tells.
    with suppress(Exception):
        quiet.quiet(client)

    def end() -> None:
        with suppress(Exception):
            quiet.as_before(client)
        client.close()

    return end


def run(
    function: Callable[..., str], tasks: Iterable[Task], workers: Workers
) -> Iterator[tuple[Task, str | Lost]]:
    """Each task with what the function returned, in the order in which they end.

    Tasks are taken from `tasks` only as workers are free, so that they may be many. An exception
    of the function is raised here.
    """
    yield from _Run(function, tasks, workers).outcomes()


class _Run:
    """The tasks in flight: many at once, or a single one that has lost a worker before."""

    def __init__(
        self, function: Callable[..., str], tasks: Iterable[Task], workers: Workers
    ) -> None:
        self._function = function
        self._tasks = iter(tasks)
        self._workers = workers
        self._flying: dict[Future[str], Task] = {}
        self._suspects: deque[Task] = deque()

    def outcomes(self) -> Iterator[tuple[Task, str | Lost]]:
        try:
            while self._send():
                done, _ = wait(self._flying, LOOK_EVERY, FIRST_COMPLETED)
                self._check()
                yield from self._settled(done)
        finally:
            for future in self._flying:
                future.cancel()

    def _send(self) -> bool:
        """Hand out what may be handed out now; whether anything is in flight."""
        if self._suspects:
            if not self._flying:
                self._submit(self._suspects.popleft())
            return True
        while len(self._flying) < AHEAD * self._workers.width:
            task = next(self._tasks, None)
            if task is None:
                break
            self._submit(task)
        return bool(self._flying)

    def _check(self) -> None:
        try:
            self._workers.check()
        except UserError:
            self._flying.clear()  # to be cancelled nowhere
            raise

    def _submit(self, task: Task) -> None:
        self._flying[self._workers.submit(self._function, task.arguments)] = task

    def _settled(self, done: Iterable[Future[str]]) -> Iterator[tuple[Task, str | Lost]]:
        for future in done:
            task = self._flying.pop(future)
            try:
                outcome: str | Lost = future.result()
            except (BrokenExecutor, CancelledError, *_cluster_losses()) as loss:
                # Dask says KilledWorker of a task that it has tried several times already.
                task.lost += AGAIN if type(loss).__name__ == "KilledWorker" else 1
                if task.lost <= AGAIN:
                    self._suspects.append(task)
                    continue
                outcome = Lost(task.lost)
            yield task, outcome


def _cluster_losses() -> tuple[type[Exception], ...]:
    """What Dask raises for a task that lost its worker, where Dask is in use."""
    if "distributed" not in sys.modules:
        return ()
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    return KilledWorker, FutureCancelledError, CommClosedError


def _begin_thread(stop: threading.Event) -> None:
    _here.stop = stop


def _begin_process(stop: Any, folder: str) -> None:
    """First thing in a worker process: it ends with its parent, and leaves Ctrl-C to it.

    folder : for all that it writes; a worker that a signal ends puts nothing away itself
    """
    _here.stop = stop
    tempfile.tempdir = folder
    # A handler, not SIG_IGN: what the worker starts shall have Python's own again.
    signal.signal(signal.SIGINT, _left_to_the_parent)
    parent = multiprocessing.parent_process()
    threading.Thread(target=_end_with, args=(parent, Path(folder)), daemon=True).start()


def _left_to_the_parent(number: int, frame: object) -> None:
    pass


def _end_with(parent: Any, folder: Path) -> None:
    """A worker waits for tasks from a pipe that it holds both ends of: it would do so for ever."""
    with suppress(OSError):
        parent.join()
    _put_away(folder)  # nobody else will
    os._exit(1)


def _put_away(folder: Path) -> None:
    """Delete the folder of the workers; what they started may be writing there for a moment."""
    for _ in range(PATIENCE):
        remove_folder(folder)
        if not folder.exists():
            break
        time.sleep(0.05)
