"""The two halves of a module, .py and .ipynb, kept in step by content, never by time stamps.

The notebook remembers in its metadata (`tito.pair`) a hash of the last state that both halves
had in common. The half that differs from it was changed; where both do, nothing is written.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import stat
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from tito.course import ModuleRef
from tito.errors import UserError
from tito.files import read_text, write_atomic
from tito.notebook import Cell, Notebook, load, read_py, write_ipynb, write_py
from tito.notebook.model import KEPT_METADATA, safe_id

DIFF_LINES = 60


class State(StrEnum):
    """How the halves of a module stand to each other."""

    IN_STEP = "in step"
    UNRECORDED = "alike, but never synced"
    ONLY_PY = "only the .py is there"
    ONLY_IPYNB = "only the .ipynb is there"
    PY_CHANGED = "the .py was changed"
    IPYNB_CHANGED = "the .ipynb was changed"
    CONFLICT = "both were changed"


@dataclass
class Pair:
    """The halves of one module as they lie on the disk."""

    ref: ModuleRef
    py: Notebook | None
    ipynb: Notebook | None

    @property
    def recorded(self) -> str | None:
        """Hash of the last common state, where the notebook knows one."""
        known = self.ipynb.metadata.get("tito") if self.ipynb else None
        value = known.get("pair") if isinstance(known, dict) else None
        return value if isinstance(value, str) else None

    @property
    def state(self) -> State:
        if self.ipynb is None:
            return State.ONLY_PY
        if self.py is None:
            return State.ONLY_IPYNB
        py, ipynb, recorded = content_hash(self.py), content_hash(self.ipynb), self.recorded
        if py == ipynb:
            return State.IN_STEP if recorded == py else State.UNRECORDED
        if recorded == ipynb:
            return State.PY_CHANGED
        return State.IPYNB_CHANGED if recorded == py else State.CONFLICT


@dataclass
class Outcome:
    """What a sync did: the half that was read, the half that was written (None: nothing)."""

    state: State
    read: Path
    written: Path | None = None
    notes: list[str] = field(default_factory=list)


def content_hash(notebook: Notebook) -> str:
    """Hash of what both halves can hold: the cells' kinds, sources and kept metadata."""
    digest = hashlib.sha256()
    for cell in notebook.cells:
        parts = [cell.kind, cell.source.strip("\n"), cell.kept_metadata]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
        digest.update(text.encode() + b"\n")
    return "sha256:" + digest.hexdigest()


def read_pair(ref: ModuleRef) -> Pair:
    """Both halves; UserError where one is there but cannot be read, so that none is written over
    the other."""
    py = _half(ref.py, ref.ipynb) if ref.py.exists() else None
    ipynb = _half(ref.ipynb, ref.py) if ref.ipynb.exists() else None
    if py is None and ipynb is None:
        raise UserError(f"no {ref.name}.py and no {ref.name}.ipynb here", path=ref.folder, code=2)
    for mine, other in ((py, ipynb), (ipynb, py)):
        if mine is not None and other is not None and not mine.cells and other.cells:
            raise _broken(mine.path, "it holds no cell, the other half does", other.path)
    return Pair(ref, py, ipynb)


def _half(path: Path, other: Path) -> Notebook:
    try:
        notebook = load(path)
    except UserError as error:
        if not other.exists():
            raise
        raise _broken(path, error.message, other, error.line, error.text) from None
    if path.suffix == ".py" and (line := _merge_mark(path)):
        raise _broken(path, "it holds marks of an unfinished merge", other, line)
    return notebook


def _merge_mark(path: Path) -> int | None:
    lines = read_text(path)[0].split("\n")
    marks = (n for n, s in enumerate(lines, 1) if s.startswith(("<<<<<<< ", ">>>>>>> ")))
    return next(marks, None)


def _broken(
    path: Path, why: str, other: Path, line: int | None = None, text: str | None = None
) -> UserError:
    return UserError(
        f"this half of the pair cannot be used: {why}; nothing was written",
        path=path,
        line=line,
        text=text,
        hint=f"mend it, or move it away: tito sync then makes it anew from {other.name}",
    )


def sync(ref: ModuleRef, keep: str | None = None) -> Outcome:
    """Bring the halves of a module in step.

    keep : "py" or "ipynb": the half that wins where both were changed; the other is copied first
    raises UserError, with nothing overwritten, where both were changed or a half is broken
    """
    pair = read_pair(ref)
    state = pair.state
    notes: list[str] = []
    if state is State.CONFLICT:
        copies = [_keep_copy(p) for p in (ref.py, ref.ipynb)]
        if keep is None:
            raise _conflict(pair, copies)
        notes.append("kept as they were: " + ", ".join(c.name for c in copies))
        state = State.PY_CHANGED if keep == "py" else State.IPYNB_CHANGED
    if state is State.IN_STEP:
        return Outcome(state, ref.source)
    if state is State.UNRECORDED:
        _note_common_state(pair, notes)
        return Outcome(state, ref.source, notes=notes)
    if state in (State.ONLY_PY, State.PY_CHANGED):
        _write(ref.ipynb, _ipynb_text(pair, notes))
        return Outcome(state, ref.py, ref.ipynb, notes)
    _write(ref.py, _py_text(pair))
    _note_common_state(pair, notes)
    return Outcome(state, ref.ipynb, ref.py, notes)


def build(notebook: Notebook) -> str:
    """The .ipynb that is committed: no outputs, the same bytes on every machine."""
    cells = [Cell(c.kind, c.source, c.metadata) for c in notebook.cells]
    metadata = {"tito": {"pair": content_hash(notebook)}}
    return write_ipynb(Notebook(cells, metadata, notebook.path))


def clear(ref: ModuleRef) -> bool:
    """Build the notebook anew from the .py, without outputs; True if the file changed."""
    sync(ref)
    return _write(ref.ipynb, build(load(ref.py)))


def check(ref: ModuleRef) -> str | None:
    """Why the pair is not as it has to be committed, or None.

    In a kit a notebook alone is right, and it may hold outputs.
    """
    pair = read_pair(ref)
    if pair.state in (State.IN_STEP, State.UNRECORDED, State.ONLY_IPYNB) and ref.in_kit:
        return None
    if pair.state is not State.IN_STEP:
        return f"{pair.state}: tito sync {ref.name}"
    if read_text(ref.ipynb)[0] != build(pair.py):
        what = "holds outputs" if _has_outputs(pair.ipynb) else "was saved by another program"
        return (
            f"{ref.ipynb.name} {what} and is not what the .py builds: tito sync --clear {ref.name}"
        )
    return None


def ensure_in_step(ref: ModuleRef) -> Path:
    """The file of `ref` to read, after a sync where both halves exist; stops on a conflict.

    A half that is not there is not made: whoever wants it calls `tito sync`. A loose file is
    read as it is.
    """
    paired = ref.py.exists() and ref.ipynb.exists()
    if ref.given is None and not ref.source.exists():
        raise _not_there(ref)
    if paired and (ref.given is None or ref.folder.resolve().name == ref.name):
        sync(ref)
    return ref.source


def _not_there(ref: ModuleRef) -> UserError:
    """Nothing to read; a notebook that lies beside under another name may be what is looked for."""
    others = sorted(p.name for p in ref.folder.glob("*.ipynb"))
    hint = f"tito start {ref.name} brings a fresh one"
    if others:
        hint = f"rename {others[0]!r} back to {ref.source.name}, or {hint}"
    return UserError("no such notebook", path=ref.source, hint=hint, code=2)


def saved(path: Path) -> str:
    """Which file is read and when it was saved, in the words that commands print."""
    then = datetime.fromtimestamp(path.stat().st_mtime)
    now = datetime.now()
    clock = then.strftime("%H:%M:%S" if then.date() == now.date() else "%Y-%m-%d %H:%M")
    return f"{path}, saved {clock}{_ago((now - then).total_seconds())}"


def _ago(seconds: float) -> str:
    if 0 <= seconds < 90:
        whole = round(seconds)
        return f" ({whole} second{'' if whole == 1 else 's'} ago)"
    return f" ({round(seconds / 60)} minutes ago)" if 0 <= seconds < 90 * 60 else ""


def _note_common_state(pair: Pair, notes: list[str]) -> None:
    path = pair.ref.ipynb
    if _protected(path):
        notes.append(f"{path.name} is write-protected: it cannot note that the halves are in step")
    else:
        _write(path, _with_record(pair))


def _protected(path: Path) -> bool:
    return path.exists() and not path.stat().st_mode & stat.S_IWUSR


def _write(path: Path, text: str) -> bool:
    if _protected(path):
        raise UserError(
            "is write-protected and out of step with its other half",
            path=path,
            hint="allow writing to it, then call tito sync again",
        )
    return write_atomic(path, text)


def _keep_copy(path: Path) -> Path:
    """`path` copied beside itself as NAME.orig; an earlier copy with other content stays."""
    data = path.read_bytes()
    number = 1
    while True:
        target = path.with_name(path.name + (".orig" if number == 1 else f".orig{number}"))
        if not target.exists():
            write_atomic(target, data)
        if target.read_bytes() == data:
            return target
        number += 1


def _conflict(pair: Pair, copies: list[Path]) -> UserError:
    why = "both halves were changed since the last sync"
    if pair.recorded is None:
        why = "the halves differ and were never synced, so neither is known to be the older"
    names = " and ".join(c.name for c in copies)
    name = pair.ref.given or pair.ref.name
    return UserError(
        f"conflict: {why}; nothing was overwritten, copies are in {names}",
        path=pair.ref.folder / pair.ref.name,
        text=difference(pair.py, pair.ipynb),
        hint=f"tito sync {name} --keep py (or --keep ipynb), after merging by hand what you need",
    )


def difference(py: Notebook, ipynb: Notebook) -> str:
    """Unified diff of the cells of both halves."""
    lines = difflib.unified_diff(
        _as_lines(py), _as_lines(ipynb), str(py.path), str(ipynb.path), n=2, lineterm=""
    )
    shown = list(lines)
    more = len(shown) - DIFF_LINES
    if more > 0:
        shown = [*shown[:DIFF_LINES], f"... {more} more lines"]
    return "\n    ".join(shown)


def _as_lines(notebook: Notebook) -> list[str]:
    lines: list[str] = []
    for cell in notebook.cells:
        kept = cell.kept_metadata
        note = " " + json.dumps(kept, sort_keys=True) if kept else ""
        lines += [f"# %% [{cell.kind}]{note}", *cell.source.strip("\n").split("\n")]
    return lines


def _py_text(pair: Pair) -> str:
    """The .py of the notebook, under the header that the .py already has."""
    header = pair.py.metadata.get("jupytext", {}) if pair.py else {}
    source = Notebook(pair.ipynb.cells, {"jupytext": header}, pair.ref.ipynb)
    text = write_py(source)
    again = read_py(text)
    if content_hash(again) != content_hash(pair.ipynb):
        cell = next(
            (a for a, b in zip(pair.ipynb.cells, again.cells) if a.metadata != b.metadata), None
        )
        raise UserError(
            "cannot be written as .py: the metadata of this cell would be read back differently",
            path=pair.ref.ipynb,
            cell=cell.label if cell else None,
            hint="keep this notebook as .ipynb, or take the odd tag or key out of the cell",
        )
    return text


def _document(path: Path) -> dict[str, Any]:
    """The notebook's JSON as it stands; what we do not know in it is kept."""
    document = json.loads(read_text(path)[0])
    if document.get("nbformat") != 4:
        raise UserError(
            "the notebook is in an old format", path=path, hint="open and save it in Jupyter"
        )
    return document


def _dump(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _record(document: dict[str, Any], digest: str) -> None:
    metadata = document.setdefault("metadata", {})
    known = metadata.get("tito")
    metadata["tito"] = {**(known if isinstance(known, dict) else {}), "pair": digest}


def _with_record(pair: Pair) -> str:
    """The notebook's own text with the common state noted in it; all else as it was."""
    document = _document(pair.ref.ipynb)
    _record(document, content_hash(pair.ipynb))
    return _dump(document)


def _ipynb_text(pair: Pair, notes: list[str]) -> str:
    """The notebook after the .py. One that holds nothing but a build is built; else each cell
    keeps its id, outputs and whatever else a program stored with it."""
    if pair.ipynb is None or (_is_build(pair) and not pair.ref.in_kit):
        return build(pair.py)
    document = _document(pair.ref.ipynb)
    old = [c for c in document["cells"] if isinstance(c, dict)]
    partners = match_cells(pair.ipynb.cells, pair.py.cells)
    lost = set(range(len(old))) - set(partners.values())
    if any(old[i].get("outputs") for i in lost):
        copied = _keep_copy(pair.ref.ipynb)
        notes.append(
            f"cells with outputs were deleted in the .py; the notebook is in {copied.name}"
        )
    with_ids = document.get("nbformat_minor", 0) >= 5
    taken = {old[i].get("id") for i in partners.values()}
    cells = []
    for i, cell in enumerate(pair.py.cells):
        cells.append(_merged(old[partners[i]] if i in partners else None, cell))
        if with_ids and "id" not in cells[-1]:
            cells[-1]["id"] = _free_id(cell, taken)
    document["cells"] = cells
    _record(document, content_hash(pair.py))
    return _dump(document)


def _merged(old: dict[str, Any] | None, cell: Cell) -> dict[str, Any]:
    """The stored cell `old` with the text and metadata of `cell`."""
    fresh = json.loads(write_ipynb(Notebook([copy.copy(cell)])))["cells"][0]
    if old is None or old.get("cell_type") != cell.kind:
        fresh.pop("id")
        return fresh
    stored = old.get("metadata")
    stored = stored if isinstance(stored, dict) else {}
    metadata = {k: v for k, v in stored.items() if k not in KEPT_METADATA}
    return {**old, "source": fresh["source"], "metadata": {**metadata, **fresh["metadata"]}}


def _free_id(cell: Cell, taken: set[Any]) -> str:
    digest = hashlib.sha1(cell.source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    base, number = safe_id(cell.grade_id or f"{cell.kind}-{digest}"), 2
    name = base
    while name in taken:
        name, number = f"{base[:58]}-{number}", number + 1
    taken.add(name)
    return name


def match_cells(old: list[Cell], new: list[Cell]) -> dict[int, int]:
    """Index in `new` -> index in `old` of the cell it was: by grade_id, else by text, else by
    its place between cells that did match."""
    old_keys, new_keys = _keys(old), _keys(new)
    pairs: dict[int, int] = {}
    blocks = difflib.SequenceMatcher(None, old_keys, new_keys, autojunk=False).get_opcodes()
    for kind, a, b, c, d in blocks:
        if kind == "equal":
            pairs.update(zip(range(c, d), range(a, b)))
    _match_moved(old_keys, new_keys, pairs)
    for kind, a, b, c, d in blocks:
        if kind == "replace":
            for i, j in zip(range(a, b), range(c, d)):
                if j not in pairs and i not in pairs.values() and old[i].kind == new[j].kind:
                    pairs[j] = i
    return pairs


def _keys(cells: list[Cell]) -> list[tuple[str, str]]:
    return [
        ("id", c.grade_id) if c.grade_id else ("text", f"{c.kind}\n{c.source.strip()}")
        for c in cells
    ]


def _match_moved(old_keys: list, new_keys: list, pairs: dict[int, int]) -> None:
    """Add the cells that stand elsewhere with the same grade_id or text."""
    free = {old_keys[i]: i for i in range(len(old_keys)) if i not in pairs.values()}
    for j, key in enumerate(new_keys):
        if j not in pairs and key in free:
            pairs[j] = free.pop(key)


def _is_build(pair: Pair) -> bool:
    """The stored notebook is what its own cells build: no outputs, nothing to lose."""
    return read_text(pair.ref.ipynb)[0] == build(pair.ipynb)


def _has_outputs(notebook: Notebook) -> bool:
    return any(c.outputs for c in notebook.cells)
