"""Forbidden routes in plain Jupyter and nbgrader, where no judge looks at the whole notebook.

IPython keeps the source of every cell it ran. The exercise's cell there carries its own
`#| forbid: blas`; the test cell that is running now names the functions it tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any

from tito.checks.failure import CheckFailed, Failure
from tito.checks.shell import running_shell

# What was decided for the cell that is running: names -> findings.
_decided: dict[frozenset[str], list] = {}
_decided_in: list[int] = []


def refuse_forbidden(names: Iterable[str]) -> None:
    """Raise CheckFailed if a function that the test cell uses goes a way its exercise forbids.

    names : those that the check's own cell uses; it may be a given helper that the test calls
    """
    shell = running_shell()
    if shell is None:
        return
    if _decided_in != [shell.execution_count]:
        _decided_in[:] = [shell.execution_count]
        _decided.clear()
    asked = frozenset(names)
    if asked not in _decided:
        before, running = _history(shell)
        # What a measure cell compares earns nothing, and it calls library forms to stand beside.
        _decided[asked] = [] if _is_measure(running) else _search(before, running, asked)
    if _decided[asked]:
        raise CheckFailed.of(_failure(_decided[asked]))


def _is_measure(source: str) -> bool:
    return "measure" in _directives(source)


def _directives(source: str) -> set[str]:
    """The names of a cell's directives."""
    from tito.notebook import directives

    return {d.name for d in directives(source)}


def _history(shell: Any) -> tuple[dict[str, str], str]:
    """(cells that ran before this one, as typed, by the number Jupyter shows; this one).

    Of a cell that ran more than once only the last time: a test cell is run after each attempt,
    and what an earlier run of the same text bound is bound anew.
    """
    *before, running = shell.history_manager.input_hist_raw
    last = {source: i for i, source in enumerate(before) if source.strip() and source != running}
    return {f"cell [{i}]": source for source, i in sorted(last.items(), key=itemgetter(1))}, running


def _search(cells: dict[str, str], running: str, names: frozenset[str]) -> list:
    """Findings of every exercise that one of the names belongs to.

    A function belongs to the cell that defined it last.
    """
    if not any("forbid" in source for source in cells.values()):
        return []
    # Imported late: most notebooks forbid nothing.
    from tito.forbid import SETS, find, python_source, specifications, unreadable
    from tito.notebook import directives
    from tito.notebook.names import bound, used

    names |= used(python_source(running))
    package = _package()
    home: dict[str, str] = {}
    for label, source in cells.items():
        home |= dict.fromkeys(bound(source)[0] & names, label)
    given = {label for label, source in cells.items() if _looks_given(source)}
    # Grading leaves such a cell out, if it answers nothing.
    others = cells.keys() - given - set(home.values())
    cells = {k: "" if k in others and unreadable(source) else source for k, source in cells.items()}
    findings = []
    for label in dict.fromkeys(home.values()):
        words = [w for d in directives(cells[label]) if d.name == "forbid" for w in d.words]
        sets = [word for word in words if word in SETS]
        roots = [name for name, where in home.items() if where == label]
        if sets:
            others = [source for where, source in cells.items() if where not in home.values()]
            specs = specifications([running], others) if "spec" in sets else ()
            findings += find(cells, sorted(roots), sets, label, specs, package, given)
    return findings


def _looks_given(source: str) -> bool:
    """Whether a cell is one of the course's: a notebook does not tell. Those that the package is
    built from are exported, and an exercise that forbids something says so."""
    names = _directives(source)
    return bool(names & {"export", "measure"}) and "forbid" not in names


def _package() -> dict[str, str]:
    """Sources of the package that this notebook would import from."""
    import importlib.util

    from tito.forbid import read_package

    try:
        found = importlib.util.find_spec("tinykernels")
    except (ImportError, ValueError):  # something else of this name
        return {}
    places = (found.submodule_search_locations if found else None) or []
    return {name: text for place in places for name, text in read_package(Path(place)).items()}


def _failure(findings: list) -> Failure:
    from tito.forbid import SETS

    first = findings[0]
    forbidden = SETS[first.set]
    function = first.via[0] if first.via else "this exercise"
    where = [f"{f.label}, line {f.line}: {f.route}" for f in findings[:3]]
    if len(findings) > 3:
        where.append(f"and in {len(findings) - 3} more places")
    uses = "uses what cannot be read and may be" if first.hidden else "uses"
    return Failure(
        function=function,
        problem=f"{function} {uses} {forbidden.what}, which this exercise forbids",
        kind=f"{uses} {forbidden.what}, which this exercise forbids",
        rows=[("where", "\n".join(where))],
        tries=["write out what it does" if first.hidden else forbidden.advice],
    )
