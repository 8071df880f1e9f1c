"""The package of earlier modules: what its files bind, as helpers that the notebook imports.

A path such as `tinykernels.vectorized.softmax` names a definition in one of its files. Files are
parsed when a path first leads into them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from .bindings import Import
from .cells import Cell, read_module
from .names import Names


def read_package(folder: Path, parts: Iterable[str] | None = None) -> dict[str, str]:
    """The sources of a package by the names they are imported under.

    folder : the package, "…/tinykernels"
    parts  : which of its files and sub-packages, by name without ending; None for all

    >>> read_package(Path("no such folder"))
    {}
    """
    wanted = None if parts is None else set(parts)
    found = {}
    for file in sorted(folder.rglob("*.py")):
        inside = file.relative_to(folder).with_suffix("").parts
        if wanted is not None and inside[0] not in wanted:
            continue
        names = inside[:-1] if inside[-1] == "__init__" else inside
        found[".".join([folder.name, *names])] = file.read_text(encoding="utf-8", errors="replace")
    return found


class Package:
    """Definitions of a package's modules, by path.

    sources : dotted name of a module -> its text
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._read: dict[str, Names] = {}
        self._expanding: set[str] = set()

    def is_module(self, path: str) -> bool:
        return path in self._sources

    def names(self, module: str) -> Names:
        """What a module's names stand for."""
        if module not in self._read:
            holds_others = any(name.startswith(f"{module}.") for name in self._sources)
            package = module if holds_others else module.rpartition(".")[0]
            cell = read_module(module, self._sources[module], package)
            self._read[module] = Names([cell], self)
        return self._read[module]

    def cell(self, module: str) -> Cell:
        return self.names(module).cells[0]

    def definition(self, path: str) -> tuple[str, str] | None:
        """(module, name) of the definition that a path leads to or into; None if to none."""
        module, rest = self._split(path)
        if module is None or not rest:
            return None
        name = rest[0]
        return (module, name) if name in self.cell(module).defined else None

    def nodes(self, module: str, name: str) -> list[ast.AST | Import]:
        """What a module binds a name to."""
        return self.cell(module).defined[name]

    def expand(self, path: str) -> set[str]:
        """A path and what it stands for: a package's `np.dot` is numpy.dot."""
        found = {path}
        module, rest = self._split(path)
        if module is None or not rest or path in self._expanding:
            return found
        self._expanding.add(path)
        try:
            for made in self.names(module).global_paths(rest[0]):
                found |= self.expand(".".join([made, *rest[1:]]))
        finally:
            self._expanding.discard(path)
        return found

    def _split(self, path: str) -> tuple[str | None, list[str]]:
        """The longest module that a path begins with, and the names behind it."""
        words = path.split(".")
        for length in range(len(words), 0, -1):
            module = ".".join(words[:length])
            if module in self._sources:
                return module, words[length:]
        return None, words
