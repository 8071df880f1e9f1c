"""Does every name of a file exist there, once, and before it is needed?"""

from __future__ import annotations

import builtins
from collections.abc import Container, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from tito.errors import UserError
from tito.export import target as targets
from tito.export.cell import Block
from tito.export.gather import Gathered
from tito.export.imports import FUTURE, Import
from tito.export.target import import_name
from tito.notebook import names as scan

_OF_EVERY_MODULE = {"__name__", "__file__", "__doc__", "__package__", "__spec__", "__loader__"}
KNOWN = {*dir(builtins), *_OF_EVERY_MODULE, "__annotations__", "__builtins__"}


def clashes(modules: Sequence[Gathered], others: Sequence[Gathered] = ()) -> list[UserError]:
    """Public names of `modules` that two cells make, and files that two modules write.

    others : modules that are not exported now; clashes among them are none of ours
    """
    asked = {m.module for m in modules}
    problems: list[UserError] = []
    made: dict[str, Block] = {}
    owners: dict[str, Block] = {}
    told: set[tuple[str, str]] = set()
    for block in (b for m in (*others, *modules) for b in m.blocks):
        owner = owners.setdefault(block.target, block)
        if owner.origin.module != block.origin.module:
            pair = (block.target, block.origin.module)
            if pair not in told and block.origin.module in asked:
                problems.append(_two_owners(block, owner))
            told.add(pair)
            continue
        for name, line in block.public.items():
            first = made.setdefault(name, block)
            if first is not block and block.origin.module in asked:
                problems.append(_two_makers(block, first, name, line))
    return problems + _folders(owners, asked)


def _two_owners(block: Block, owner: Block) -> UserError:
    return block.origin.error(
        f"{import_name(block.target)} is the target of {owner.origin} too",
        _export_line(block),
        "give one of the two modules another default_exp",
    )


def _two_makers(block: Block, first: Block, name: str, line: int) -> UserError:
    return block.origin.error(
        f"{name} is a public name of {first.origin} too",
        line,
        "rename one of the two, or begin it with _",
    )


def _folders(owners: dict[str, Block], asked: set[str]) -> list[UserError]:
    """A target cannot be a file and the folder of another."""
    return [
        owners[outer].origin.error(
            f"{outer} cannot be a file: {block.target}, of {block.origin}, needs the folder",
            _export_line(owners[outer]),
        )
        for block in owners.values()
        for outer in targets.packages_of(block.target)
        if outer in owners and asked & {block.origin.module, owners[outer].origin.module}
    ]


def _export_line(block: Block) -> int | None:
    directive = block.origin.cell.directive("export")
    return directive.line if directive else None


class File:
    """The blocks of one target and what is known about their names."""

    def __init__(self, module: Gathered, target: str) -> None:
        self.module = module
        self.target = target
        self.blocks = module.of_target(target)
        self.imports = [i for b in self.blocks for i in b.imports]
        self.warnings: list[str] = []
        self.problems: list[UserError] = []
        self._resolve()

    @property
    def used(self) -> set[str]:
        return {
            n for b in self.blocks for n in (*b.names.used, *b.names.annotated, *b.names.quoted)
        }

    @cached_property
    def assigned(self) -> dict[str, Block]:
        """name -> the first block that makes it (not by an import at the top of a cell)."""
        found: dict[str, Block] = {}
        for block in self.blocks:
            for name in self._made_by(block):
                found.setdefault(name, block)
        return found

    def _made_by(self, block: Block) -> set[str]:
        moved = {i.bound for i in block.imports}
        return block.names.assigned | (block.names.imported - moved)

    def _resolve(self) -> None:
        self._imports_clash()
        self._made_twice()
        self._hides_builtin()
        needs_now = not any(i.module == FUTURE and i.name == "annotations" for i in self.imports)
        for block in self.blocks:
            wanted = dict(block.names.used)
            if needs_now:
                wanted = {**block.names.annotated, **wanted}
            for name, line in wanted.items():
                self._find(block, name, line)
        self._in_order()

    def _imports_clash(self) -> None:
        """One name for two things: the merged imports could hold only one of them."""
        first: dict[str, tuple[Block, Import]] = {}
        for block in self.blocks:
            for one in block.imports:
                before, other = first.setdefault(one.bound, (block, one))
                if other.what != one.what and one.module != FUTURE:
                    self._problem(block, one.bound, f"{one.bound} is another import in", before)
        for name, block in self.assigned.items():
            if name in first and first[name][1].module != FUTURE:
                self._problem(block, name, f"{name} is made here, but imported in", first[name][0])

    def _problem(self, block: Block, name: str, message: str, other: Block) -> None:
        line = block.public.get(name) or _line_of(block, name)
        self.problems.append(
            block.origin.error(f"{message} {other.origin.cell.label}", line, "rename one of them")
        )

    def _made_twice(self) -> None:
        """Two cells with one private name: as in the notebook the later one counts."""
        first: dict[str, Block] = {}
        for block in self.blocks:
            for name in sorted(block.names.assigned):
                before = first.setdefault(name, block)
                if before is not block and name not in block.public and name.strip("_"):
                    self.warnings.append(
                        block.origin.warning(
                            f"{name} is made by {before.origin.cell.label} too; the later counts",
                            _line_of(block, name) or 1,
                        )
                    )

    def _hides_builtin(self) -> None:
        for block in self.blocks:
            for name, line in block.public.items():
                if name in KNOWN:
                    self.warnings.append(
                        block.origin.warning(f"{name} hides Python's own {name} in this file", line)
                    )

    def _find(self, block: Block, name: str, line: int) -> None:
        """Note where `name` comes from; a problem if the file would not know it."""
        if name in KNOWN or name in self.assigned or any(i.bound == name for i in self.imports):
            return
        if elsewhere := self._of_other_file(name):
            self.imports.append(elsewhere)
            return
        if any(b.missing and not b.public for b in self.blocks):
            return  # an exercise that is not written at all would have made it
        self.problems.append(self._unknown(block, name, line))

    def _of_other_file(self, name: str) -> Import | None:
        """The import that gives this file a name of another file of the same module."""
        for other in self.module.blocks:
            for one in other.imports:
                if one.bound == name:
                    return Import(one.module, one.name, one.alias)
            if other.target != self.target and name in other.names.assigned:
                return Import(import_name(other.target), name)
        return None

    def _unknown(self, block: Block, name: str, line: int) -> UserError:
        for cell in self.module.notebook.cells:
            if cell.kind == "code" and name in {*scan.bound(cell.source)[0]}:
                return block.origin.error(
                    f"{name} is not in the package: {cell.label} makes it and is not exported",
                    line,
                    f"write #| export on the first line of {cell.label}",
                )
            if cell.kind == "code" and name in scan.bound(cell.source)[1]:
                return block.origin.error(
                    f"{name} is not in the package: {cell.label} imports it and is not exported",
                    line,
                    f"copy the import into this cell, or write #| export above it in {cell.label}",
                )
        where = "notebooks only" if name in ("display", "get_ipython", "In", "Out") else None
        return block.origin.error(
            f"{name} is there in {where}" if where else f"no cell, import or builtin makes {name}",
            line,
            f"take {name} out of the exported cell" if where else "is it misspelt?",
        )

    def _in_order(self) -> None:
        """What a statement needs at once must stand above it."""
        later = self.assigned
        known = KNOWN | {i.bound for i in self.imports}
        for block in self.blocks:
            made = self._made_by(block)
            for statement in block.tree.body:
                bound = scan.bound_by(statement)
                now = made & bound
                for name, line in scan.at_import(statement).items():
                    if name in later and name not in known | now:
                        self.problems.append(
                            block.origin.error(
                                f"{name} is needed here, but {later[name].origin.cell.label} "
                                "makes it further down",
                                line,
                                "move that cell above this one",
                            )
                        )
                known |= bound


def _line_of(block: Block, name: str) -> int | None:
    for statement in block.tree.body:
        if name in scan.bound_by(statement):
            return statement.lineno
    return None


def circles(files: list[File], others: list[File]) -> list[UserError]:
    """Files that need each other's names, in a circle of any length that meets one of `files`.

    others : files of modules that are not exported now
    """
    all_files = {f.target: f for f in [*others, *files]}
    try:
        TopologicalSorter({t: _needs(f, all_files) for t, f in all_files.items()}).prepare()
    except CycleError as error:
        circle = set(error.args[1]) & {f.target for f in files}
        if not circle:
            return []
        start = all_files[min(circle)].blocks[0].origin
        names = " and ".join(import_name(t) for t in sorted(set(error.args[1])))
        return [
            start.error(
                f"{names} would import each other",
                hint="send the cells that need each other to one file",
            )
        ]
    return []


def _needs(file: File, files: Container[str]) -> list[str]:
    """The targets among `files` that this one imports."""
    prefix = import_name("")
    named = {f"{i.module}.{i.name}" if i.name else i.module for i in file.imports}
    named |= {i.module for i in file.imports}
    found = {n.removeprefix(prefix) for n in named if n.startswith(prefix)}
    return sorted(t for t in found if t in files and t != file.target)
