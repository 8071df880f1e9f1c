"""Which notebook of a hand-in is the module's, and what to say where none is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tito.errors import UserError
from tito.grading.collect.sources import FILE, FOLDER, LINK, SPECIAL, Entry
from tito.grading.judge.result import AMBIGUOUS, BROKEN, GRADED, MISSING


@dataclass(frozen=True)
class Wanted:
    """The module whose notebook is looked for: its name, its grade_ids, its own file."""

    name: str
    grade_ids: tuple[str, ...] = ()
    master: Path | None = None


@dataclass
class Choice:
    """The notebook of a hand-in. `status` is "graded" while there is one to grade."""

    status: str = GRADED
    reason: str | None = None
    entry: Entry | None = None
    remarks: list[str] = field(default_factory=list)


def choose(entries: list[Entry], wanted: Wanted, troubles: list[str] | None = None) -> Choice:
    """The module's notebook among the entries of one student.

    troubles : why a zip of this hand-in could not be opened
    """
    choice = Choice()
    choice.remarks += [f"{e.shown}: a link, not followed" for e in entries if e.kind == LINK]
    candidates = [e for e in entries if e.is_notebook] or _under_other_names(entries, wanted)
    if not candidates:
        choice.status, choice.reason = _nothing(entries, troubles or [])
        return choice
    rivals = _rivals(candidates, wanted)
    entry = None if rivals else _best(candidates, wanted)
    if entry is None:
        names = ", ".join(sorted(e.shown for e in rivals or candidates)[:5])
        what = "different answers in several notebooks" if rivals else "several notebooks"
        choice.status = AMBIGUOUS
        choice.reason = f"{what}, none is clearly it: {names}"
        return choice
    choice.entry = entry
    choice.remarks += _name_remarks(entry, candidates, wanted)
    return choice


def holds(entry: Entry, grade_ids: tuple[str, ...]) -> bool:
    """Whether at least half of the module's grade_ids stand in the file. It is not parsed."""
    return bool(grade_ids) and share(entry, grade_ids) >= 0.5


def share(entry: Entry, grade_ids: tuple[str, ...]) -> float:
    """The part of the grade_ids that stands in the file."""
    return shares(entry, [grade_ids])[0]


def shares(entry: Entry, modules: Iterable[tuple[str, ...]]) -> list[float]:
    """The same of several modules' grade_ids; the file is read once."""
    try:
        data = entry.read()
    except UserError:
        data = b""
    return [
        sum(json.dumps(i).encode("ascii") in data for i in grade_ids) / max(len(grade_ids), 1)
        for grade_ids in modules
    ]


def _under_other_names(entries: list[Entry], wanted: Wanted) -> list[Entry]:
    """Files that hold the module under a name that is no notebook's, as `02_loops.json`."""
    return [
        e
        for e in entries
        if e.kind == FILE
        and e.name.lower().endswith((".json", ".txt", ".html", ".htm"))
        and holds(e, wanted.grade_ids)
        and e.read().lstrip()[:1] == b"{"
    ]


def _rivals(candidates: list[Entry], wanted: Wanted) -> list[Entry]:
    """Notebooks that answer the module's questions in different ways: whichever was graded, the
    right answers may stand in another. What programs keep in hidden folders is no hand-in.
    """
    visible = [e for e in candidates if not any(part.startswith(".") for part in e.parts[1:-1])]
    if len(visible) < 2:
        return []
    answers = {e: _answers(e, wanted) for e in visible if holds(e, wanted.grade_ids)}
    answering = [e for e in answers if answers[e]]
    kinds = {json.dumps(answers[e], sort_keys=True) for e in answering}
    return answering if len(kinds) > 1 else []


def _answers(entry: Entry, wanted: Wanted) -> dict[str, str]:
    """The sources of the module's cells in a notebook; none where it cannot be read."""
    try:
        cells = json.loads(entry.read())["cells"]
        sources = {c["metadata"].get("nbgrader", {}).get("grade_id"): c["source"] for c in cells}
        return {i: "".join(sources[i]).strip() for i in wanted.grade_ids if i in sources}
    except (UserError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _best(candidates: list[Entry], wanted: Wanted) -> Entry | None:
    """Of several notebooks the module's: by name, by folder and name, by the grade_ids inside."""
    if len(candidates) == 1:
        return candidates[0]
    named = [e for e in candidates if e.notebook_stem == wanted.name]
    if len(named) == 1:
        return named[0]
    in_folder = [e for e in named or candidates if wanted.name in e.parts[:-1]]
    if len(in_folder) == 1:
        return in_folder[0]
    holding = [e for e in named or candidates if holds(e, wanted.grade_ids)]
    return holding[0] if len(holding) == 1 else None


def _name_remarks(chosen: Entry, candidates: list[Entry], wanted: Wanted) -> list[str]:
    remarks = []
    others = sorted(e.shown for e in candidates if e is not chosen)
    loose = len(chosen.parts) == 1  # named after the student, as it should be
    if chosen.notebook_stem != wanted.name and not loose:
        remarks.append(f"{chosen.shown}: taken, though it is not named {wanted.name}.ipynb")
    elif others:
        remarks.append(f"{chosen.shown}: taken")
    if others:
        remarks.append(f"not looked at: {', '.join(others[:5])}")
    return remarks


def _nothing(entries: list[Entry], troubles: list[str]) -> tuple[str, str]:
    """No notebook: broken where something stands under its name, else missing."""
    for entry in entries:
        if entry.notebook_stem and entry.kind == FOLDER:
            return BROKEN, f"{entry.shown} is a folder, not a notebook"
        if entry.kind == LINK and (entry.notebook_stem or len(entry.parts) == 1):
            return BROKEN, f"{entry.shown} is a link, not followed"
        if entry.kind == SPECIAL:
            return BROKEN, f"{entry.shown} is not a regular file"
    if troubles:
        return BROKEN, troubles[0]
    return MISSING, f"no notebook was handed in{what_is_there(entries)}"


def what_is_there(entries: list[Entry]) -> str:
    """In brackets the names of the first files; nothing where there are none."""
    own = [e for e in entries if not (e.kind == FOLDER and len(e.parts) == 1)]
    there = sorted(e.shown for e in own if e.kind == FILE)
    there += [f"{e.shown}, a link that was not followed" for e in own if e.kind == LINK]
    return f" (there is {', '.join(there[:4])})" if there else ""
