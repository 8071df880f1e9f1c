"""Reading .ipynb of any origin, and writing ours: the same bytes on every machine."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.files import decode
from tito.notebook.model import KEPT_METADATA, Cell, Notebook, safe_id

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
MAX_DEPTH = 100  # of nested lists and dictionaries; notebooks in use have about 20


def read_ipynb(data: bytes, path: Path | None = None) -> Notebook:
    """The notebook in `data`; UserError with a reason a TA can send on."""
    text, notes = decode(data)
    notebook = parse_ipynb(text, path)
    notebook.notes[:0] = notes
    return notebook


def parse_ipynb(text: str, path: Path | None = None) -> Notebook:
    """The notebook in `text`. nbformat 3 is upgraded; what is no notebook is a UserError."""
    document = _document(text, path)
    notes: list[str] = []
    if _HALF.search(text):
        whole = _without_halves(document)
        if whole != document:
            document = whole
            notes.append("half characters were replaced by \ufffd")
    major = document.get("nbformat")
    raw_cells = document.get("cells")
    if raw_cells is None and isinstance(document.get("worksheets"), list):
        raw_cells = _of_worksheets(document["worksheets"])
        notes.append("the notebook is in format 3 and was upgraded")
    elif isinstance(major, int) and major > 4:
        raise UserError(f"notebook format {major} is newer than this program reads (4)", path=path)
    if not isinstance(raw_cells, list):
        raise UserError("not a notebook: it has no list of cells", path=path)
    for number, raw in enumerate(raw_cells, 1):
        if damage := _damage(raw, f"cell {number}"):
            raise UserError(f"not a notebook: {damage}", path=path)
    cells = [_cell(c) for c in raw_cells]
    metadata = document.get("metadata")
    return Notebook(cells, metadata if isinstance(metadata, dict) else {}, path, notes)


def _document(text: str, path: Path | None) -> dict[str, Any]:
    if not text.strip():
        raise UserError("the file is empty", path=path)
    try:
        document = json.loads(text)
    except RecursionError:
        raise UserError("not a notebook: nested too deep", path=path) from None
    except ValueError as error:
        raise UserError(_why_no_json(text, error), path=path) from None
    if _is_deeper(document, MAX_DEPTH):
        raise UserError("not a notebook: nested too deep", path=path)
    if not isinstance(document, dict):
        kind = "null" if document is None else type(document).__name__
        raise UserError(f"not a notebook: the file holds a JSON {kind}", path=path)
    return document


def _is_deeper(value: Any, depth: int) -> bool:
    """Is the value nested deeper than `depth`? Copying or writing it could fail then."""
    level = [value]
    for _ in range(depth):
        level = [
            part
            for v in level
            if isinstance(v, (dict, list))
            for part in (v.values() if isinstance(v, dict) else v)
        ]
        if not level:
            return False
    return True


# `\ud83d` alone: half of a character, which no file can hold.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _without_halves(value: Any) -> Any:
    """The value with each lone surrogate replaced, so that it can be written and tokenized."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_halves(v) for v in value]
    if isinstance(value, dict):
        return {_without_halves(k): _without_halves(v) for k, v in value.items()}
    return value


def _why_no_json(text: str, error: ValueError) -> str:
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html")):
        return "not a notebook: a web page was saved under this name (a login page?)"
    if any(line.startswith(("<<<<<<<", ">>>>>>>")) for line in text.split("\n")):
        return "not a notebook: it holds marks of an unfinished merge (<<<<<<<)"
    line = getattr(error, "lineno", None)
    if line is not None and start.startswith("{") and _ends_within(text, error):
        return f"not a notebook: the file ends too early (line {line})"
    return (
        f"not a notebook: no valid JSON (line {line})" if line else "not a notebook: no valid JSON"
    )


def _ends_within(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the trouble is that more should follow: a string or a bracket is still open."""
    return error.msg.startswith("Unterminated string") or not set("}]") & set(text[error.pos :])


def _of_worksheets(worksheets: list[Any]) -> list[Any]:
    cells: list[Any] = []
    for sheet in worksheets:
        part = sheet.get("cells") if isinstance(sheet, dict) else None
        cells += part if isinstance(part, list) else []
    return cells


def _damage(raw: Any, cell: str) -> str | None:
    """What is wrong with an entry that no notebook program writes; None for a cell.

    Odd metadata and outputs are let pass: they change nothing of what was answered.
    """
    if not isinstance(raw, dict):
        return f"{cell} is no JSON object"
    source = raw.get("source", raw.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        return f"the source of {cell} is no text"
    count = raw.get("execution_count")
    if count is not None and not isinstance(count, int):
        return f"the execution_count of {cell} is {count!r}"
    return None


def _cell(raw: dict[str, Any]) -> Cell:
    kind = raw.get("cell_type")
    source = raw.get("source", raw.get("input", ""))
    if kind == "heading":  # format 3
        level = raw.get("level") if isinstance(raw.get("level"), int) else 1
        kind, source = "markdown", "#" * level + " " + _text(source)
    metadata = raw.get("metadata")
    outputs = raw.get("outputs")
    return Cell(
        kind=kind if kind in ("code", "markdown", "raw") else "raw",
        source=_text(source),
        metadata=metadata if isinstance(metadata, dict) else {},
        id=raw["id"] if isinstance(raw.get("id"), str) else None,
        outputs=outputs if isinstance(outputs, list) else [],
    )


def _text(source: str | list[str]) -> str:
    """A cell's source as one string with `\\n` line ends, whatever an editor stored."""
    source = "".join(source)
    # An editor with CRLF line ends leaves a lone \r at the end of a cell.
    return source.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")


def write_ipynb(notebook: Notebook, *, outputs: bool = False) -> str:
    """Notebook format 4.5 as text, the same bytes for the same cells.

    outputs : keep stored outputs (a student's file); ours are built without
    """
    document = {
        "cells": [_entry(c, i, outputs) for c, i in zip(notebook.cells, _ids(notebook.cells))],
        "metadata": _metadata(notebook.metadata),
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    kept = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    if "tito" in metadata:
        kept["tito"] = metadata["tito"]
    return kept


def _entry(cell: Cell, cell_id: str, outputs: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "cell_type": cell.kind,
        "id": cell_id,
        "metadata": {k: cell.metadata[k] for k in KEPT_METADATA if k in cell.metadata},
        "source": _lines(cell.source),
    }
    if cell.kind == "code":
        entry["execution_count"] = None
        entry["outputs"] = cell.outputs if outputs else []
    return entry


def _lines(source: str) -> list[str]:
    """The source as Jupyter stores it. Only \\n ends a line: str.splitlines knows eight more."""
    parts = source.split("\n")
    return [p + "\n" for p in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _ids(cells: list[Cell]) -> list[str]:
    """A cell id for each cell: its grade_id, else its place and content; its own where it has one.

    Ids are unique; a later cell with a taken id gets a number behind it.
    """
    taken: set[str] = set()
    ids = []
    for position, cell in enumerate(cells, 1):
        base = cell.id or cell.grade_id or _content_id(cell, position)
        candidate, number = safe_id(base), 2
        while candidate in taken:
            candidate, number = f"{safe_id(base)[:58]}-{number}", number + 1
        taken.add(candidate)
        ids.append(candidate)
    return ids


def _content_id(cell: Cell, position: int) -> str:
    digest = hashlib.sha1(cell.source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{cell.kind}-{position}-{digest}"
