"""A command of nbgrader in a process of its own, as `python -m nbgrader` would run it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# The grammars of a URI checker, which nbgrader imports and nobody here needs: they take as long as
# the rest of it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# What its commands import; a process from which others are forked has it already.
LOADED = ("nbgrader.apps.nbgraderapp", "nbclient", "nbgrader.api")


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

    main()
