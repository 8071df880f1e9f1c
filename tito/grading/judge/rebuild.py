"""Whose cell is this? A hand-in's cells found again in the master, whatever was done to them.

Tests, points and order come from the master. Of the hand-in only the code of solution cells and
of the student's own further cells is taken. Nothing a student did stops anything: what differs
from the released notebook is a *deviation*, named by cell.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tito.forbid import python_source
from tito.grading.judge.text import canonical, is_python, normal, same_text
from tito.notebook import Cell, Notebook, Role, read_ipynb, write_ipynb
from tito.notebook.names import bound
from tito.strip import student_version


@dataclass
class Piece:
    """Code of the student: the name people know it by, and its text."""

    label: str
    source: str
    index: int  # place in the hand-in


@dataclass
class Rebuilt:
    """What of the hand-in goes where. Keys are positions in the master's list of cells.

    solutions : the parts of each solution, in the hand-in's order
    extras : the student's other code, by the master cell it follows; -1 for the top
    merged : solutions whose code stands in another solution's cell
    places : which cell of the master each cell of the hand-in is, from 0
    ours : whether any graded cell or solution of the master was found
    """

    solutions: dict[int, list[Piece]] = field(default_factory=dict)
    extras: dict[int, list[Piece]] = field(default_factory=dict)
    deviations: list[str] = field(default_factory=list)
    merged: set[int] = field(default_factory=set)
    places: dict[int, int] = field(default_factory=dict)
    ours: bool = False


def rebuild(
    master: Notebook,
    submission: Notebook,
    release: Notebook | None = None,
    given_out: list[Cell] | None = None,
) -> Rebuilt:
    """Find each cell of the hand-in in the master: by grade_id, cell id, text, names defined.

    release : the notebook as it was handed out; its cell ids and texts are what a student had
    given_out : `handed_out(master, release)`, where it was worked out before
    """
    return _Rebuilder(master, submission, given_out or handed_out(master, release)).run()


class _Rebuilder:
    def __init__(self, master: Notebook, submission: Notebook, given_out: list[Cell]) -> None:
        self.master = master.cells
        self.cells = submission.cells
        self.handed_out = given_out
        self.target: dict[int, int] = {}  # place in the hand-in -> place in the master
        self.result = Rebuilt(deviations=list(submission.notes))

    def run(self) -> Rebuilt:
        self._match_by_identity()
        self._match_by_names()
        self._adopt_from_edited_cells()
        self._place()
        self._join_split_cells()
        self._report_missing()
        roles = {self.master[at].role for at in self.target.values()}
        self.result.places = self.target
        self.result.ours = bool(roles & {Role.SOLUTION, Role.TEST, Role.REFLECTION})
        return self.result

    # -- which cell is which

    def _match_by_identity(self) -> None:
        """By grade_id, by the cell id of the release, by the released text: in this order."""
        by_grade_id = {c.grade_id: i for i, c in enumerate(self.master) if c.grade_id}
        by_cell_id = {c.id: i for i, c in enumerate(self.handed_out) if c.id}
        by_text: dict[str, list[int]] = {}
        for i, cell in enumerate(self.handed_out):
            if normal(cell.source) and self.master[i].role is not Role.SOLUTION:
                by_text.setdefault(_key(cell), []).append(i)
        claimed = {c.grade_id for c in self.cells if c.grade_id in by_grade_id}
        for n, cell in enumerate(self.cells):
            if cell.grade_id in by_grade_id:
                self.target[n] = by_grade_id[cell.grade_id]
            elif cell.id in by_cell_id and self._free(by_cell_id[cell.id], claimed):
                self.target[n] = by_cell_id[cell.id]
            elif same := by_text.get(_key(cell)):
                self.target[n] = same.pop(0) if len(same) > 1 else same[0]
            self._report_identity(n, cell, claimed)

    def _free(self, position: int, claimed: set) -> bool:
        """No other cell of the hand-in carries this master cell's grade_id."""
        return self.master[position].grade_id not in claimed

    def _report_identity(self, n: int, cell: Cell, claimed: set) -> None:
        raw = cell.metadata.get("nbgrader")
        if raw is not None and not isinstance(raw, dict):
            self._note(cell, "its nbgrader metadata is no dictionary")
        elif cell.grade_id and cell.grade_id not in claimed:
            self._note(cell, "this grade_id is not one of the course's")
        if n in self.target:
            ours = self.master[self.target[n]]
            if ours.grade_id and ours.grade_id != cell.grade_id:
                how = "cell id" if cell.id == self.handed_out[self.target[n]].id else "text"
                self._note(cell, f"recognised as {ours.grade_id} by its {how}")

    def _match_by_names(self) -> None:
        """A solution nobody claims: any other code of the student that defines its names."""
        for position in self._solutions_without_cell():
            names = _defined(self.master[position])
            for n, cell in enumerate(self.cells):
                if n in self.target or cell.kind != "code":
                    continue
                if names & _bound(cell.source):
                    self.target[n] = position
                    grade_id = self.master[position].grade_id
                    self._note(cell, f"recognised as {grade_id} by the names it defines")

    def _adopt_from_edited_cells(self) -> None:
        """Still none: code that stands in a cell of ours, merged into it or written there."""
        for position in self._solutions_without_cell():
            names = _defined(self.master[position])
            for n, at in self.target.items():
                cell = self.cells[n]
                if cell.kind != "code" or not names & _bound(cell.source):
                    continue
                self.result.merged.add(position)
                where = self.master[at]
                if where.role is not Role.SOLUTION:
                    piece = Piece(cell.label, cell.source, n)
                    self.result.solutions.setdefault(position, []).append(piece)
                self._note(cell, f"it holds the code of {self.master[position].grade_id} as well")

    def _solutions_without_cell(self) -> list[int]:
        have = {at for n, at in self.target.items() if self.cells[n].kind == "code"}
        return [i for i, c in enumerate(self.master) if c.role is Role.SOLUTION and i not in have]

    # -- what becomes of it

    def _place(self) -> None:
        """Solutions to their place, further code after the nearest matched cell above it."""
        anchor, seen, order = -1, {}, []
        for n, cell in enumerate(self.cells):
            at = self.target.get(n)
            if at is None:
                if cell.kind == "code" and cell.source.strip():
                    self._extra(anchor, n, cell)
                continue
            again = at in seen
            seen[at] = n
            if not again:
                anchor = at
                order.append(at)
            self._take(at, n, cell, again)
        graded = [at for at in order if self.master[at].role in (Role.SOLUTION, Role.TEST)]
        if graded != sorted(graded):
            self.result.deviations.append("cells were moved: the course's order was used")

    def _take(self, at: int, n: int, cell: Cell, again: bool) -> None:
        ours = self.master[at]
        if again:
            solution = ours.role is Role.SOLUTION and cell.kind == "code"
            what = "run after the first" if solution else "the copy was left out"
            self._note(cell, f"{ours.grade_id or ours.label} appears again: {what}")
        elif cell.grade_id == ours.grade_id:
            self._report_settings(ours, cell)
        if ours.role is Role.SOLUTION:
            self._take_solution(at, n, cell)
        elif ours.role is Role.TEST and not again:
            self._report_test(at, cell)
        elif ours.role is Role.GIVEN and cell.kind == "code":
            self._take_given(at, n, cell)

    def _take_solution(self, at: int, n: int, cell: Cell) -> None:
        if cell.kind == "code":
            piece = Piece(cell.label, cell.source, n)
            self.result.solutions.setdefault(at, []).append(piece)
        else:
            self._note(cell, f"{self.master[at].grade_id} is no longer a code cell")

    def _take_given(self, at: int, n: int, cell: Cell) -> None:
        """An edited given cell may hold what the student's own code needs: it runs after ours."""
        if not same_text(cell.source, self.handed_out[at].source):
            self._note(cell, "given cell edited: the course's runs, then the edited one")
            self._extra(at, n, cell)

    def _report_test(self, at: int, cell: Cell) -> None:
        if cell.kind != "code":
            self._note(cell, "this test is no longer a code cell: the course's ran")
        elif not any(
            same_text(cell.source, c.source) for c in (self.handed_out[at], self.master[at])
        ):
            self._note(cell, "test edited: the course's ran")

    def _report_settings(self, ours: Cell, cell: Cell) -> None:
        keys = ("grade", "solution", "locked", "points", "task")
        if ours.grade_id and any(
            ours.nbgrader.get(k) != cell.nbgrader.get(k) for k in keys if k in ours.nbgrader
        ):
            self._note(cell, "nbgrader settings changed: the course's count")

    def _extra(self, anchor: int, n: int, cell: Cell) -> None:
        self.result.extras.setdefault(anchor, []).append(Piece(cell.label, cell.source, n))

    def _join_split_cells(self) -> None:
        """A cell cut in two by accident: parts that are no Python alone but are together."""
        for at, pieces in self.result.solutions.items():
            pieces.sort(key=lambda piece: piece.index)
            if all(is_python(p.source) for p in pieces):
                continue
            if len(pieces) > 1 and self._join(pieces, pieces):
                continue
            self._join_with_extra(at, pieces)
        self.result.extras = {at: pieces for at, pieces in self.result.extras.items() if pieces}

    def _join_with_extra(self, at: int, pieces: list[Piece]) -> None:
        """The lower half kept no metadata: it is the code cell right below."""
        last = pieces[-1]
        for extras in self.result.extras.values():
            for piece in extras:
                if piece.index == last.index + 1 and self._join([last, piece], pieces):
                    extras.remove(piece)
                    return

    def _join(self, parts: list[Piece], pieces: list[Piece]) -> bool:
        """Put `parts` together in `pieces` if that makes Python of them."""
        source = "\n".join(p.source.rstrip("\n") for p in parts)
        if not is_python(source):
            return False
        first = parts[0]
        labels = " and ".join(p.label for p in parts)
        self.result.deviations.append(f"{labels}: one cell was split, the parts were joined")
        start = pieces.index(first)
        taken = [p for p in parts if p in pieces]
        pieces[start : start + len(taken)] = [Piece(first.label, source, first.index)]
        return True

    def _report_missing(self) -> None:
        there = set(self.target.values()) | self.result.merged | set(self.result.solutions)
        for i, cell in enumerate(self.master):
            if i in there:
                continue
            if cell.role is Role.SOLUTION:
                self.result.deviations.append(f"{cell.grade_id}: not in the hand-in")
            elif cell.role is Role.TEST:
                self.result.deviations.append(f"{cell.grade_id}: not in the hand-in, ours ran")

    def _note(self, cell: Cell, what: str) -> None:
        # A grade_id of the hand-in can hold anything.
        label = "".join(c if c.isprintable() else "?" for c in cell.label[:100])
        self.result.deviations.append(f"{label}: {what}")


def handed_out(master: Notebook, release: Notebook | None) -> list[Cell]:
    """For each master cell the cell a student was given: its id and its visible text."""
    if release is None:
        return _as_released(master)
    by_grade_id = {c.grade_id: c for c in release.cells if c.grade_id}
    by_text = {normal(c.source): c for c in release.cells}
    found = []
    for own in _as_released(master):
        same = by_grade_id.get(own.grade_id) if own.grade_id else by_text.get(normal(own.source))
        found.append(same or own)
    return found


def _as_released(master: Notebook) -> list[Cell]:
    """The cells as our own build hands them out, with the cell ids it gives them."""
    text = write_ipynb(student_version(master))
    return read_ipynb(text.encode("utf-8", "surrogatepass")).cells


def _key(cell: Cell) -> str:
    """Cells of one key say the same."""
    return canonical(cell.source) if cell.kind == "code" else normal(cell.source)


def _defined(cell: Cell) -> set[str]:
    return _bound(cell.source)


def _bound(source: str) -> set[str]:
    try:
        return bound(python_source(source))[0]
    except (RecursionError, MemoryError):  # code nested beyond what the compiler takes
        return set()
