"""The imports of all cells of a file: merged, unused ones dropped, in the order of isort."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from tito.export.target import PACKAGE

LINE_LENGTH = 100
FUTURE = "__future__"


@dataclass(frozen=True)
class Import:
    """One name of one import statement.

    `import a.b as c` is Import("a.b", None, "c"), `from a import b` is Import("a", "b").
    `above` and `beside` are the comments that stand over and behind the statement.
    """

    module: str
    name: str | None = None
    alias: str | None = None
    above: tuple[str, ...] = ()
    beside: str = ""

    @property
    def bound(self) -> str:
        """The name that the import makes."""
        if self.alias:
            return self.alias
        return self.name if self.name is not None else self.module.split(".")[0]

    @property
    def what(self) -> tuple[str, str | None]:
        """What that name stands for; two imports that bind it to different things are a clash."""
        if self.name is None and self.alias is None:
            return (self.module.split(".")[0], None)
        return (self.module, self.name)


def render(imports: Iterable[Import], used: set[str]) -> str:
    """The import lines of a file: sections parted by an empty line; empty without imports."""
    kept = [i for i in imports if i.module == FUTURE or i.bound in used]
    sections: list[list[Import]] = [[], [], [], []]
    for one in kept:
        sections[_section(one.module)].append(one)
    return "\n\n".join("\n".join(_lines(s)) for s in sections if s)


def _section(module: str) -> int:
    top = module.split(".")[0]
    if top == FUTURE:
        return 0
    if top in sys.stdlib_module_names:
        return 1
    return 3 if top == PACKAGE else 2


def _lines(section: list[Import]) -> list[str]:
    statements = [_Statement(*group) for group in _grouped(section)]
    return [line for s in sorted(statements, key=lambda s: s.key) for line in s.lines]


def _grouped(section: list[Import]) -> list[tuple[str, list[Import]]]:
    """(head, imports) of each statement: plain imports and renamed ones stand alone."""
    groups: dict[tuple, list[Import]] = {}
    for one in section:
        alone = one.name is None or one.alias is not None
        key = (one.module, one.name, one.alias) if alone else (one.module,)
        groups.setdefault(key, []).append(one)
    return [(members[0].module, members) for members in groups.values()]


class _Statement:
    """One import statement: what it is sorted by, and its lines."""

    def __init__(self, module: str, members: list[Import]) -> None:
        self.module = module
        self.members = sorted({(m.name, m.alias) for m in members}, key=_member_key)
        self.above = _unique(c for m in members for c in m.above)
        self.beside = "  ".join(_unique(m.beside for m in members if m.beside))

    @property
    def key(self) -> tuple:
        name, alias = self.members[0]
        plain = name is None
        first = (0, alias or "") if plain else (1, _member_key(self.members[0]))
        return (not plain, _natural(self.module.lower()), _natural(self.module), first)

    @property
    def lines(self) -> list[str]:
        name, alias = self.members[0]
        comment = f"  {self.beside}" if self.beside else ""
        if name is None:
            renamed = f" as {alias}" if alias else ""
            return [*self.above, f"import {self.module}{renamed}{comment}"]
        names = [f"{n} as {a}" if a else n for n, a in self.members]
        line = f"from {self.module} import {', '.join(names)}"
        if len(line) <= LINE_LENGTH:
            return [*self.above, line + comment]
        inner = [f"    {n}," for n in names]
        return [*self.above, f"from {self.module} import ({comment}", *inner, ")"]


def _member_key(member: tuple[str | None, str | None]) -> tuple:
    """CONSTANTS, then Classes, then the rest; 2 before 10."""
    name, alias = member
    name = name or ""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
    return (kind, _natural(name.lower()), _natural(name), alias or "")


def _natural(text: str) -> list[tuple[int, int, str]]:
    """A sort key by which numbers count as numbers."""
    parts = re.split(r"(\d+)", text)
    return [(0, int(p), p) if p.isdigit() else (1, 0, p) for p in parts if p]


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def listed(names: Iterable[str]) -> str:
    """`__all__ = [...]`, sorted as ruff sorts it, on one line where it fits."""
    ordered = sorted(set(names), key=lambda n: _member_key((n, None)))
    line = f"__all__ = [{', '.join(_quoted(n) for n in ordered)}]"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join(["__all__ = [", *(f"    {_quoted(n)}," for n in ordered), "]"])


def _quoted(name: str) -> str:
    return f'"{name}"'
