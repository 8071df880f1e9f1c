"""From notebooks to blocks: which cells go into which file of the package, and what is odd."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tito.errors import Problems, UserError
from tito.export import target as targets
from tito.export.cell import Block, Origin, read
from tito.notebook import Cell, Directive, Notebook, Role, stray_directives
from tito.notebook.model import exercises


@dataclass
class Gathered:
    """What one module gives to the package."""

    module: str
    notebook: Notebook
    default: str | None
    blocks: list[Block] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[UserError] = field(default_factory=list)

    @property
    def targets(self) -> list[str]:
        return list(dict.fromkeys(b.target for b in self.blocks))

    def of_target(self, target: str) -> list[Block]:
        return [b for b in self.blocks if b.target == target]


def raise_all(problems: list[UserError]) -> None:
    raise problems[0] if len(problems) == 1 else Problems(problems)


def gather(module: str, notebook: Notebook) -> Gathered:
    """All blocks of a module; problems are collected, so that one run names them all."""
    result = Gathered(module, notebook, None)
    numbers = {id(e.solution): e.number for e in exercises(notebook)}
    origins = [Origin(module, notebook.path, c, numbers.get(id(c))) for c in notebook.cells]
    for origin in origins:
        result.warnings += _odd_directives(origin)
    _find_default(origins, result)
    for origin in origins:
        try:
            _add(origin, result)
        except UserError as error:
            result.problems.append(error)
    return result


def _odd_directives(origin: Origin) -> list[str]:
    cell = origin.cell
    return [
        origin.warning(f"{why}; this line does nothing", line)
        for line, _, why in stray_directives(cell.source, cell.kind == "code")
    ]


def _find_default(origins: Iterable[Origin], result: Gathered) -> None:
    first: tuple[Origin, Directive] | None = None
    for origin in origins:
        for directive in _directives(origin.cell, "default_exp"):
            if first is not None:
                result.problems.append(
                    origin.error(
                        f"a second default_exp: {first[0].cell.label} names {first[1].value!r}",
                        directive.line,
                        "a notebook has one; send a cell elsewhere with #| export NAME",
                    )
                )
                return
            first = (origin, directive)
    if first is not None:
        result.default = _checked(first[0], first[1], result)


def _checked(origin: Origin, directive: Directive, result: Gathered) -> str | None:
    try:
        return targets.check(directive.value)
    except UserError as error:
        result.problems.append(origin.error(error.message, directive.line, error.hint))
        return None


def _directives(cell: Cell, name: str) -> list[Directive]:
    return [d for d in cell.directives if d.name == name]


def _add(origin: Origin, result: Gathered) -> None:
    exports = _directives(origin.cell, "export")
    if not exports:
        return
    line = exports[0].line
    if len(exports) > 1:
        raise origin.error("two export directives in one cell", exports[1].line)
    if origin.cell.role in (Role.TEST, Role.MEASURE):
        raise origin.error(f"a {origin.cell.role} cell cannot be exported", line)
    if exports[0].value:
        target = _checked(origin, exports[0], result)
    elif _directives_of_notebook(result.notebook):
        target = result.default
    else:
        raise origin.error(
            "#| export in a notebook that names no file of the package",
            line,
            "begin the notebook with a cell #| default_exp NAME",
        )
    if target is None:  # its own directive was reported already
        return
    block = read(origin, target, first=target not in result.targets)
    result.warnings += block.warnings
    if not block.tree.body:
        result.warnings.append(origin.warning("nothing to export in this cell", line))
    else:
        result.blocks.append(block)


def _directives_of_notebook(notebook: Notebook) -> bool:
    return any(_directives(c, "default_exp") for c in notebook.cells)
