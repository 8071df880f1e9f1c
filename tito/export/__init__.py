"""Builds the package from the `#| export` cells of modules.

The rules in short. Names come from the syntax tree, never from text. All files are computed and
checked before one is written. One public name and one file belong to one cell and one module:
a clash is refused and names both. A name that hides a builtin is allowed, with a warning. A
`__main__` guard stays as written: it never runs on import, and what it makes is not public. Names
that a module sends to another of its files are imported from there. An exercise that is not
written becomes a stub that says which it is.
"""

from __future__ import annotations

from tito.export.cell import not_written
from tito.export.plan import (
    ExportPlan,
    Missing,
    Written,
    plan_each,
    plan_export,
    plan_notebooks,
    write,
)
from tito.export.render import STUB_LINE, built_from, is_ours

__all__ = [
    "STUB_LINE",
    "ExportPlan",
    "Missing",
    "Written",
    "built_from",
    "is_ours",
    "not_written",
    "plan_each",
    "plan_export",
    "plan_notebooks",
    "write",
]
