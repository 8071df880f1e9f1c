"""The notebook that a grader opens: the student's work in the module's order, and what was found.

Test cells, given cells and texts are the module's. The student's code and answers stand where the
module has them, further cells where the student put them. Nothing of what a hand-in's outputs
held is taken over; the outputs here say what the tests found.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from tito.errors import UserError
from tito.files import decode
from tito.grading.book.harmless import harmless, pictures
from tito.grading.book.recorded import RecordedCell, recorded
from tito.grading.judge.rebuild import Piece, Rebuilt, handed_out, rebuild
from tito.grading.judge.result import GRADED, LATER, MANUAL, PARTIAL, PASSED
from tito.notebook import Cell, Notebook, Role, read_ipynb, write_ipynb
from tito.notebook.points import display, exact
from tito.release.version import locks
from tito.strip import student_version

NOT_THERE = "# This was not in the hand-in."
NO_ANSWER = "*This was not in the hand-in.*"
# In full: formgrader's pages have no style for the terminal's colours by name.
_RED, _PLAIN = "\x1b[38;2;128;0;0m\x1b[48;2;255;221;221m", "\x1b[0m"
NOTES_SOURCE = "# What the grader noted about this hand-in"


class Pages:
    """Makes the notebooks of one module's hand-ins; what they have in common is worked out once."""

    def __init__(self, master: Notebook) -> None:
        self.master = master
        self.released = student_version(master).cells
        self.records = {r.name: r for r in recorded(master)}
        self._given_out = handed_out(master, None)

    def page(self, submission: bytes | None, graded: dict[str, Any]) -> Page:
        """What a grader sees of one hand-in.

        submission : the file as it was handed in; None where there is none
        graded : what the judge found, as in the grading JSON
        """
        found = None
        if graded["status"] == GRADED and submission is not None:
            try:
                found = _HandIn(self, submission)
            except UserError:
                found = None
        return Page(self, found, graded)

    def rebuilt(self, notebook: Notebook) -> Rebuilt:
        return rebuild(self.master, notebook, given_out=self._given_out)


class _HandIn:
    """The cells of a hand-in, found again in the master."""

    def __init__(self, pages: Pages, data: bytes) -> None:
        notebook = read_ipynb(data)
        self.cells = notebook.cells
        self._raw = _raw_cells(data)
        rebuilt = pages.rebuilt(notebook)
        self.solutions = rebuilt.solutions
        self.answers = self._answers(pages.master, rebuilt)
        self.extras = self._extras(pages.master, rebuilt)

    def _answers(self, master: Notebook, rebuilt: Rebuilt) -> dict[int, Cell]:
        """The cell of the hand-in for each reflection of the master; the first where several."""
        found: dict[int, Cell] = {}
        for n, at in sorted(rebuilt.places.items()):
            if master.cells[at].role is Role.REFLECTION:
                found.setdefault(at, self.cells[n])
        return found

    def _extras(self, master: Notebook, rebuilt: Rebuilt) -> dict[int, list[Cell]]:
        """Further cells by the master cell that they follow: code as it was graded, and texts."""
        found: dict[int, list[tuple[int, Cell]]] = defaultdict(list)
        for at, pieces in rebuilt.extras.items():
            found[at] += [(p.index, Cell("code", p.source)) for p in pieces]
        anchor, seen = -1, set()
        for n, cell in enumerate(self.cells):
            at = rebuilt.places.get(n)
            if at is None and cell.kind != "code" and cell.source.strip():
                found[anchor].append((n, self.text(cell)))
            elif at is not None and at in seen and master.cells[at].role is Role.REFLECTION:
                found[at].append((n, self.text(cell)))
            elif at is not None and at not in seen:
                anchor = at
                seen.add(at)
        return {
            at: [c for _, c in sorted(cells, key=lambda x: x[0])] for at, cells in found.items()
        }

    def text(self, cell: Cell) -> Cell:
        """A text of the student's, with its pictures. A raw cell would be shown as HTML."""
        made = Cell("markdown", harmless(cell.source))
        made.metadata["attachments"] = pictures(self._raw[cell.index - 1].get("attachments"))
        return made


def _raw_cells(data: bytes) -> list[dict[str, Any]]:
    """The cells as JSON, which hold the pictures of the texts; none of format 3."""
    document = json.loads(decode(data)[0])
    cells = document.get("cells")
    return cells if isinstance(cells, list) else defaultdict(dict)  # type: ignore[return-value]


class Page:
    """The notebook of one hand-in, and which of its answers were left as they were given out.

    unanswered : grade_ids of solutions and answers that hold nothing of the student's; a task is
        work that lies elsewhere, so nobody knows of those
    """

    def __init__(self, pages: Pages, handin: _HandIn | None, graded: dict[str, Any]) -> None:
        self._pages = pages
        self._handin = handin
        self._graded = graded
        self._results = {c["id"]: c for c in graded["cells"]}
        self.unanswered: set[str] = set()
        self._cells = list(self._all_cells())

    @property
    def readable(self) -> bool:
        """Whether there is a hand-in whose cells could be read."""
        return self._handin is not None

    def ipynb(self) -> str:
        """The notebook as text, the same for the same hand-in and result."""
        document = json.loads(write_ipynb(Notebook(self._cells), outputs=True))
        for entry, cell in zip(document["cells"], self._cells):
            if attachments := cell.metadata.get("attachments"):
                entry["attachments"] = attachments
            entry["metadata"].update(locks(cell))
        return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    def _all_cells(self) -> Iterable[Cell]:
        if notes := self._notes():
            yield Cell("code", NOTES_SOURCE, outputs=[_stream(notes)])
        yield from self._extras(-1)
        for at, cell in enumerate(self._pages.master.cells):
            yield from self._cell(at, cell)
            yield from self._extras(at)

    def _extras(self, at: int) -> list[Cell]:
        return self._handin.extras.get(at, []) if self._handin else []

    def _notes(self) -> str:
        """Why a hand-in could not be graded, what was odd in it, how it was confined."""
        graded = self._graded
        lines = []
        if graded["status"] != GRADED:
            lines.append(f"{graded['status']}: {graded.get('reason') or 'it could not be graded'}")
        lines += graded.get("deviations", [])
        lines += [f"{raised} (costs nothing by itself)" for raised in graded.get("raised", [])]
        return "\n".join(lines)

    def _cell(self, at: int, cell: Cell) -> list[Cell]:
        if cell.role is Role.SOLUTION:
            return self._solution(at, cell)
        if cell.role is Role.REFLECTION:
            return [self._reflection(at, cell)]
        if cell.role is Role.TEST:
            return [self._test(cell)]
        given = self._pages.released[at]
        return [Cell(cell.kind, given.source, self._metadata(cell), cell.id)]

    def _metadata(self, cell: Cell) -> dict[str, Any]:
        """The master's, with the checksum that nbgrader keeps for the cell."""
        record = self._record(cell)
        if record is None:
            return dict(cell.metadata)
        own = {**cell.nbgrader, "cell_type": record.cell_type}
        if record.checksum is not None:
            own["checksum"] = record.checksum
        return {**cell.metadata, "nbgrader": own}

    def _record(self, cell: Cell) -> RecordedCell | None:
        return self._pages.records.get(cell.grade_id) if cell.grade_id else None

    def _solution(self, at: int, cell: Cell) -> list[Cell]:
        """The student's code: the first part in the solution's cell, further parts below it."""
        pieces: list[Piece] = self._handin.solutions.get(at, []) if self._handin else []
        released = self._pages.released[at].source
        if not pieces or all(p.source == released for p in pieces):
            self.unanswered.add(cell.grade_id or "")
        first = pieces[0].source if pieces else NOT_THERE
        made = [Cell("code", first, self._metadata(cell), cell.id)]
        return made + [Cell("code", p.source) for p in pieces[1:]]

    def _reflection(self, at: int, cell: Cell) -> Cell:
        answer = self._handin.answers.get(at) if self._handin else None
        silent = answer is None or answer.source == self._pages.released[at].source
        if silent and not cell.task:
            self.unanswered.add(cell.grade_id or "")
        if answer is None:
            return Cell("markdown", NO_ANSWER, self._metadata(cell), cell.id)
        made = self._handin.text(answer)  # type: ignore[union-attr]
        return Cell("markdown", made.source, {**self._metadata(cell), **made.metadata}, cell.id)

    def _test(self, cell: Cell) -> Cell:
        made = Cell("code", cell.source, self._metadata(cell), cell.id)
        result = self._results.get(cell.grade_id)
        made.outputs = [_output(result)] if result else []
        return made


def _output(result: dict[str, Any]) -> dict[str, Any]:
    """What the tests found, as the output of their cell; red above where they failed."""
    words = f"{result['status']}: {_points(result)}"
    message = (result.get("message") or "").rstrip("\n")
    if result["status"] in (PASSED, PARTIAL, LATER, MANUAL):
        return _stream("\n".join([words, *([message] if message else [])]))
    return {
        "output_type": "error",
        "ename": result["status"],
        "evalue": message.partition("\n")[0],
        "traceback": [f"{_RED}{words}{_PLAIN}", *message.split("\n")],
    }


def _points(result: dict[str, Any]) -> str:
    most = exact(result["max_points"])
    if result["points"] is None:
        return f"not decided yet, of {display(most)} points"
    points: Fraction = exact(result["points"])
    return f"{display(points)} of {display(most)} points"


def _stream(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text + "\n"}
