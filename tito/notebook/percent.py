"""The .py half of a pair: Jupytext's percent format, read and written by Jupytext.

Jupytext reads almost everything as it is meant. What it does not (a byte-order mark, line ends
that only `str.splitlines` knows, a marker inside a string) is put right or refused here.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

from tito.errors import UserError
from tito.files import decode
from tito.notebook.model import KEPT_METADATA, Cell, Notebook

# str.splitlines breaks a line at these, Python and Jupyter do not: carried as private-use
# characters while Jupytext has the text.
_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_HIDE = {ord(c): 0xF700 + i for i, c in enumerate(_BREAKS)}
_SHOW = {v: k for k, v in _HIDE.items()}

HEADER = """\
# ---
# jupyter:
#   jupytext:
#     cell_markers: '\"\"\"'
#     cell_metadata_filter: nbgrader,tags,jupyter,-all
#     comment_magics: false
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---
"""
_OPTIONS = {
    "cell_markers": '"""',
    "cell_metadata_filter": "nbgrader,tags,jupyter,-all",
    "comment_magics": False,
    "formats": "ipynb,py:percent",
    "notebook_metadata_filter": "kernelspec,jupytext",
    "text_representation": {"extension": ".py", "format_name": "percent"},
}
_MARKER = re.compile(r"# %%(?![%\w])")


def jupytext_module():
    """Jupytext, imported without the grammars of a URI checker that no notebook needs (1 s)."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    import jupytext

    return jupytext


def read_py(text: str, path: Path | None = None) -> Notebook:
    """The notebook in percent text; UserError with the line where the text cannot be read so."""
    text = decode(text.encode("utf-8", "surrogatepass"))[0] if "\r" in text else text
    text = text.removeprefix("\ufeff")
    jupytext = jupytext_module()
    raw = jupytext.reads(
        _plain_comments(text).translate(_HIDE), fmt={"extension": ".py", "format_name": "percent"}
    )
    cells = [Cell(c.cell_type, c.source.translate(_SHOW), _metadata(c.metadata)) for c in raw.cells]
    _refuse_cut_cells(cells, text, path)
    _place(cells, text)
    return Notebook(cells, {"jupytext": dict(raw.metadata.get("jupytext", {}))}, path)


def _metadata(metadata: dict) -> dict:
    """Plain dictionaries, without Jupytext's own layout notes."""
    plain = {k: _plain(v) for k, v in metadata.items()}
    for key in ("lines_to_next_cell", "lines_to_end_of_cell_marker", "cell_marker", "title"):
        plain.pop(key, None)
    return plain


def _plain(value):
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value


def _plain_comments(text: str) -> str:
    """The text with `comment_magics: false` in force, whatever its header says.

    Without it Jupytext takes a comment such as `# copy of x` for a commented-out shell command
    and uncomments it.
    """
    lines = text.split("\n")
    if not lines or lines[0].strip() != "# ---" or "# ---" not in [s.strip() for s in lines[1:]]:
        return "# ---\n# jupyter:\n#   jupytext:\n#     comment_magics: false\n# ---\n\n" + text
    end = next(i for i, s in enumerate(lines[1:], 1) if s.strip() == "# ---")
    head = [s for s in lines[: end + 1] if "comment_magics" not in s]
    for i, line in enumerate(head):
        if re.fullmatch(r"#\s+jupytext:\s*", line):
            indent = len(line) - len(line[1:].lstrip()) + 2
            head.insert(i + 1, "#" + " " * (indent - 1) + "comment_magics: false")
            return "\n".join(head + lines[end + 1 :])
    plain = ["# ---", "# jupyter:", "#   jupytext:", "#     comment_magics: false", "# ---"]
    return "\n".join(plain + lines[end + 1 :])


def _refuse_cut_cells(cells: list[Cell], text: str, path: Path | None) -> None:
    """Where a line that only looks like a marker has cut a cell in two, name its line.

    Such a line is found in the file (inside a string, indented, with too many %) and then missed
    in the cells that were read.
    """
    in_cells = Counter(line for c in cells for line in c.source.split("\n"))
    for number, line in _lookalikes(text):
        if in_cells[line] > 0:
            in_cells[line] -= 1
            continue
        raise UserError(
            "this line would be taken for a cell marker and cut the cell in two",
            path=path,
            line=number,
            text=line,
            hint="write it differently, e.g. '# - - -'",
        )


def _lookalikes(text: str) -> list[tuple[int, str]]:
    """(number, line) of lines that a reader of the format may take for a marker by mistake."""
    inside = _string_lines(text) - _markdown_blocks(text)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        indented = line != line.lstrip() and _MARKER.match(line.lstrip())
        in_string = number in inside and _MARKER.match(line)
        if indented or in_string or line.startswith("# %%%"):
            found.append((number, line))
    return found


def _string_lines(text: str) -> set[int]:
    """Lines that lie inside a string that spans several lines; empty where it does not tokenize."""
    inside: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kinds = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
            if token.type in kinds and token.end[0] > token.start[0]:
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return inside


def _markdown_blocks(text: str) -> set[int]:
    """Lines of markdown cells written as a docstring: their text may show a marker."""
    lines, block, inside = text.split("\n"), set(), False
    for number, line in enumerate(lines, 1):
        if _MARKER.match(line):
            inside = "[markdown]" in line or "[md]" in line
        elif inside:
            block.add(number)
    return block


def _place(cells: list[Cell], text: str) -> None:
    """Find each cell's first line in the file, for messages."""
    lines = [_stripped(s) for s in text.split("\n")]
    at = 0
    for cell in cells:
        first = next((s for s in cell.source.split("\n") if s.strip()), None)
        if first is None:
            continue
        offset = cell.source.split("\n").index(first)
        for number in range(at, len(lines)):
            if lines[number] == _stripped(first):
                cell.line = number + 1 - offset
                at = number + 1
                break


def _stripped(line: str) -> str:
    return line.removeprefix("# ").strip()


def write_py(notebook: Notebook) -> str:
    """Percent text of the notebook; UserError where the format cannot carry a cell."""
    jupytext = jupytext_module()
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

    make = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}
    cells = []
    for cell in notebook.cells:
        kept = {k: v for k, v in cell.metadata.items() if k in KEPT_METADATA}
        # Empty lines at the end of a cell would be read back, or not, by what follows them.
        source = cell.source.rstrip("\n").translate(_HIDE)
        cells.append(make[cell.kind](source=source, metadata=kept))
    options = {**_OPTIONS, **notebook.metadata.get("jupytext", {})}
    options.pop("comment_magics", None)
    options["comment_magics"] = False
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    raw = new_notebook(cells=cells, metadata={"jupytext": options, "kernelspec": kernel})
    try:
        text = jupytext.writes(raw, fmt={"extension": ".py", "format_name": "percent"})
    except Exception as error:  # e.g. an IndexError for a cell that is `%%bash` alone
        raise UserError(
            f"cannot be written as .py: Jupytext fails on it ({error!r})",
            path=notebook.path,
            hint="keep this notebook as .ipynb",
        ) from error
    text = _without_versions(text.translate(_SHOW))
    _check_round_trip(notebook, text)
    return text


def _without_versions(text: str) -> str:
    """The header without the version of the Jupytext that wrote it: it differs by machine."""
    keep = [
        s
        for s in text.split("\n")
        if not re.fullmatch(r"#\s+(jupytext_version|format_version): .*", s)
    ]
    return "\n".join(keep)


def _check_round_trip(notebook: Notebook, text: str) -> None:
    """The text must read back as the same cells, or nothing may be written."""
    advice = "keep this notebook as .ipynb, or change the cell"
    try:
        again = read_py(text).cells
    except UserError as error:
        raise UserError(
            f"cannot be written as .py: {error.message}",
            path=notebook.path,
            cell=_cell_with(notebook, error.text),
            line=None,
            text=error.text,
            hint=advice,
        ) from None
    for cell, other in zip(notebook.cells, again):
        if (cell.kind, cell.source.strip("\n")) != (other.kind, other.source.strip("\n")):
            line = _first_difference(cell.source, other.source)
            raise UserError(
                "cannot be written as .py: the text would be read back differently",
                path=notebook.path,
                cell=cell.label,
                line=line,
                text=cell.source.split("\n")[line - 1],
                hint=advice,
            )
        # Jupytext takes a first raw cell between lines of --- for a header of its own.
        if cell.kept_metadata != other.kept_metadata:
            raise UserError(
                "cannot be written as .py: the cell's metadata would be lost",
                path=notebook.path,
                cell=cell.label,
                hint=advice,
            )
    if len(again) != len(notebook.cells):
        raise UserError(
            f"cannot be written as .py: {len(notebook.cells)} cells would be read back as "
            f"{len(again)}",
            path=notebook.path,
            hint=advice,
        )


def _cell_with(notebook: Notebook, line: str | None) -> str | None:
    found = [c for c in notebook.cells if line is not None and line in c.source.split("\n")]
    return found[0].label if found else None


def _first_difference(ours: str, theirs: str) -> int:
    mine = ours.split("\n")
    for number, (a, b) in enumerate(zip(mine, theirs.split("\n")), 1):
        if a != b:
            return number
    return min(len(mine), theirs.count("\n") + 2)
