"""What a search finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Finding:
    """One forbidden route: where it stands and how it is written.

    via : the functions through which it is reached, from the root on
    hidden : what stands there cannot be read: it may be a route
    """

    label: str
    line: int
    route: str
    set: str
    via: tuple[str, ...] = ()
    hidden: bool = False

    def __str__(self) -> str:
        return f"{self.label}, line {self.line}: {self.route} (forbid: {self.set})"
