"""What an audit found."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field


@dataclass
class Report:
    """The outcome for one module. `parts` holds (name, what was tried, CPU seconds)."""

    module: str
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parts: list[tuple[str, str, float]] = field(default_factory=list)

    @property
    def green(self) -> bool:
        return not self.problems

    @property
    def cpu_seconds(self) -> float:
        return sum(seconds for _, _, seconds in self.parts)


def cpu_seconds(pid: int | None = None) -> float:
    """CPU seconds of this process, or of another, and of all below it so far.

    Those that still run are included: a server that forks a process for each hand-in lives until
    the end.
    """
    import psutil

    spent = 0.0
    # They may end between the listing and the question.
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        for process in [top, *top.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                parts = ("user", "system", "children_user", "children_system")
                spent += sum(getattr(times, part, 0.0) for part in parts)
    return spent
