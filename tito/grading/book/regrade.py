"""Grading again after a test was mended: the questions that it touches, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tito.files import write_atomic
from tito.grading.book.changes import changed_questions, question_of, questions
from tito.grading.book.kept import Kept, key_of
from tito.grading.judge.result import GRADED, MISSING, Result
from tito.grading.store import Store, Stored
from tito.notebook import Notebook
from tito.notebook.points import exact


@dataclass(frozen=True)
class Stale:
    """A stored result that was made with another version of the module.

    questions : those whose points may be others now
    """

    stored: Stored
    questions: frozenset[str]


@dataclass(frozen=True)
class Change:
    """Points of one student in one question; None for a question that was not there."""

    student: str
    question: str
    before: Fraction | None
    after: Fraction | None


@dataclass
class Plan:
    """What grading again comes to.

    stale : results with a question whose points may be others now
    broken : hand-ins that could not be graded: the tests may have been to blame
    missing : where nothing was handed in; only the list of cells may have changed
    relabelled : results made with another version that differs in no question
    questions : the questions that changed, in the module's order
    unknown : whether there are results whose version of the module was not kept, so that all of
        their questions count as changed
    """

    stale: list[Stale] = field(default_factory=list)
    broken: list[Stale] = field(default_factory=list)
    missing: list[Stale] = field(default_factory=list)
    relabelled: list[Stored] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    unknown: bool = False

    @property
    def everyone(self) -> list[Stale]:
        """All whose result is made anew."""
        return [*self.stale, *self.broken, *self.missing]


class Regrade:
    """One module whose master may have changed since its hand-ins were graded.

    key : the master's, as results name it
    """

    def __init__(self, kept: Kept, store: Store, master: Notebook) -> None:
        self._kept = kept
        self._store = store
        self._master = master
        self._question_of = question_of(master)
        self._changed: dict[str, frozenset[str] | None] = {}
        self.key = key_of(master)

    def plan(self, results: Iterable[Stored]) -> Plan:
        """Compare each result's version of the module with the one that is there now."""
        plan = Plan()
        touched: set[str] = set()
        for stored in results:
            if stored.key.master != self.key:
                touched |= self._add(plan, stored)
        plan.questions = [name for name in questions(self._master) if name in touched]
        return plan

    def _add(self, plan: Plan, stored: Stored) -> frozenset[str]:
        """Put a result where it belongs; the questions of it that changed."""
        everything = frozenset(questions(self._master))
        status = stored.submission["status"]
        if status != GRADED:
            others = plan.missing if status == MISSING else plan.broken
            others.append(Stale(stored, everything))
            return frozenset()
        changed = self._changed_since(stored.key.master)
        plan.unknown |= changed is None
        changed = everything if changed is None else changed
        if changed:
            plan.stale.append(Stale(stored, changed))
        else:
            plan.relabelled.append(stored)
        return changed

    def _changed_since(self, key: str) -> frozenset[str] | None:
        if key not in self._changed:
            before = self._kept.master(key)
            self._changed[key] = (
                None if before is None else frozenset(changed_questions(before, self._master))
            )
        return self._changed[key]

    def merged(self, stale: Stale, fresh: Result) -> Stored:
        """The stored result with the questions that changed as `fresh` has them."""
        old = stale.stored.submission
        new = fresh.to_json()
        if old["status"] != GRADED:
            document = {"student": stale.stored.student, **new}
        else:
            cells = {c["id"]: c for c in old["cells"]}
            new_cells = [
                c if self._question_of.get(c["id"]) in stale.questions else cells.get(c["id"], c)
                for c in new["cells"]
            ]
            document = {**old, "cells": new_cells, **_totals({**old, "cells": new_cells})}
        return self.relabelled(replace(stale.stored, submission=document))

    def relabelled(self, stored: Stored) -> Stored:
        """The same result, as one of the module as it is now."""
        return replace(stored, key=replace(stored.key, master=self.key))

    def keep(self, stored: Stored) -> None:
        """Write a result; a reader sees the old one or this one."""
        write_atomic(
            self._store.path(stored.student), json.dumps(stored.to_json(), indent=1) + "\n"
        )

    def changes(self, before: Stored, after: Stored) -> Iterator[Change]:
        """The questions in which the points differ."""
        old = self._points(before, self._old_question_of(before))
        new = self._points(after, self._question_of)
        for name in [*new, *(n for n in old if n not in new)]:
            if old.get(name) != new.get(name):
                yield Change(before.student, name, old.get(name), new.get(name))

    def _old_question_of(self, stored: Stored) -> dict[str, str]:
        master = self._kept.master(stored.key.master)
        return self._question_of if master is None else question_of(master)

    @staticmethod
    def _points(stored: Stored, question: dict[str, str]) -> dict[str, Fraction]:
        """Points of each question that tests decide."""
        found: dict[str, Fraction] = {}
        for cell in stored.submission["cells"]:
            if cell["points"] is not None:
                name = question.get(cell["id"], cell["id"])
                found[name] = found.get(name, Fraction(0)) + exact(cell["points"])
        return found


def _totals(document: dict[str, Any]) -> dict[str, Any]:
    """The sums of the row, by the rules of a Result."""
    sums = Result.from_json(document).to_json()
    return {name: sums[name] for name in sums if "points" in name}
