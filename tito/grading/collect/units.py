"""Which entries of a source are one hand-in of one person, whoever that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from tito.errors import UserError
from tito.grading.collect.matching import Matcher
from tito.grading.collect.platforms import (
    CANVAS,
    MOODLE,
    NBGRADER,
    PLAIN,
    Claim,
    later_upload,
    read_claim,
)
from tito.grading.collect.sources import FILE, FOLDER, Budget, Entry, Passed, inside, read_source

NBGRADER_TREE = "submitted"
DOUBTFUL = "holds names of the class: if it is a folder around hand-ins, collect it by itself"
_DEEPEST = 6


@dataclass(frozen=True)
class Upload:
    """Which upload of a file this is, as Canvas counts: the file's first name, its number, the
    platform's own number."""

    file: str = ""
    number: int = 0
    upload: int = 0


@dataclass
class Unit:
    """One hand-in as it lies in the source: its entries begin with one and the same part.

    saved : the time of its youngest file, which is no more than a hint
    """

    claim: Claim
    entries: list[Entry]
    upload: Upload = Upload()
    remarks: list[str] = field(default_factory=list)

    @property
    def saved(self) -> datetime | None:
        return max((e.time for e in self.entries if e.time and e.kind == FILE), default=None)


@dataclass(frozen=True)
class _Inside:
    """What a folder or zip that is nobody's holds.

    people : the names of hand-ins in it; empty where it is no wrapper
    sure : a platform has named them
    passed : what was passed over on the way
    """

    entries: list[Entry]
    people: frozenset[str] = frozenset()
    sure: bool = False
    passed: tuple[Passed, ...] = ()

    @property
    def is_wrapper_anywhere(self) -> bool:
        """One name in it may have been chosen by whoever handed it in; several are a class."""
        return self.sure or len(self.people) > 1


class Finder:
    """Walks through a source and says what is a hand-in, what is a wrapper and what is neither.

    A folder that is nobody's and holds somebody's name may be a wrapper, or a stranger's hand-in.
    Beside hand-ins of the class it is a stranger's, and so is one that holds a single name; only
    a module or a group of the class is nobody's name for sure.
    """

    def __init__(self, matcher: Matcher, modules: Iterable[str]) -> None:
        self._matcher = matcher
        self._modules = sorted(modules, key=len, reverse=True)
        self._doubtful: set[str] = set()
        self.passed: list[Passed] = []

    def find(self, source: Path) -> list[Unit]:
        """The hand-ins in a folder, a zip or a notebook."""
        entries = read_source(source, self.passed)
        if _is_one_persons(source, entries, self._matcher):
            name = source.resolve().name if source.is_dir() else source.stem
            entries = [e.at(name, *e.parts) for e in entries]
        elif not source.is_dir():
            entries = _without_sole_wrapper(entries, self._matcher, source.stem)
        platform = NBGRADER if source.resolve().name == NBGRADER_TREE else PLAIN
        units = _merged(self._below(entries, platform, "", _DEEPEST, None))
        for unit in units:
            if unit.claim.found in self._doubtful:
                unit.remarks.append(DOUBTFUL)
        return units

    def whole(self, source: Path, found: str) -> list[Unit]:
        """All of a source as one person's hand-in."""
        entries = [e.at(found, *e.parts) for e in read_source(source, self.passed)]
        return [Unit(Claim(found, name=found), entries)]

    def _below(
        self, entries: list[Entry], platform: str, module: str, depth: int, budget: Budget | None
    ) -> list[tuple[Claim, list[Entry]]]:
        groups: dict[str, list[Entry]] = {}
        for entry in entries:
            groups.setdefault(entry.parts[0], []).append(entry)
        claims = {n: Claim(n, platform, name=n, module=module) for n in groups}
        nobodys = [n for n, group in groups.items() if self._may_wrap(claims[n], group)]
        inside = {n: self._look_into(groups[n], depth, budget) for n in nobodys}
        of_persons = len(nobodys) < len(groups) and any(
            self._is_somebodys(claims[n], group) for n, group in groups.items() if n not in inside
        )
        if of_persons or not any(found.is_wrapper_anywhere for found in inside.values()):
            inside = {n: self._if_nobodys_name(n, found) for n, found in inside.items()}
        return [
            found
            for name, group in groups.items()
            for found in self._group(group, claims[name], depth, budget, inside.get(name))
        ]

    def _may_wrap(self, claim: Claim, group: list[Entry]) -> bool:
        """Whether it is a folder or a zip that names nobody in the class."""
        top = group[0]
        is_folder = len(group) > 1 or top.kind == FOLDER
        if not is_folder and not top.zip_stem:
            return False
        if claim.name == NBGRADER_TREE and is_folder:
            return False
        return not self._is_somebodys(claim, group)

    def _is_somebodys(self, claim: Claim, group: list[Entry]) -> bool:
        """Whether the name alone says whose it is."""
        top = group[0]
        if claim.platform != NBGRADER and read_claim(claim.name):
            return True
        if len(group) > 1 or top.kind == FOLDER:
            return self._matcher.knows(claim.name)
        stem = top.zip_stem or (top.notebook_stem if top.is_notebook else None)
        return stem is not None and (
            self._matcher.knows(stem) or self._matcher.knows(self._without_module(stem))
        )

    def _if_nobodys_name(self, name: str, found: _Inside) -> _Inside:
        """As no wrapper, unless nobody can be called like that."""
        stem = name[: -len(".zip")] if name.lower().endswith(".zip") else name
        if not found.people or stem in self._modules or self._matcher.is_group(stem):
            return found
        self._doubtful.update((name, stem))
        return _Inside(found.entries)

    def _group(
        self,
        group: list[Entry],
        claim: Claim,
        depth: int,
        budget: Budget | None,
        inside: _Inside | None,
    ) -> list[tuple[Claim, list[Entry]]]:
        """A claim for everything under one name, or what lies in it where it is a wrapper.

        claim : what the name alone says
        inside : of a folder or zip that is nobody's
        """
        top, name = group[0], claim.name
        if claim.platform != NBGRADER and (own := read_claim(name)):
            return [(replace(own, module=own.module or claim.module), group)]
        if inside is not None and inside.people and depth:
            self.passed += inside.passed
            module = self._module(claim, top)
            return self._below(inside.entries, claim.platform, module, depth - 1, budget)
        if len(group) > 1 or top.kind == FOLDER:
            return self._folder(claim, group, depth, budget)
        if top.zip_stem:
            who = self._without_module(top.zip_stem)
            return [(replace(claim, found=top.zip_stem, name=who), [top])]
        if top.is_notebook:
            who = self._without_module(top.notebook_stem or "")
            return [(replace(claim, found=top.notebook_stem, name=who), group)]
        if top.kind != FILE and (self._matcher.knows(name) or top.notebook_stem):
            return [(claim, group)]
        self.passed.append(Passed(top.path, _no_hand_in(top)))
        return []

    def _folder(
        self, claim: Claim, group: list[Entry], depth: int, budget: Budget | None
    ) -> list[tuple[Claim, list[Entry]]]:
        inner = [e.at(*e.parts[1:]) for e in group if len(e.parts) > 1]
        if self._matcher.knows(claim.name):
            return [(claim, group)]
        if claim.name == NBGRADER_TREE and inner:
            return self._below(inner, NBGRADER, claim.module, depth - 1, budget)
        if not inner:
            self.passed.append(Passed(claim.name, "an empty folder, of nobody in the class"))
            return []
        return [(claim, group)]

    def _look_into(self, group: list[Entry], depth: int, budget: Budget | None) -> _Inside:
        """What lies in a folder or zip that is nobody's."""
        top, passed = group[0], []
        if len(group) > 1 or top.kind == FOLDER:
            inner = [e.at(*e.parts[1:]) for e in group if len(e.parts) > 1]
        else:
            budget = budget or _budget(top)
            inner = self._peek(top, passed, budget) if depth else []
        if not depth:
            return _Inside(inner)
        people, sure = self._people(inner, depth - 1, budget)
        return _Inside(inner, frozenset(people), sure, tuple(passed))

    def _peek(self, top: Entry, passed: list[Passed], budget: Budget | None) -> list[Entry]:
        """What lies in a zip; nothing where it cannot be opened, which is said when it is read."""
        try:
            inner = inside(top, passed, budget)
        except UserError:
            return []
        above = len(top.parts)
        return _without_sole_wrapper([e.at(*e.parts[above:]) for e in inner], self._matcher)

    def _module(self, claim: Claim, top: Entry) -> str:
        name = top.zip_stem or claim.name
        return name if name in self._modules else claim.module

    def _people(
        self, inner: list[Entry], depth: int, budget: Budget | None
    ) -> tuple[set[str], bool]:
        """The names of the hand-ins in a folder, none where its things are no hand-ins; and
        whether a platform has named them."""
        tops = [e for e in inner if len(e.parts) == 1]
        if claimed := {e.name for e in tops if read_claim(e.name)}:
            return claimed, True
        if notebooks := [e for e in tops if e.is_notebook]:
            names = {self._without_module(e.notebook_stem or "") for e in notebooks}
            known = len(names) > 1 and all(self._matcher.knows(n) for n in names)
            return (names if known else set()), False
        holders = [e.zip_stem or e.name for e in tops if e.kind == FOLDER or e.zip_stem]
        names = {n for n in holders if self._matcher.knows(n)}
        if NBGRADER_TREE in holders:
            tree = (e.parts[1] for e in inner if len(e.parts) > 1 and e.parts[0] == NBGRADER_TREE)
            names.update(tree)
        if names or not depth:
            return names, False
        return self._people_below(inner, tops, depth - 1, budget)

    def _people_below(
        self, inner: list[Entry], tops: list[Entry], depth: int, budget: Budget | None
    ) -> tuple[set[str], bool]:
        """The same of the folders and zips in a folder."""
        folders: dict[str, list[Entry]] = {}
        for entry in inner:
            if len(entry.parts) > 1:
                folders.setdefault(entry.parts[0], []).append(entry.at(*entry.parts[1:]))
        found = [self._people(below, depth, budget) for below in folders.values()]
        for zipped in tops:
            if zipped.zip_stem:
                own = budget or _budget(zipped)
                found.append(self._people(self._peek(zipped, [], own), depth, own))
        return {name for names, _ in found for name in names}, any(sure for _, sure in found)

    def _without_module(self, stem: str) -> str:
        """ "ann" of "ann_02_loops", "02_loops-ann" and "ann": whose a loose notebook may be."""
        for module in self._modules:
            for cut in (stem.removesuffix(module), stem.removeprefix(module)):
                if cut != stem and cut.strip(" _-.()"):
                    return cut.strip(" _-.")
        return stem


def _budget(top: Entry) -> Budget | None:
    """How much may be opened to find out whether a zip holds hand-ins, zips in it included; as
    much as it takes for one that lies in a folder, which a person put there."""
    return None if top.open else Budget()


def _no_hand_in(entry: Entry) -> str:
    if entry.kind == FILE:
        return "neither a notebook, a zip nor a student's folder"
    return f"a {entry.kind}, not followed" if entry.kind == "link" else "not a regular file"


def _is_one_persons(source: Path, entries: list[Entry], matcher: Matcher) -> bool:
    """A zip with one notebook at its top and none below; a folder like that which is called as
    somebody in the class."""
    notebooks = [e for e in entries if e.notebook_stem]
    if len(notebooks) != 1 or len(notebooks[0].parts) != 1 or read_claim(notebooks[0].name):
        return False
    if source.is_dir():
        return matcher.knows(source.resolve().name)
    return source.suffix.lower() == ".zip"


def _without_sole_wrapper(
    entries: list[Entry], matcher: Matcher, stem: str | None = None
) -> list[Entry]:
    """Without what a packer put around everything: the only folder of a zip, with folders in it.

    stem : the zip's name, if it is the source; one folder in one of another name may be a
        stranger's
    """
    tops = {e.parts[0] for e in entries}
    top = next(iter(tops), "")
    if len(tops) != 1 or read_claim(top) or matcher.knows(top) or top == NBGRADER_TREE:
        return entries
    second = [e for e in entries if len(e.parts) == 2]
    if stem not in (None, top) and len(second) < 2:
        return entries
    if any(e.kind == FOLDER for e in second) and not any(e.is_notebook for e in second):
        return [e.at(*e.parts[1:]) for e in entries if len(e.parts) > 1]
    return entries


# -- several files of one person


def _merged(claims: list[tuple[Claim, list[Entry]]]) -> list[Unit]:
    """Platforms that spread one hand-in over several files: together again."""
    units: list[Unit] = []
    spread: dict[tuple[str, str, str], list[tuple[Claim, Entry]]] = {}
    for claim, entries in claims:
        moved = [_own_name(claim, e) for e in entries]
        if claim.platform in (CANVAS, MOODLE):
            key = (claim.platform, claim.found, claim.module)
            spread.setdefault(key, []).extend((claim, e) for e in moved)
        else:
            units.append(Unit(claim, moved))
    for parts in spread.values():
        units += _uploads(parts)
    return units


def _own_name(claim: Claim, entry: Entry) -> Entry:
    """The path as the student made it, below the name under which it is found."""
    rest = entry.parts[1:] or ((claim.file,) if claim.file else ())
    if not rest and entry.kind != FOLDER:
        rest = (entry.name,)
    return entry.at(claim.found, *rest)


def _uploads(parts: list[tuple[Claim, Entry]]) -> list[Unit]:
    """One person's files at a platform: the newest upload of each, then the earlier ones."""
    newest: dict[str, tuple[Upload, Claim, Entry]] = {}
    units, together = [], []
    for claim, entry in sorted(parts, key=lambda p: (later_upload(p[1].name)[1], p[0].upload)):
        if claim.platform != CANVAS or not (entry.is_notebook or entry.zip_stem):
            together.append((claim, entry))
            continue
        first, number = later_upload(entry.name)
        if first in newest:
            upload, older_claim, older = newest[first]
            units.append(Unit(older_claim, [older], upload))
        newest[first] = Upload(first, number, claim.upload), claim, entry
    return [_newest(newest, together), *units] if newest or together else units


def _newest(
    newest: dict[str, tuple[Upload, Claim, Entry]], together: list[tuple[Claim, Entry]]
) -> Unit:
    """The hand-in that counts, under the names its files had when they were handed in first."""
    entries, remarks = [entry for _, entry in together], []
    for first, (_, _, entry) in newest.items():
        if first != entry.name:
            remarks.append(f"the newest upload is {entry.name}")
        entries.append(entry.at(*entry.parts[:-1], first))
    claims = [claim for _, claim, _ in newest.values()] or [claim for claim, _ in together]
    last = max(claims, key=lambda c: c.upload)
    uploads = [upload for upload, _, _ in newest.values()]
    upload = max(uploads, key=lambda u: u.upload) if uploads else Upload(upload=last.upload)
    late = any(claim.late for claim in claims)
    return Unit(replace(last, late=late), entries, upload, remarks)
