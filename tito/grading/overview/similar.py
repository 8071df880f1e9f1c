"""Which hand-ins resemble each other in what nobody asked for: own names, comments, extra cells.

Solutions of one exercise look alike; what is chosen freely does not. So a hand-in is read as the
identifiers, comment words and extra lines that the handed-out module does not hold, each weighted
by how rare it is in this class, and two are compared by the cosine of the angle between them. A
high value is a reason to read the two, and no more than that.
"""

from __future__ import annotations

import heapq
import io
import keyword
import math
import re
import tokenize
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tito.notebook import Cell, Notebook

CLOSEST = 10
# Of one hand-in. A person's work has some hundreds; a million would be a column each.
MOST_TRAITS = 5_000
# Each hand-in counts as if it held so many more traits that nobody else has: two that hold little
# of their own are not alike because they share it.
ALONE = 4
_BLOCK = 256
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Pair:
    """Two students, the likeness of their hand-ins from 0 to 1, and what they share alone."""

    first: str
    second: str
    likeness: float
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Likeness:
    """The closest pairs of a class, and how all its pairs are spread.

    counts : number of pairs in each twentieth of [0, 1]
    """

    pairs: tuple[Pair, ...] = ()
    counts: tuple[int, ...] = ()
    compared: int = 0


def traits(notebook: Notebook, handed_out: Notebook) -> frozenset[str]:
    """What a student chose freely, as words with their kind: "name total", "comment shift"."""
    known = {grade_id: cell.source for cell in handed_out.cells if (grade_id := cell.grade_id)}
    texts = {cell.source.strip() for cell in handed_out.cells}
    given = set(_marks(handed_out.cells))
    own: set[str] = set()
    for cell in notebook.cells:
        if cell.kind != "code" or cell.source.strip() in texts:
            continue
        own.update(_marks([cell]))
        if cell.grade_id not in known:
            own.update(f"line {line.strip()}" for line in cell.source.splitlines() if line.strip())
    return frozenset(_some(own - given))


def _some(own: set[str]) -> Iterable[str]:
    """Not more than so many; copies keep the same ones."""
    if len(own) <= MOST_TRAITS:
        return own
    return heapq.nsmallest(MOST_TRAITS, own, key=lambda trait: (zlib.crc32(trait.encode()), trait))


def _marks(cells: Iterable[Cell]) -> Iterator[str]:
    for cell in cells:
        if cell.kind == "code":
            yield from _marks_of(cell.source)


def _marks_of(source: str) -> Iterator[str]:
    """Identifiers and words of comments; what does not parse is read as far as it goes."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                yield f"name {token.string}"
            elif token.type == tokenize.COMMENT:
                yield from (f"comment {word.lower()}" for word in _WORD.findall(token.string))
    except Exception:  # besides its own errors, SystemError for a NUL and others for odd bytes
        return


def likeness(hand_ins: Mapping[str, frozenset[str]], closest: int = CLOSEST) -> Likeness:
    """The closest pairs among students -> traits.

    Memory grows with the class and with the traits that two or more share, time with the square
    of the class.
    """
    students = sorted(name for name, own in hand_ins.items() if own)
    vectors = _vectors([hand_ins[name] for name in students])
    counts = np.zeros(20, dtype=np.int64)
    found: list[tuple[float, int, int]] = []
    for start in range(0, len(students), _BLOCK):
        likes = vectors[start : start + _BLOCK] @ vectors.T
        rows, columns = np.triu_indices(len(likes), start + 1, len(students))
        values = np.clip(likes[rows, columns], 0.0, 1.0)
        counts += np.histogram(values, bins=20, range=(0, 1))[0]
        top = np.argsort(values)[::-1][:closest]
        found += [(float(values[i]), start + int(rows[i]), int(columns[i])) for i in top]
    found = sorted(found, key=lambda pair: (-pair[0], pair[1:]))[:closest]
    owners = Counter(trait for own in hand_ins.values() for trait in own)
    pairs = [
        Pair(students[i], students[j], like, _rarest(hand_ins, owners, students[i], students[j]))
        for like, i, j in found
        if like > 0
    ]
    return Likeness(tuple(pairs), tuple(int(n) for n in counts), int(counts.sum()))


def _vectors(hand_ins: list[frozenset[str]]) -> np.ndarray:
    """One row a hand-in; its columns are the traits that two or more hold.

    What one holds alone adds to the length that its row is divided by, so rows are shorter than 1.
    """
    owners = Counter(trait for own in hand_ins for trait in own)
    weight = {trait: math.log((1 + len(hand_ins)) / n) for trait, n in owners.items()}
    column = {t: i for i, t in enumerate(sorted(t for t, n in owners.items() if n > 1))}
    alone = ALONE * math.log(1 + len(hand_ins)) ** 2
    rows = np.zeros((len(hand_ins), len(column)), dtype=np.float32)
    for row, own in zip(rows, hand_ins):
        length = math.sqrt(alone + sum(weight[t] ** 2 for t in own))
        for trait in own & column.keys():
            row[column[trait]] = weight[trait] / length
    return rows


def _rarest(
    hand_ins: Mapping[str, frozenset[str]], owners: Counter[str], first: str, second: str
) -> tuple[str, ...]:
    """The traits both hold and few others do: what to look at."""
    both = hand_ins[first] & hand_ins[second]
    return tuple(sorted(both, key=lambda trait: (owners[trait], trait))[:8])
