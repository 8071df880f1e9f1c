"""What an audit found."""

from __future__ import annotations

import os
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


def cpu_seconds() -> float:
    """CPU seconds of this process and its children so far."""
    return sum(os.times()[:4])
