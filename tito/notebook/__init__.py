"""One in-memory model of a module, read from and written to .py (Jupytext percent) and .ipynb."""

from __future__ import annotations

from pathlib import Path

from tito.errors import UserError
from tito.files import read_text
from tito.notebook.directives import Directive, directives, stray_directives
from tito.notebook.ipynb import parse_ipynb, read_ipynb, write_ipynb
from tito.notebook.model import Cell, Notebook, Role
from tito.notebook.percent import read_py, write_py

__all__ = [
    "Cell",
    "Directive",
    "Notebook",
    "Role",
    "directives",
    "load",
    "parse_ipynb",
    "read_ipynb",
    "read_py",
    "stray_directives",
    "write_ipynb",
    "write_py",
]


def load(path: Path | str) -> Notebook:
    """The notebook in a .py or .ipynb file."""
    path = Path(path)
    text, notes = read_text(path)
    if path.suffix == ".py":
        notebook = read_py(text, path)
    elif path.suffix == ".ipynb":
        notebook = parse_ipynb(text, path)
    else:
        raise UserError("neither a .py nor an .ipynb file", path=path)
    notebook.notes[:0] = notes
    return notebook
