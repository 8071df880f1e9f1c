"""Notebooks and messages damaged at random, the same for the same seed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

ODD_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, 2**80, -(2**63), 1.5, -0.0, 1e308, float("nan"),
    float("inf"), "", " ", "x", "\x00", "é", "\U0001f600", "\ud800", "a" * 5000, "../..", "code",
    "markdown", "grade_id", [], {}, [[]], [None], {"": None}, {"a": {"b": {"c": []}}},
]  # fmt: skip
ODD_TEXT = [
    "", "\n", "\x00", "\x0c", "\ud800", "\u2028", "\ufeff", "​", "%%time\n", "%%bash\n", "%magic\n",
    "!ls\n", "?x", "x?", "### BEGIN SOLUTION\n", "### END SOLUTION\n", "### BEGIN HIDDEN TESTS\n",
    "#| export\n", "#| writes: a, b\n", "#| forbid: blas\n", "#| nonsense\n", "# %%\n", "def f(:\n",
    "(" * 300, "[" * 3000, "-" * 3000 + "1\n", "x = " + "'" * 3 + "\n", "\\\n", "    \t if x:\n",
    "raise SystemExit\n", "await x\n", "return 1\n", "nonlocal x\n", "global np\n", "del np\n",
    "from __future__ import annotations\n", "from tito.checks import *\n", "\r", "\r\n", "await\n",
    "lambda: (yield)\n", "def scaled(x, factor): return x\n", "class Mean: pass\n", "import os\n",
]  # fmt: skip
KEYS = [
    "nbgrader", "grade_id", "grade", "solution", "locked", "points", "schema_version", "task",
    "tags", "id", "source", "cell_type", "metadata", "outputs", "cells", "nbformat", "input",
    "worksheets", "kernelspec", "language_info", "tito", "name", "language",
]  # fmt: skip


def damaged(document: dict[str, Any], rng: random.Random) -> Any:
    """A copy of a notebook's JSON with one to eight changes, of its form or its contents."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5, 8])):
        document = rng.choice(_CHANGES)(document, rng)
    return document


def _spots(value: Any, at: tuple = ()) -> list[tuple[Any, Any]]:
    """(container, key) of everything below a value."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        part = stack.pop()
        pairs = part.items() if isinstance(part, dict) else enumerate(part)
        for key, inner in list(pairs):
            found.append((part, key))
            if isinstance(inner, (dict, list)):
                stack.append(inner)
    return found


def _spot(document: Any, rng: random.Random) -> tuple[Any, Any] | None:
    spots = _spots(document) if isinstance(document, (dict, list)) else []
    return rng.choice(spots) if spots else None


def _replace(document: Any, rng: random.Random) -> Any:
    if spot := _spot(document, rng):
        spot[0][spot[1]] = copy.deepcopy(rng.choice(ODD_VALUES))
    return document


def _delete(document: Any, rng: random.Random) -> Any:
    if spot := _spot(document, rng):
        del spot[0][spot[1]]
    return document


def _swap(document: Any, rng: random.Random) -> Any:
    one, other = _spot(document, rng), _spot(document, rng)
    if one and other:
        a, b = one[0][one[1]], copy.deepcopy(other[0][other[1]])
        other[0][other[1]] = copy.deepcopy(a)
        one[0][one[1]] = b
    return document


def _insert(document: Any, rng: random.Random) -> Any:
    if spot := _spot(document, rng):
        holder, value = spot[0], copy.deepcopy(rng.choice(ODD_VALUES))
        if isinstance(holder, dict):
            holder[rng.choice(KEYS)] = value
        else:
            holder.insert(rng.randrange(len(holder) + 1), value)
    return document


def _cells(document: Any) -> list[Any]:
    cells = document.get("cells") if isinstance(document, dict) else None
    return cells if isinstance(cells, list) else []


def _shuffle(document: Any, rng: random.Random) -> Any:
    rng.shuffle(_cells(document))
    return document


def _copy_cell(document: Any, rng: random.Random) -> Any:
    cells = _cells(document)
    if cells:
        cells.insert(rng.randrange(len(cells) + 1), copy.deepcopy(rng.choice(cells)))
    return document


def _drop_cell(document: Any, rng: random.Random) -> Any:
    cells = _cells(document)
    if cells:
        cells.pop(rng.randrange(len(cells)))
    return document


def _split_cell(document: Any, rng: random.Random) -> Any:
    cells = _cells(document)
    texts = [i for i, c in enumerate(cells) if isinstance(c, dict) and type(c.get("source")) is str]
    if texts:
        at = rng.choice(texts)
        source = cells[at]["source"]
        cut = rng.randrange(len(source) + 1)
        cells.insert(at + 1, {**copy.deepcopy(cells[at]), "source": source[cut:]})
        cells[at]["source"] = source[:cut]
        if rng.random() < 0.5:
            cells[at + 1]["metadata"] = {}
    return document


def _settings(document: Any, rng: random.Random) -> Any:
    """The nbgrader settings of a cell, changed or given to another."""
    cells = [c for c in _cells(document) if isinstance(c, dict)]
    if cells:
        cell, other = rng.choice(cells), rng.choice(cells)
        metadata = copy.deepcopy(other.get("metadata"))
        if isinstance(metadata, dict) and isinstance(metadata.get("nbgrader"), dict):
            metadata["nbgrader"][rng.choice(KEYS)] = copy.deepcopy(rng.choice(ODD_VALUES))
        cell["metadata"] = metadata
    return document


def _text(document: Any, rng: random.Random) -> Any:
    cells = [c for c in _cells(document) if isinstance(c, dict) and type(c.get("source")) is str]
    if cells:
        cell = rng.choice(cells)
        cell["source"] = _mangled(cell["source"], rng)
    return document


def _mangled(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    to = min(len(text), at + rng.choice([0, 0, 1, 2, 10, 100]))
    return text[:at] + rng.choice(ODD_TEXT) + text[to:]


_CHANGES: list[Callable[[Any, random.Random], Any]] = [
    _replace, _replace, _delete, _swap, _insert, _shuffle, _copy_cell, _drop_cell, _split_cell,
    _settings, _settings, _text, _text, _text,
]  # fmt: skip


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes with a few of them changed, lost, doubled, or with odd ones in between."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice([0, 1, 1, 2, 8, 64]))
        some = bytes(rng.choices(range(256), k=rng.choice([0, 1, 1, 4, 9])))
        data[at:to] = rng.choice([some, some, bytes(data[at:to]) * 2, b"\xff" * (to - at)])
    return bytes(data)


def damaged_tree(tree: Any, rng: random.Random) -> Any:
    """A message's tree with a few parts changed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        tree = rng.choice([_replace, _replace, _delete, _swap, _insert])(tree, rng)
    return tree
