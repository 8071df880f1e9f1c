"""Which modules one hand-in is of, and which of its files belong to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tito.grading.collect.choosing import (
    Choice,
    Wanted,
    choose,
    share,
    shares,
    what_is_there,
)
from tito.grading.collect.sources import Entry
from tito.grading.collect.units import Unit

ANOTHER = "it is a notebook of"


def other_module(why: str) -> str | None:
    """The (first) module of which a hand-in is one, where that is why it is of none asked for.

    >>> other_module("it is a notebook of 03_vectorize, 04_memory")
    '03_vectorize'
    """
    if not why.startswith(ANOTHER):
        return None
    return why.removeprefix(ANOTHER).partition(",")[0].strip()


@dataclass
class Part:
    """What one hand-in holds of one module; without a module, why it is of none."""

    module: str | None
    entries: list[Entry]
    choice: Choice
    why: str = ""


@dataclass(frozen=True)
class Divider:
    """The modules of a course; `only` is the one that a person asked for."""

    modules: Sequence[Wanted]
    only: Wanted | None = None

    @property
    def names(self) -> list[str]:
        return [wanted.name for wanted in self.modules]

    def parts(self, unit: Unit, entries: list[Entry], troubles: list[str]) -> list[Part]:
        """One for each module in a hand-in. `entries` are its files, those in its zips too.

        troubles : why a zip of it could not be opened
        """
        if self.only is not None:
            return [self._only_part(entries, troubles)]
        by_module: dict[str, list[Entry]] = {}
        rest = []
        for entry in entries:
            module = self._module_of(entry)
            by_module.setdefault(module, []).append(entry) if module else rest.append(entry)
        if not any(e.is_notebook for own in by_module.values() for e in own):
            return [self._part(self._said_outside(unit, by_module), entries, troubles)]
        first, *others = sorted(by_module)
        # What belongs to no module goes with the first.
        parts = [self._part(first, by_module[first] + rest, troubles)]
        return parts + [self._part(module, by_module[module], []) for module in others]

    def _said_outside(self, unit: Unit, folders: dict[str, list[Entry]]) -> str | None:
        """The module by the platform's name for it, or by the only folder called after one."""
        if unit.claim.module in self.names:
            return unit.claim.module
        return next(iter(folders)) if len(folders) == 1 else None

    def _part(self, module: str | None, entries: list[Entry], troubles: list[str]) -> Part:
        if module is None:
            why = f"which module? no notebook in it says so{what_is_there(entries)}"
            return Part(None, entries, Choice(), why)
        wanted = next(w for w in self.modules if w.name == module)
        return Part(module, entries, _chosen(entries, wanted, troubles))

    def _only_part(self, entries: list[Entry], troubles: list[str]) -> Part:
        """Everything is for the module asked for, but a notebook that holds another one."""
        others = {e.parts: m for e in entries if e.is_notebook and (m := self._another(e))}
        fitting = [e for e in entries if e.parts not in others]
        if others and not any(e.is_notebook for e in fitting):
            names = ", ".join(sorted(set(others.values())))
            return Part(None, entries, Choice(), f"{ANOTHER} {names}")
        choice = _chosen(fitting, self.only, troubles)
        choice.remarks += [f"not looked at: {'/'.join(p[1:])}, of {m}" for p, m in others.items()]
        return Part(self.only.name, entries, choice)

    def _another(self, notebook: Entry) -> str | None:
        """The module that a notebook belongs to where it is not the one asked for."""
        module = self._module_by_ids(notebook)
        return module if module not in (None, self.only.name) else None

    def _module_of(self, entry: Entry) -> str | None:
        """By the grade_ids inside, else by its name, else by its folder's."""
        if entry.is_notebook:
            if module := self._module_by_ids(entry):
                return module
            if entry.notebook_stem in self.names:
                return entry.notebook_stem
        return next((name for name in self.names if name in entry.parts[1:-1]), None)

    def _module_by_ids(self, notebook: Entry) -> str | None:
        """The one module of which at least half of the ids stand in a notebook."""
        found = shares(notebook, [wanted.grade_ids for wanted in self.modules])
        most = max(found, default=0.0)
        best = [name for name, value in zip(self.names, found) if value == most]
        return best[0] if most >= 0.5 and len(best) == 1 else None


def _chosen(entries: list[Entry], wanted: Wanted, troubles: list[str]) -> Choice:
    choice = choose(entries, wanted, troubles)
    if choice.entry and wanted.grade_ids and share(choice.entry, wanted.grade_ids) == 0:
        choice.remarks.append(f"none of its cells is marked as one of {wanted.name}")
    return choice
