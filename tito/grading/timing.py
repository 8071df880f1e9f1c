"""What a batch costs: CPU time of all processes, whose code it went to, and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tito.errors import UsageError
from tito.grading.batch import Row
from tito.grading.judge import pool

EARLY = 5  # hand-ins after which memory should have stopped growing


@dataclass
class Memory:
    """Peaks in bytes: of this process, and of the largest warm judge."""

    here: int
    judge: int


@dataclass
class Timing:
    """Watches a batch: `watching` hears of each finished hand-in, `finish` is called at the end.

    total : CPU seconds of this process since its start and of all it has started
    student, module : CPU seconds in students' functions, and in given and test cells
    elsewhere : whether workers of a cluster did the work; then the total lacks theirs
    """

    elsewhere: bool = False
    total: float = 0.0
    student: float = 0.0
    module: float = 0.0
    count: int = 0
    early: Memory | None = None
    late: Memory | None = None

    def __post_init__(self) -> None:
        _resource()

    def watching(self, progress: Callable[[Row], None]) -> Callable[[Row], None]:
        """A `progress` that this timing listens to as well."""

        def heard(row: Row) -> None:
            self.count += 1
            self.student += row.cost.student
            self.module += row.cost.module
            self.late = Memory(_peak_here(), self._judge(row.cost.judge_memory))
            if self.count == EARLY:
                self.early = self.late
            progress(row)

        return heard

    def finish(self) -> None:
        """End the warm processes: the time of a child counts when it has ended."""
        pool.close_all()
        resource = _resource()
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            used = resource.getrusage(who)
            self.total += used.ru_utime + used.ru_stime

    def _judge(self, memory: int) -> int:
        return max(memory, self.late.judge if self.late else 0)

    def report(self) -> str:
        return self._elsewhere() if self.elsewhere else self._here()

    def _elsewhere(self) -> str:
        lines = [
            f"CPU of this process            {self.total:8.2f} s",
            f"on the cluster, in students    {self.student:8.2f} s",
            f"  in given and test cells      {self.module:8.2f} s; the rest is not known here",
        ]
        return "\n".join([*lines, *self._peaks()])

    def _here(self) -> str:
        ours = self.total - self.student - self.module
        count = max(self.count, 1)
        lines = [
            f"CPU of all processes           {self.total:8.2f} s",
            f"  in calls of student code     {self.student:8.2f} s",
            f"  in given and test cells      {self.module:8.2f} s",
            f"  the rest, which is ours      {ours:8.2f} s, {ours / count:.3f} s a hand-in",
        ]
        return "\n".join([*lines, *self._peaks()])

    def _peaks(self) -> list[str]:
        if self.late is None:
            return []
        return [self._memory("this process  ", "here"), self._memory("the warm judge", "judge")]

    def _memory(self, what: str, which: str) -> str:
        late = getattr(self.late, which)
        text = f"peak memory of {what}  {late / 1e6:8.1f} MB"
        if self.early is None or self.early is self.late or not late:
            return text
        early = getattr(self.early, which)
        return f"{text}, {late / early:.3f} times that after {EARLY} hand-ins"


def _peak_here() -> int:
    import sys

    most = _resource().getrusage(_resource().RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def _resource():
    try:
        import resource
    except ImportError:
        raise UsageError("--timing needs a system that counts its children's time") from None
    return resource
