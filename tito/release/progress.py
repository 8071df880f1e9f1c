"""How far a student is in a module: what is written, exported and passed."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tito.course import Course, ModuleRef
from tito.errors import UserError
from tito.files import write_atomic
from tito.forbid import python_source
from tito.notebook import Cell, Notebook, Role, load
from tito.release import kit
from tito.strip import CODE_STUB
from tito.sync import content_hash

_TESTS = ".tito/tests"
_STUB = re.compile(rf"^\s*{re.escape(CODE_STUB[1])}\s*(#.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Unanswered:
    """What is not written yet: labels of exercises and of reflections."""

    exercises: list[str]
    reflections: list[str]

    def __bool__(self) -> bool:
        return bool(self.exercises or self.reflections)


@dataclass(frozen=True)
class Progress:
    """One line of `tito status`."""

    name: str
    written: int
    exercises: int
    exported: str  # "yes", "no", "in part", "out of date", "given"
    points: str  # of the visible tests in the last test, "12/18"; "" before the first
    tested: str  # when
    hours: str
    remark: str = ""
    broken: bool = False  # the notebook cannot be read, or a cell of it; the remark says why

    @property
    def failing(self) -> bool:
        """The last test of the notebook as it is now left points behind."""
        earned, _, most = self.points.partition("/")
        return bool(self.points) and earned != most and not self.remark

    @property
    def done(self) -> bool:
        """Nothing to do but to hand in; a module that came solved may be left alone."""
        whole = self.written == self.exercises and self.exported == "yes"
        return whole or self.exported == "given"


def unanswered(release: Notebook, own: Notebook) -> Unanswered:
    """The exercises and reflections of `release` that `own` leaves as they were, or lacks."""
    exercises, reflections = [], []
    for cell in release.cells:
        mine = own.by_id(cell.grade_id) if cell.grade_id else None
        if cell.role is Role.SOLUTION and not _written(cell, mine):
            exercises.append(cell.grade_id or cell.label)
        elif cell.role is Role.REFLECTION and (mine is None or _same(cell, mine)):
            reflections.append(cell.grade_id or cell.label)
    return Unanswered(exercises, reflections)


def _written(stub: Cell, mine: Cell | None) -> bool:
    if mine is None or not mine.source.strip() or _same(stub, mine):
        return False
    # A cell for two functions may have one written only.
    return not _STUB.search(mine.source)


def _same(a: Cell, b: Cell) -> bool:
    return a.source.split() == b.source.split()


def broken_cells(own: Notebook) -> list[str]:
    """What a half-written line would cost: the exercises that do not parse, and where."""
    troubles = []
    for cell in own.of_role(Role.SOLUTION):
        try:
            ast.parse(python_source(cell.source))
        except SyntaxError as error:
            line = f", line {error.lineno}" if error.lineno else ""
            troubles.append(f"{cell.label}{line} is no valid Python: {error.msg}")
    return troubles


def facts_of(notebook: Notebook) -> dict[str, str]:
    """The small table at the head of a module: "hours" -> "2.5", ..."""
    facts: dict[str, str] = {}
    for cell in notebook.cells[:4]:
        if cell.kind == "markdown":
            for line in cell.source.split("\n"):
                columns = [c.strip(" *`") for c in line.strip().strip("|").split("|")]
                if line.lstrip().startswith("|") and len(columns) == 2:
                    facts.setdefault(columns[0].lower(), columns[1])
    return facts


def exported(course: Course, ref: ModuleRef) -> str:
    """Whether the package holds what the module's notebook makes now."""
    from tito.export import plan_export

    entry = kit.read_manifest(course)["modules"].get(ref.name, {})
    if entry.get("solved"):
        return "given"
    files = [course.root / f for f in entry.get("exports", [])]
    if any(not f.is_file() or kit.is_stub(f) for f in files):
        return "no"
    plan = plan_export(course, [ref])
    if plan.changes:
        return "out of date"
    return "in part" if plan.missing else "yes"


def of_module(course: Course, ref: ModuleRef) -> Progress:
    """The line of one module; a notebook that cannot be read is a remark, not an error."""
    release = kit.released(course, ref.name)
    total = len(release.of_role(Role.SOLUTION))
    remark, made, troubles = "", "no", []
    written, last = 0, {}
    try:
        path = ref.source
        own = load(path)
        troubles = broken_cells(own)
        written = total - len(unanswered(release, own).exercises)
        made = exported(course, ref)
        last = last_test(course, ref.name) or {}
        if last and last.get("content") != digest(path):
            remark = "changed since the last test"
    except UserError as error:
        troubles = [f"{error.cell}: {error.message}" if error.cell else error.message]
    return Progress(
        name=ref.name,
        written=written,
        exercises=total,
        exported=made,
        points=f"{last['points']}/{last['max_points']}" if last else "",
        tested=last.get("when", ""),
        hours=_hours(release),
        remark=troubles[0] if troubles else remark,
        broken=bool(troubles),
    )


def _hours(release: Notebook) -> str:
    facts = facts_of(release)
    found = next((v for k, v in facts.items() if k in ("hours", "time", "duration")), "")
    return found.removesuffix("hours").removesuffix("h").strip()


def digest(path: Path) -> str:
    """Hash of what the cells say; running them, or a sync, does not change it."""
    return content_hash(load(path))


def remember_test(course: Course, path: Path, name: str, points: str, max_points: str) -> None:
    """Keep the outcome of a test for `tito status`."""
    entry = {
        "when": datetime.now().strftime("%Y-%m-%d %H:%M"),
        "content": digest(path),
        "points": points,
        "max_points": max_points,
    }
    write_atomic(course.root / _TESTS / f"{name}.json", json.dumps(entry, indent=1) + "\n")


def has_passed(course: Course, ref: ModuleRef) -> bool:
    """Whether the last test was of the notebook as it is now, and gave all points."""
    last = last_test(course, ref.name)
    is_of_now = last is not None and last["content"] == digest(ref.source)
    return is_of_now and last["points"] == last["max_points"]


def last_test(course: Course, name: str) -> dict[str, Any] | None:
    """What `remember_test` kept last; None where nothing was, or it is damaged."""
    try:
        entry = json.loads((course.root / _TESTS / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    keys = {"when", "content", "points", "max_points"}
    return entry if isinstance(entry, dict) and keys <= set(entry) else None
