"""Imported by the first cell of every module: this course folder, and errors in one line.

`tinykernels` is taken from the course folder that the notebook lies in, whatever else is installed:
the nearest folder upwards that holds `modules/` and `tinykernels/` comes first on sys.path.
Prints nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

PACKAGE = "tinykernels"


def put_first(folder: Path) -> None:
    """Put a folder first on sys.path, and forget a package that was imported from another one."""
    text = str(folder)
    sys.path[:] = [text, *(entry for entry in sys.path if entry != text)]
    loaded = getattr(sys.modules.get(PACKAGE), "__path__", None)
    if loaded is not None and str(folder / PACKAGE) not in list(loaded):
        for name in [n for n in sys.modules if n == PACKAGE or n.startswith(PACKAGE + ".")]:
            del sys.modules[name]


def course_folder(user_names: dict[str, Any]) -> Path | None:
    """The course folder above the notebook, or above the working folder."""
    from tito.checks.module import notebook_path
    from tito.course import find_root
    from tito.errors import UserError

    notebook = notebook_path(user_names)
    for start in ([notebook.parent] if notebook else []) + [Path.cwd()]:
        try:
            return find_root(start)
        except UserError:
            continue
    return None


def set_up() -> None:
    """What importing this module does."""
    from tito.checks.display import install_in_notebook
    from tito.checks.shell import running_shell

    shell = running_shell()
    folder = course_folder(shell.user_ns if shell else {})
    if folder is not None:
        put_first(folder)
    install_in_notebook()


set_up()
