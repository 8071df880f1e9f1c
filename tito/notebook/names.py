"""Names that a cell binds and uses at module level, by scope (symtable), not by text."""

from __future__ import annotations

import symtable


def bound(source: str) -> tuple[set[str], set[str]]:
    """(assigned, imported): names that running the cell makes; both empty if it does not parse."""
    try:
        table = symtable.symtable(source, "<cell>", "exec")
    except (SyntaxError, ValueError):
        return set(), set()
    imported = {s.get_name() for s in table.get_symbols() if s.is_imported()}
    assigned = {s.get_name() for s in table.get_symbols() if s.is_assigned()} - imported
    for child in _descendants(table):
        assigned |= {
            s.get_name() for s in child.get_symbols() if s.is_declared_global() and s.is_assigned()
        }
    return assigned, imported


def used(source: str) -> set[str]:
    """Global names that the cell reads, in functions, classes and comprehensions too."""
    try:
        table = symtable.symtable(source, "<cell>", "exec")
    except (SyntaxError, ValueError):
        return set()
    names = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    for child in _descendants(table):
        names |= {s.get_name() for s in child.get_symbols() if s.is_global() and s.is_referenced()}
    return names


def _descendants(table: symtable.SymbolTable):
    for child in table.get_children():
        yield child
        yield from _descendants(child)
