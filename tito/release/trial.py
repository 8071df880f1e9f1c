"""`tito test`: a student's own notebook through the judge, with the tests that can be seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tito.course import Course, ModuleRef
from tito.notebook import Cell, Notebook, Role, load
from tito.notebook.model import exercises
from tito.notebook.points import display
from tito.release import kit, progress
from tito.sync import ensure_in_step

if TYPE_CHECKING:
    from tito.grading.judge import CellResult, Result

PASSED = "passed"


@dataclass
class Question:
    """An exercise, or a test that belongs to none: what it earned so far.

    later : points that hidden tests decide after hand-in
    message : of the first visible test that did not pass
    """

    title: str
    status: str = PASSED
    points: Fraction = Fraction(0)
    max_points: Fraction = Fraction(0)
    later: Fraction = Fraction(0)
    tests: int = 0
    message: str = ""


@dataclass
class Trial:
    """One notebook tested.

    own   : it is a kit's, tested against its release
    alone : why it was tested without the package; empty where that is the module's
    """

    ref: ModuleRef
    path: Path
    result: Result
    questions: list[Question] = field(default_factory=list)
    own: bool = False
    alone: str = ""

    @property
    def tests(self) -> int:
        return sum(q.tests for q in self.questions)

    @property
    def max_points(self) -> Fraction:
        """Of the visible tests."""
        return sum((q.max_points for q in self.questions), Fraction(0))

    @property
    def passed(self) -> bool:
        """Every visible test passed, there was one, and no other cell raised."""
        return self.result.all_passed and self.tests > 0 and not self.result.raised


def run(course: Course | None, ref: ModuleRef) -> Trial:
    """Test the notebook of `ref`; in a kit the master is its release, elsewhere itself."""
    from tito.grading.judge import Result, grade
    from tito.grading.limits import limits_of

    path = ensure_in_step(ref)
    own = course is not None and _is_released(course, ref)
    master = kit.released(course, ref.name) if own else load(path)
    if not master.of_role(Role.TEST):
        return Trial(ref, path, Result(module=ref.name), [], own)
    inside = course is not None and ref in _named(course)
    result = grade(
        master,
        load(path) if path.suffix == ".py" else path.read_bytes(),
        package=course.package if inside else None,
        package_modules=earlier_exports(course, ref) if inside else None,
        files=data_files(ref) if inside else (),
        limits=limits_of(course.root if inside else None),
        visible_only=True,
        before="own" if own else "reference",
    )
    result.module = ref.name
    alone = "" if inside else _why_alone(course)
    trial = Trial(ref, path, result, questions(master, result.cells), own, alone)
    if own and result.status == "graded":
        progress.remember_test(
            course, path, ref.name, display(result.points), display(trial.max_points)
        )
    return trial


def _why_alone(course: Course | None) -> str:
    return (
        "it lies in no course folder" if course is None else "it is none of this course's modules"
    )


def _named(course: Course) -> list[ModuleRef]:
    """The modules of the course, whether named by a word or as one of their files."""
    found = []
    for module in course.modules:
        found.append(module)
        for path in (module.py, module.ipynb):
            found.append(ModuleRef(module.name, module.folder, module.in_kit, path))
    return found


def _is_released(course: Course, ref: ModuleRef) -> bool:
    """Whether the kit handed `ref` out: one of its modules, not a loose file beside them."""
    return course.is_kit and any(
        m.name == ref.name and m.folder == ref.folder for m in course.modules
    )


def earlier_exports(course: Course, ref: ModuleRef) -> list[str]:
    """The parts of the package that modules before this one make: "loops", "simd", ..."""
    earlier = [
        m
        for m in course.modules
        if m.number is not None and ref.number is not None and m.number < ref.number
    ]
    return sorted({_part(file) for module in earlier for file in _exports(course, module)})


def _exports(course: Course, module: ModuleRef) -> list[str]:
    if course.is_kit:
        return kit.read_manifest(course)["modules"].get(module.name, {}).get("exports", [])
    from tito.export import plan_notebooks

    files, _, _ = plan_notebooks([(module.name, load(module.source))])
    return [f"{kit.PACKAGE}/{file}" for file in files]


def _part(file: str) -> str:
    """ "tinykernels/simd/gemm.py" -> "simd", "tinykernels/loops.py" -> "loops"."""
    return file.split("/")[1].removesuffix(".py")


def data_files(ref: ModuleRef) -> list[Path]:
    """What lies beside the module's notebook and is read by it."""
    return [
        p
        for p in sorted(ref.folder.iterdir())
        if p.is_file() and p.suffix not in (".py", ".ipynb", ".orig") and p.name[0] != "."
    ]


def questions(master: Notebook, results: Iterable[CellResult]) -> list[Question]:
    """The results of the master's test cells, put together by exercise."""
    by_id = {r.id: r for r in results}
    owner: dict[str | None, Question] = {}
    found: list[Question] = []
    for exercise in exercises(master):
        title = f"{exercise.number} {exercise.solution.grade_id or exercise.solution.label}"
        question = Question(title)
        owner.update({t.grade_id: question for t in exercise.tests})
    for cell in master.cells:
        result = by_id.get(cell.grade_id) if cell.grade_id else None
        if result is None or result.status == "manual":
            continue
        question = owner.setdefault(cell.grade_id, Question(_title(cell)))
        if question not in found:
            found.append(question)
        _count(question, result)
    return found


def _title(cell: Cell) -> str:
    return cell.grade_id or cell.label


def _count(question: Question, result: CellResult) -> None:
    if result.status == "later":
        question.later += result.max_points
        return
    question.tests += 1
    question.points += result.points or 0
    question.max_points += result.max_points
    if result.status != PASSED and question.status == PASSED:
        question.status = result.status
        question.message = result.message or result.status


def as_lines(trial: Trial) -> list[str]:
    """One line a question; below one that did not pass, what else its message says."""
    if not trial.questions:
        return []
    width = max(len(q.title) for q in trial.questions)
    lines = []
    for q in trial.questions:
        first, *rest = (q.message or PASSED).split("\n")
        if not q.tests:
            first = "decided after hand-in"
        points = f"{display(q.points)}/{display(q.max_points)}" if q.tests else "-"
        later = f"+{display(q.later)} later" if q.later else ""
        lines.append(f"  {q.title:<{width}}  {points:>6}  {later:<9}  {first.strip()}".rstrip())
        lines += ["      " + line for line in rest if line.strip()]
    return lines


def summary(trial: Trial) -> str:
    """The points so far and those still open, in one line."""
    result = trial.result
    parts = [f"visible tests: {display(result.points)} of {display(trial.max_points)} points"]
    if result.later_points:
        parts.append(f"{display(result.later_points)} more are decided after hand-in")
    if result.manual_points:
        parts.append(f"{display(result.manual_points)} are read by a person")
    return "; ".join(parts)


def as_json(trials: Iterable[Trial]) -> dict[str, Any]:
    """The grading JSON, with the file instead of a student's name."""
    return {
        "version": 1,
        "submissions": [
            {"student": "", "file": str(t.path), "passed": t.passed, **t.result.to_json()}
            for t in trials
        ],
    }
