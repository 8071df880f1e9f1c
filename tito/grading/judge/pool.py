"""The warm judges of this process: started when first needed, lent to one job at a time, kept.

As many run as jobs ever ran side by side, so that each worker of a batch has its own. They end
with this process, or with `close_all`.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import chain
from pathlib import Path

from tito.errors import UserError
from tito.grading.engine.warm import WarmFailed, WarmSilent
from tito.grading.judge.job import Job
from tito.grading.judge.process import (
    ForkedJudge,
    JudgeProcess,
    SpawnedJudge,
    WarmJudge,
    in_memory,
)
from tito.grading.stage import remove_folder


class Pool:
    """Warm judges, idle ones first."""

    def __init__(self) -> None:
        self._idle: list[_Lent] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def take(self) -> _Lent:
        with self._lock:
            self._forget_the_parents()
            while self._idle:
                lent = self._idle.pop()
                if lent.judge.alive():
                    return lent
                lent.close()
        return _Lent()

    def give_back(self, lent: _Lent) -> None:
        with self._lock:
            self._idle.append(lent)

    def close(self) -> None:
        """End the idle ones."""
        with self._lock:
            self._forget_the_parents()
            idle, self._idle = self._idle, []
        for lent in idle:
            lent.close()

    def peak_memory(self) -> int:
        """The most bytes that one of the idle ones has held."""
        with self._lock:
            return max((lent.judge.peak_memory() for lent in self._idle), default=0)

    def _forget_the_parents(self) -> None:
        """After a fork of this process, what was started before is not ours."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._idle.clear()


class _Lent:
    """A warm judge with its folder, below which all of its jobs work, and what it has prepared."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="tito-warm-")
        self._prepared: tuple | None = None
        try:
            self.judge = WarmJudge(self._folder)
        except BaseException:
            remove_folder(Path(self._folder))
            raise

    def scratch(self) -> AbstractContextManager[str]:
        """A folder for one job."""
        return scratch("job-", self._folder)

    def start(self, folder: str, job: Job) -> ForkedJudge:
        """A fork at work on the job; the module is told only when it is another than before."""
        texts = _package_texts(job.package, job.package_modules)
        module, numba = job.module_json(), _uses_numba(job, texts.values())
        package = str(job.package) if job.package else None
        wanted = module, numba, package, job.package_modules, texts
        if self._prepared != wanted:
            self.judge.wait_until_ready()
            request = {"numba": numba, "package": package, "modules": job.package_modules}
            with in_memory(module) as told:
                self.judge.prepare(request, [told])
            self._prepared = wanted
        return ForkedJudge(folder, job.own_json(), self.judge, {"numba": numba})

    def close(self) -> None:
        self.judge.close()
        remove_folder(Path(self._folder))


POOL = Pool()
atexit.register(POOL.close)


def close_all() -> None:
    """End all warm judges that are not at work."""
    POOL.close()


def peak_memory() -> int:
    """The most bytes that a warm judge has held which is not at work now; 0 without one."""
    return POOL.peak_memory()


@contextmanager
def start_judge(job: Job) -> Iterator[JudgeProcess]:
    """A judge that works on the job; it ends with the block, and its folder with it."""
    if job.engine == "spawn":
        with scratch("tito-judge-") as folder, SpawnedJudge(folder, job.to_json()) as judge:
            yield judge
        return
    with ExitStack() as stack:
        yield _fork(stack, job)


def _fork(stack: ExitStack, job: Job) -> ForkedJudge:
    """A fork of a warm judge for the job; one found dead, or silent, is replaced, once."""
    for is_last in (False, True):
        with ExitStack() as attempt:
            lent = POOL.take()
            attempt.callback(POOL.give_back, lent)
            try:
                folder = attempt.enter_context(lent.scratch())
                judge = attempt.enter_context(lent.start(folder, job))
            except WarmFailed as error:
                said = lent.judge.abort() if isinstance(error, WarmSilent) else ""
                if is_last:
                    why = f"the fork engine failed: {error}" + (said and f"\n{said}")
                    hint = "--engine spawn works everywhere"
                    raise UserError(why, hint=hint) from None
            else:
                stack.push(attempt.pop_all())
                return judge


@contextmanager
def scratch(prefix: str, below: str | None = None) -> Iterator[str]:
    """A folder for one judge and all it starts; whatever they leave there goes with it."""
    folder = tempfile.mkdtemp(prefix=prefix, dir=below)
    try:
        yield folder
    finally:
        remove_folder(Path(folder))


def _uses_numba(job: Job, package: Iterable[str]) -> bool:
    """Whether the module compiles: its own cells say so, or the package before it."""
    texts = chain((cell.source for cell in job.master.cells), package)
    return any("numba" in text for text in texts)


def _package_texts(package: Path | None, modules: list[str] | None) -> dict[str, str]:
    """The package's files that a job stages, by path; a warm judge must know these very ones."""
    found = {}
    for file in sorted(package.rglob("*")) if package else ():
        part = Path(file.relative_to(package).parts[0]).stem
        if (modules is None or part in modules) and file.is_file() and file.suffix != ".pyc":
            found[str(file)] = file.read_text(encoding="utf-8", errors="replace")
    return found
