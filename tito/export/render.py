"""The text of one file of the package."""

from __future__ import annotations

import re
import textwrap

from tito.export.imports import LINE_LENGTH, listed, render
from tito.export.resolve import File
from tito.export.target import import_name
from tito.notebook import Notebook

# A file that begins so is ours: it may be replaced, and removed when nothing exports it any more.
_HEADER = "# Built from module {module} by tito export; edit the module, not this file."
# A folder's file belongs to every module that exports into the folder.
_PACKAGE_HEADER = "# Built from the modules by tito export; edit them, not this file."
_HEADER_LINE = re.compile(r"# Built from module (.+) by tito export; edit the module.*")
# The package of a fresh kit consists of stubs with this line.
STUB_LINE = "# A stub of the kit."


def built_from(text: str) -> str | None:
    """The module that a file of the package was built from; None for a file that is not ours."""
    match = _HEADER_LINE.fullmatch(text.split("\n", 1)[0].strip())
    return match[1] if match else None


def is_ours(text: str) -> bool:
    lines = text.split("\n")[:6]
    return built_from(text) is not None or lines[0] == _PACKAGE_HEADER or STUB_LINE in lines


def is_package_file(text: str) -> bool:
    """Is this an `__init__.py` of ours?"""
    return text.split("\n", 1)[0] == _PACKAGE_HEADER


def file_text(file: File) -> str:
    """The whole file: header, docstring, imports, `__all__`, and a block for each cell."""
    docstring = next((b.docstring for b in file.blocks if b.docstring), None)
    head = [
        _HEADER.format(module=file.module.module)
        + "\n"
        + (docstring or _docstring(file.module.notebook, file.module.module)),
        render(file.imports, file.used),
        listed(n for b in file.blocks for n in b.public),
    ]
    blocks = [f"{b.title}\n{b.body}" for b in file.blocks if b.body.strip()]
    return "\n\n\n".join(["\n\n".join(part for part in head if part), *blocks]) + "\n"


def package_text(package: str) -> str:
    """The `__init__.py` of a sub-package: it makes the folder importable and holds nothing."""
    return f'{_PACKAGE_HEADER}\n"""The files of {import_name(package)}."""\n'


def _docstring(notebook: Notebook, module: str) -> str:
    """The module's title as a docstring."""
    title = _title(notebook) or f"What module {module} builds"
    title = title.replace("\\", "\\\\").replace('"""', "'''")
    title += "" if title[-1] in ".!?" else "."
    lines = textwrap.wrap(title, LINE_LENGTH - 6) or [title]
    return '"""' + "\n".join(lines) + ('"""' if len(lines) == 1 else '\n"""')


def _title(notebook: Notebook) -> str | None:
    """The first heading of the notebook, without the module's number."""
    for cell in notebook.cells:
        if cell.kind == "markdown":
            for line in cell.source.split("\n"):
                if match := re.fullmatch(r"#\s+(?:\d+\s*[.:·-]?\s*)?(\S.*?)\s*#*", line):
                    return match[1]
    return None
