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


class Finder:
    """Walks through a source and says what is a hand-in, what is a wrapper and what is neither."""

    def __init__(self, matcher: Matcher, modules: Iterable[str]) -> None:
        self._matcher = matcher
        self._modules = sorted(modules, key=len, reverse=True)
        self.passed: list[Passed] = []

    def find(self, source: Path) -> list[Unit]:
        """The hand-ins in a folder, a zip or a notebook."""
        entries = read_source(source, self.passed)
        if _is_one_persons(source, entries, self._matcher):
            name = source.resolve().name if source.is_dir() else source.stem
            entries = [e.at(name, *e.parts) for e in entries]
        elif not source.is_dir():
            entries = _without_sole_wrapper(entries, self._matcher)
        platform = NBGRADER if source.resolve().name == NBGRADER_TREE else PLAIN
        return _merged(self._below(entries, platform, "", _DEEPEST, None))

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
        return [
            found
            for name, group in groups.items()
            for found in self._group(
                group, Claim(name, platform, name=name, module=module), depth, budget
            )
        ]

    def _group(
        self, group: list[Entry], claim: Claim, depth: int, budget: Budget | None
    ) -> list[tuple[Claim, list[Entry]]]:
        """A claim for everything under one name, or what lies in it where it is a wrapper.

        claim : what the name alone says
        """
        top, name = group[0], claim.name
        if claim.platform != NBGRADER and (own := read_claim(name)):
            return [(replace(own, module=own.module or claim.module), group)]
        if len(group) > 1 or top.kind == FOLDER:
            return self._folder(claim, group, depth, budget)
        if top.zip_stem:
            claim = replace(claim, found=top.zip_stem, name=top.zip_stem)
            return self._zip(claim, top, depth, budget)
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
        if depth and self._is_wrapper(inner, depth - 1, budget):
            return self._below(inner, claim.platform, self._module(claim), depth - 1, budget)
        if not inner:
            self.passed.append(Passed(claim.name, "an empty folder, of nobody in the class"))
            return []
        return [(claim, group)]

    def _zip(
        self, claim: Claim, top: Entry, depth: int, budget: Budget | None
    ) -> list[tuple[Claim, list[Entry]]]:
        alone = [(replace(claim, name=self._without_module(claim.name)), [top])]
        if self._matcher.knows(claim.name) or self._matcher.knows(alone[0][0].name) or not depth:
            return alone
        passed: list[Passed] = []
        budget = budget or _budget(top)
        inner = self._peek(top, passed, budget)
        if not self._is_wrapper(inner, depth - 1, budget):
            return alone
        self.passed += passed
        return self._below(inner, claim.platform, self._module(claim), depth - 1, budget)

    def _peek(self, top: Entry, passed: list[Passed], budget: Budget | None) -> list[Entry]:
        """What lies in a zip; nothing where it cannot be opened, which is said when it is read."""
        try:
            inner = inside(top, passed, budget)
        except UserError:
            return []
        above = len(top.parts)
        return _without_sole_wrapper([e.at(*e.parts[above:]) for e in inner], self._matcher)

    def _module(self, claim: Claim) -> str:
        return claim.name if claim.name in self._modules else claim.module

    def _is_wrapper(self, inner: list[Entry], depth: int, budget: Budget | None) -> bool:
        """Whether the things in a folder are hand-ins themselves."""
        tops = [e for e in inner if len(e.parts) == 1]
        if any(read_claim(e.name) for e in tops):
            return True
        notebooks = [e for e in tops if e.is_notebook]
        if notebooks:
            names = {self._without_module(e.notebook_stem or "") for e in notebooks}
            return len(names) > 1 and all(self._matcher.knows(n) for n in names)
        holders = [e.zip_stem or e.name for e in tops if e.kind == FOLDER or e.zip_stem]
        if any(self._matcher.knows(n) or n == NBGRADER_TREE for n in holders):
            return True
        return depth > 0 and self._holds_a_wrapper(inner, tops, depth - 1, budget)

    def _holds_a_wrapper(
        self, inner: list[Entry], tops: list[Entry], depth: int, budget: Budget | None
    ) -> bool:
        folders: dict[str, list[Entry]] = {}
        for entry in inner:
            if len(entry.parts) > 1:
                folders.setdefault(entry.parts[0], []).append(entry.at(*entry.parts[1:]))
        if any(self._is_wrapper(below, depth, budget) for below in folders.values()):
            return True
        return any(
            self._is_wrapper(self._peek(zipped, [], own), depth, own)
            for zipped in tops
            if zipped.zip_stem
            for own in [budget or _budget(zipped)]
        )

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


def _without_sole_wrapper(entries: list[Entry], matcher: Matcher) -> list[Entry]:
    """What a packer put around everything: the only folder of a zip, with folders in it."""
    tops = {e.parts[0] for e in entries}
    top = next(iter(tops), "")
    if len(tops) != 1 or read_claim(top) or matcher.knows(top) or top == NBGRADER_TREE:
        return entries
    second = [e for e in entries if len(e.parts) == 2]
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
