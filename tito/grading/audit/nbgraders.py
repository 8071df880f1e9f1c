"""A command of nbgrader in a process of its own, as `python -m nbgrader` would run it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tito.files import write_atomic

# The grammars of a URI checker, which nbgrader imports and nobody here needs: they take as long as
# the rest of it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# What its commands import; a process from which others are forked has it already.
LOADED = ("nbgrader.apps.nbgraderapp", "nbclient", "nbgrader.api")
# Below a course's folder: what the code of a notebook put out.
EXECUTED = ".executed"


def run(words: Sequence[str], folder: Path, environment: Mapping[str, str], printed: Path) -> None:
    """Run the command in this process, which ends with it.

    folder      : the course's
    environment : all of it
    printed     : the file into which everything goes that it prints
    """
    target = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["nbgrader", *words]
    from nbgrader.apps.nbgraderapp import main

    execute_once(folder / EXECUTED)
    main()


def execute_once(kept: Path) -> None:
    """From now on code that a command has executed is not executed again by the next.

    The reference that is validated and the one that is handed in are the same code; all that
    nbgrader makes of its outputs still happens. What differs in a single character is executed.

    kept : a folder for the outputs, of one module
    """
    from nbformat import from_dict
    from nbgrader.preprocessors import Execute

    execute = Execute.preprocess

    def preprocess(self: Execute, nb: Any, *args: Any, **options: Any) -> tuple[Any, Any]:
        file = kept / f"{_code_of(nb)}.json"
        if not file.is_file():
            nb, resources = execute(self, nb, *args, **options)
            told = {"cells": nb.cells, "language_info": nb.metadata.get("language_info", {})}
            write_atomic(file, json.dumps(told))
            return nb, resources
        known = from_dict(json.loads(file.read_text("utf-8")))
        nb.metadata["language_info"] = known["language_info"]
        for cell, was in zip(_code_cells(nb), _code_cells(known)):
            cell["outputs"], cell["execution_count"] = was["outputs"], was["execution_count"]
        return nb, args[0] if args else options.get("resources")

    Execute.preprocess = preprocess


def _code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _code_of(notebook: Any) -> str:
    """A name for the code of all cells, in their order."""
    code = [cell["source"] for cell in _code_cells(notebook)]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()
