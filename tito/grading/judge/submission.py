"""A hand-in's bytes to cells, or the reason why there are none. Nothing in here runs code."""

from __future__ import annotations

import json
import re
from typing import Any

from tito.errors import UserError
from tito.files import decode
from tito.grading.judge.text import is_python
from tito.notebook import Notebook, parse_ipynb

MAX_BYTES = 100 << 20

# Kernels of other languages, by the names under which Jupyter lists them.
_LANGUAGES = {
    "julia": "Julia",
    "ir": "R",
    "r": "R",
    "octave": "Octave",
    "matlab": "MATLAB",
    "scala": "Scala",
    "almond": "Scala",
    "java": "Java",
    "ijava": "Java",
    "kotlin": "Kotlin",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "deno": "TypeScript",
    "ijavascript": "JavaScript",
    "ruby": "Ruby",
    "iruby": "Ruby",
    "rust": "Rust",
    "evcxr": "Rust",
    "go": "Go",
    "gonb": "Go",
    "gophernotes": "Go",
    "haskell": "Haskell",
    "ihaskell": "Haskell",
    "perl": "Perl",
    "iperl": "Perl",
    "c": "C",
    "cpp": "C++",
    "xcpp": "C++",
    "xcpp17": "C++",
    "c++": "C++",
    "csharp": "C#",
    "c#": "C#",
    "fsharp": "F#",
    "f#": "F#",
    "lua": "Lua",
    "xlua": "Lua",
    "sas": "SAS",
    "stata": "Stata",
    "sql": "SQL",
    "xsql": "SQL",
    "maxima": "Maxima",
    "ocaml": "OCaml",
    "prolog": "Prolog",
    "coq": "Coq",
    "lean": "Lean",
    "fortran": "Fortran",
}
_SHELLS = {"bash", "sh", "zsh", "ksh", "fish", "powershell", "pwsh", "cmd", "shellscript"}


def read_submission(data: bytes) -> Notebook:
    """The cells of a hand-in; UserError with one line for whoever handed it in."""
    if len(data) > MAX_BYTES:
        raise UserError(f"the file is larger than {MAX_BYTES >> 20} MB")
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if b"\0" in data[:4096] and not utf16:
        raise UserError("not a notebook: a binary file")
    text, notes = decode(data)
    if notes:
        encoding = "UTF-16" if utf16 else "not UTF-8"
        raise UserError(
            f"not a notebook: the text is {encoding}; open it in JupyterLab, save and hand in again"
        )
    document = _strict(text)
    notebook = parse_ipynb(text)
    _refuse_odd_sources(document)
    _refuse_other_language(notebook)
    return notebook


def nothing_of(notebook: Notebook, module: str) -> str:
    """Why a notebook without a cell of the module cannot be graded; one line to send on."""
    if any(cell.source.strip() for cell in notebook.cells):
        reason = f"none of its cells belongs to {module or 'this module'}: another file?"
    else:
        reason = "there is nothing in the notebook"
    return f"{reason} ({'; '.join(notebook.notes)})" if notebook.notes else reason


def _strict(text: str) -> Any:
    """The JSON document; what only Python would call JSON (NaN) is refused."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except _NotJson as error:
        raise UserError(f"not a notebook: no valid JSON ({error})") from None
    except (ValueError, RecursionError):
        return None  # parse_ipynb says why


class _NotJson(Exception):
    pass


def _no_constant(word: str) -> None:
    raise _NotJson(f"it holds {word}")


def _refuse_odd_sources(document: Any) -> None:
    """A cell whose source is no text cannot be graded as the student meant it."""
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        return
    if not cells:
        raise UserError("not a notebook: it has no cells")
    for number, cell in enumerate(cells, 1):
        source = cell.get("source", "") if isinstance(cell, dict) else None
        lines = source if isinstance(source, list) else [source]
        if not all(isinstance(line, str) for line in lines):
            raise UserError(f"not a notebook: the source of cell {number} is no text")


def _refuse_other_language(notebook: Notebook) -> None:
    """Only Python is graded, always by our own interpreter, whatever its kernel was called.

    The names that a notebook declares count, not its code: a Julia kernel cannot have run it. A
    shell's name alone is no language of a notebook (a wrong pick in a menu): there the code
    decides.
    """
    language = declared_language(notebook.metadata)
    if language is None:
        return
    if language in _SHELLS:
        code = [c.source for c in notebook.cells if c.kind == "code"]
        if sum(map(is_python, code)) * 2 >= len(code):
            return
    shown = _LANGUAGES.get(language) or _one_line(language)
    raise UserError(
        f"this notebook was saved with a kernel for {shown}, and only Python is graded: choose "
        "Kernel > Change Kernel > Python 3, run all, save and hand in again"
    )


def _one_line(text: str) -> str:
    """What a notebook calls its language, which can be any text."""
    return "".join(c if c.isprintable() else " " for c in text[:40])


def declared_language(metadata: dict[str, Any]) -> str | None:
    """A language other than Python that the metadata names, in lower case; None for Python."""
    kernel = metadata.get("kernelspec")
    kernel = kernel if isinstance(kernel, dict) else {}
    info = metadata.get("language_info")
    info = info if isinstance(info, dict) else {}
    for value in (info.get("name"), kernel.get("language")):
        if isinstance(value, str) and value.strip() and "python" not in value.lower():
            return value.strip().lower()
    words = [_kernel_word(kernel.get(key)) for key in ("name", "display_name")]
    return next((w for w in words if w in _LANGUAGES or w in _SHELLS), None)


# A name and at most a version: "go-env" is somebody's environment, not the language Go.
_KERNEL = re.compile(r"([a-z+#]+?)[\s_-]*(?:v?\d[\w.-]*)?\s*(?:\(.*\))?")


def _kernel_word(value: Any) -> str:
    """ "julia" of "julia-1.9" and of "Julia 1.9"; "" of what is no name with a version."""
    match = _KERNEL.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    return match[1] if match else ""
