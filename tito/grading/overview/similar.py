"""Which hand-ins resemble each other in what nobody asked for: own names, comments, extra cells.

Solutions of one exercise look alike; what is chosen freely does not. So a hand-in is read as the
identifiers, comment words and extra lines that the handed-out module does not hold, and as its
cells taken as a whole; each is weighted by how rare it is in this class, and two are compared by
the cosine of the angle between them. Work that is the same throughout is named whatever the class
shares. A high value is a reason to read the two, and no more than that.
"""

from __future__ import annotations

import hashlib
import heapq
import io
import keyword
import math
import re
import tokenize
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tito.grading.wording import counted
from tito.notebook import Cell, Notebook, Role

CLOSEST = 10
# Below it two share a word or two, and there is nothing to read.
LEAST = 0.1
# Letter words of an answer that is compared as a whole: "yes" and "memory" many write.
LEAST_WORDS = 8
# Of one hand-in. A person's work has some hundreds; a million would be a column each.
MOST_TRAITS = 5_000
# Each hand-in counts as if it held so many more traits that nobody else has: two that hold little
# of their own are not alike because they share it.
ALONE = 4
_BLOCK = 256
_WHOLE = re.compile(r"(cell .+) [0-9a-f]{8}")
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
    answers : who answered in the same words
    """

    pairs: tuple[Pair, ...] = ()
    counts: tuple[int, ...] = ()
    compared: int = 0
    same: tuple[Same, ...] = ()
    answers: tuple[SameWords, ...] = ()


@dataclass(frozen=True)
class SameWords:
    """Students whose answers in words are the same, letter by letter, in so many cells."""

    students: tuple[str, ...]
    cells: int

    def __str__(self) -> str:
        answers = counted(self.cells, "answer")
        return f"{', '.join(self.students)}: {answers} in the same words"


@dataclass(frozen=True)
class Same:
    """Students who handed in the same, spaces at the ends of lines aside.

    cells : how many cells they wrote or changed
    texts : whether their answers in words are the same too, or the code alone
    """

    students: tuple[str, ...]
    cells: int
    texts: bool

    def __str__(self) -> str:
        what = "in every cell they wrote" if self.texts else "in all their code"
        return f"{', '.join(self.students)}: the same {what} ({counted(self.cells, 'cell')})"


@dataclass(frozen=True)
class Work:
    """What a student wrote.

    code, texts : the cells that were not handed out like that, each as a hash of its text
    answers : of the texts, those so long that two do not write the same by chance
    """

    traits: frozenset[str]
    code: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


def read_work(notebook: Notebook, handed_out: Notebook) -> Work:
    """All that is compared of a hand-in, whose notebook need not be kept."""
    code, texts, answers = [], [], []
    for cell in _own_cells(notebook, handed_out):
        digest = _digest(cell)
        (code if cell.kind == "code" else texts).append(digest)
        if cell.kind != "code" and len(_WORD.findall(cell.source)) >= LEAST_WORDS:
            answers.append(digest)
    return Work(traits(notebook, handed_out), tuple(code), tuple(texts), tuple(answers))


def _own_cells(notebook: Notebook, handed_out: Notebook) -> Iterator[Cell]:
    """The cells that hold something of the student's; a changed test is another remark's."""
    given = {_text(cell) for cell in handed_out.cells}
    roles = {cell.grade_id: cell.role for cell in handed_out.cells if cell.grade_id}
    for cell in notebook.cells:
        role = roles.get(cell.grade_id, Role.SOLUTION)
        if role in (Role.SOLUTION, Role.REFLECTION) and _text(cell) not in {"", *given}:
            yield cell


def _text(cell: Cell) -> str:
    return "\n".join(line.rstrip() for line in cell.source.strip().splitlines())


def _digest(cell: Cell) -> str:
    text = f"{cell.kind} {_text(cell)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def identical(works: Mapping[str, Work]) -> tuple[Same, ...]:
    """Groups of students who handed in the same; the most work first."""
    groups = [
        Same(students, len(code) + len(texts), True)
        for (code, texts), students in _groups(works, lambda work: (work.code, work.texts))
        if code or texts
    ]
    whole = {group.students for group in groups}
    groups += [
        Same(students, len(code), False)
        for code, students in _groups(works, lambda work: work.code)
        if code and students not in whole
    ]
    return tuple(sorted(groups, key=lambda g: (-g.cells, not g.texts, g.students)))


def same_words(works: Mapping[str, Work], same: tuple[Same, ...]) -> tuple[SameWords, ...]:
    """Who shares which answers in words; not those who handed in the same throughout."""
    owners: dict[str, list[str]] = {}
    for student in sorted(works):
        for answer in set(works[student].answers):
            owners.setdefault(answer, []).append(student)
    groups = Counter(tuple(who) for who in owners.values() if len(who) > 1)
    whole = [set(group.students) for group in same if group.texts]
    found = [SameWords(w, n) for w, n in groups.items() if not any(set(w) <= g for g in whole)]
    return tuple(sorted(found, key=lambda group: (-group.cells, group.students)))


def _groups(
    works: Mapping[str, Work], key: Callable[[Work], Any]
) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """(key, students) of two or more with the same key."""
    found: dict[Any, list[str]] = {}
    for student in sorted(works):
        found.setdefault(key(works[student]), []).append(student)
    return ((what, tuple(who)) for what, who in found.items() if len(who) > 1)


def traits(notebook: Notebook, handed_out: Notebook) -> frozenset[str]:
    """What a student chose freely, as words with their kind: "name total", "comment shift".

    A cell as a whole is "cell relu 1f3a9c2e": where it stands, and a hash of what it says.
    """
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
    for cell in _own_cells(notebook, handed_out):
        if cell.grade_id in known:
            own.add(f"cell {cell.grade_id} {_digest(cell)[:8]}")
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


def likeness(
    hand_ins: Mapping[str, frozenset[str]],
    closest: int = CLOSEST,
    least: float = LEAST,
    same: tuple[Same, ...] = (),
) -> Likeness:
    """The closest pairs among students -> traits.

    least : pairs that are less alike are counted and not given
    same : groups whose pairs are alike throughout; of each, one pair is given

    Memory grows with the class and with the traits that two or more share, time with the square
    of the class.
    """
    copies = {name for group in same for name in group.students}
    students = sorted(name for name, own in hand_ins.items() if own or name in copies)
    vectors = _vectors([hand_ins[name] for name in students])
    groups = _Groups(students, same)
    counts = np.zeros(20, dtype=np.int64)
    found: list[tuple[float, int, int]] = []
    for start in range(0, len(students), _BLOCK):
        likes = vectors[start : start + _BLOCK] @ vectors.T
        rows, columns = np.triu_indices(len(likes), start + 1, len(students))
        values = np.clip(likes[rows, columns], 0.0, 1.0)
        rows += start
        values[groups.are_one(rows, columns)] = 1.0
        counts += np.histogram(values, bins=20, range=(0, 1))[0]
        values[groups.are_told_by_others(rows, columns)] = -1.0
        top = np.argsort(values)[::-1][:closest]
        found += [(float(values[i]), int(rows[i]), int(columns[i])) for i in top]
    found = sorted(found, key=lambda pair: (-pair[0], pair[1:]))[:closest]
    owners = Counter(trait for own in hand_ins.values() for trait in own)
    pairs = [
        Pair(students[i], students[j], like, _rarest(hand_ins, owners, students[i], students[j]))
        for like, i, j in found
        if like > 0 and like >= least
    ]
    return Likeness(tuple(pairs), tuple(int(n) for n in counts), int(counts.sum()), same)


class _Groups:
    """Who handed in the same, by place in the class: the first two of a group stand for all."""

    def __init__(self, students: list[str], same: tuple[Same, ...]) -> None:
        place = {name: i for i, name in enumerate(students)}
        self._group = np.arange(len(students))
        self._rank = np.zeros(len(students), dtype=np.int64)
        for group in sorted(same, key=lambda g: -len(g.students)):  # the widest holds the others
            members = [place[name] for name in group.students]
            if self._rank[members].any():
                continue
            self._group[members] = members[0]
            self._rank[members] = range(len(members))

    def are_one(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self._group[rows] == self._group[columns]

    def are_told_by_others(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        first = (self._rank[rows] == 0) & (self._rank[columns] == 0)
        shown = self.are_one(rows, columns) & (self._rank[rows] + self._rank[columns] == 1)
        return ~(first | shown)


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
    """The traits both hold and few others do, as people read them: what to look at."""
    both = hand_ins[first] & hand_ins[second]
    rarest = sorted(both, key=lambda trait: (owners[trait], trait))[:8]
    return tuple(_WHOLE.sub(r"\1 as a whole", trait) for trait in rarest)
