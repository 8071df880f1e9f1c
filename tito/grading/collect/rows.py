"""What came of a source, a row for each student and module."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from tito.grading.collect.sources import Passed
from tito.grading.judge.result import AMBIGUOUS, BROKEN
from tito.grading.roster import Student

NEW, NEWER, UNCHANGED, UNMATCHED, ASIDE = "new", "newer", "unchanged", "unmatched", "set aside"


@dataclass
class Row:
    """One student and module, or one hand-in of which that is not known.

    state : new, newer (than what was there), unchanged, missing; for a person: unmatched (no
        student, or no module, is known), ambiguous, broken; "set aside" where a person has said so
    newer_broken : a newer hand-in is broken, so that this one counts
    """

    state: str
    module: str = ""
    student: Student | None = None
    found: str = ""
    platform: str = ""
    handed_in: datetime | None = None
    time_from: str = ""
    late: str = ""
    why: str = ""
    remarks: list[str] = field(default_factory=list)
    newer_broken: bool = False

    @property
    def waits(self) -> bool:
        """Whether a person has to look at it."""
        return self.newer_broken or self.state in (UNMATCHED, AMBIGUOUS, BROKEN)


@dataclass
class Collection:
    """What came of a source: a row for each student and module, then those of nobody yet.

    found : the names under which hand-ins were found
    """

    rows: list[Row]
    passed: list[Passed]
    found: set[str]

    @property
    def modules(self) -> list[str]:
        return sorted({row.module for row in self.rows if row.module})
