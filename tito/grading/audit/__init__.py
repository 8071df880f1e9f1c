"""Proof that a module's tests test: the reference full, everything else nothing or less."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tito.course import Course, ModuleRef
from tito.errors import UserError
from tito.files import read_text
from tito.grading.audit import generated, handmade, judged, thresholds
from tito.grading.audit.remembered import fingerprint, is_green, remember
from tito.grading.audit.report import Report, cpu_seconds
from tito.grading.limits import default_jobs
from tito.grading.secret import secret_of
from tito.lint import grading_problems
from tito.notebook import Notebook, load

__all__ = ["CPU_SECONDS", "Report", "audit", "ensure_green", "is_green"]

CPU_SECONDS = 60.0


def audit(course: Course, ref: ModuleRef, say: Callable[[str], None] = lambda text: None) -> Report:
    """Audit one module; a green audit is remembered.

    say : told what is being tried, for a progress line
    """
    master = load(ref.source)
    folder = course.root / "tests" / "mutants" / ref.name
    setting = setting_of(course, ref, master)
    mutants = handmade.read_all(folder)
    report = Report(ref.name)
    # Taken now: what is edited while the audit runs was not audited.
    audited = fingerprint(course, ref)
    remember(course, ref, None)

    part = _Parts(report, say)
    part("rules", "what grading needs of a module file", _broken_rules(ref, master))
    if not report.problems:
        # Beside the judge, since that waits at times; where something is timed, it comes first.
        with generated.begun(master, course.root, generated.read_equivalent(folder)) as beside:
            part.beside = beside
            part("reference", "full points everywhere", judged.reference(master, setting))
            # With a red reference or a judge that does not start, zeros would prove nothing.
            if not report.problems:
                part("blanks", "no point anywhere", judged.blanks(master, setting))
                found = judged.hand_made(master, mutants, setting)
                part("hand-made mutants", f"{len(mutants)}", found)
                say("generated mutants")
                _tell_generated(report, beside.outcome(), folder)
    if report.cpu_seconds > CPU_SECONDS:
        report.notes.append(f"an audit is meant to take at most {CPU_SECONDS:g} s CPU")
    remember(course, ref, audited if report.green else None)
    return report


class _Parts:
    """Notes what the parts of an audit find, and their CPU time.

    beside : a part with a clock of its own, which runs at the same time
    """

    def __init__(self, report: Report, say: Callable[[str], None]) -> None:
        self.beside: generated.Trial | None = None
        self._report = report
        self._say = say

    def __call__(self, name: str, tried: str, problems: Iterable[str]) -> None:
        self._say(name)
        before = self._cpu_seconds()
        self._report.problems += problems
        self._report.parts.append((name, tried, self._cpu_seconds() - before))

    def _cpu_seconds(self) -> float:
        return cpu_seconds() - (self.beside.cpu_seconds() if self.beside else 0.0)


def _broken_rules(ref: ModuleRef, master: Notebook) -> list[str]:
    """Lint's errors of the kind that would make points wrong."""
    text = read_text(ref.source)[0] if ref.source.suffix == ".py" else None
    return [str(finding) for finding in grading_problems(master, text)]


def _tell_generated(report: Report, found: generated.Outcome, folder: Path) -> None:
    report.problems += [f"{test} is red for the reference in the warm child" for test in found.red]
    report.problems += [
        f"survives: {m.title}\n  try: a test that sees it, or an entry in "
        f"{folder.name}/{generated.EQUIVALENT_FILE}"
        for m in found.survivors
    ]
    for entry in found.unused:
        report.notes.append(f"entry that excuses nothing: {entry.was}   ->   {entry.becomes}")
    tried = f"{found.tried}, of which {len(found.excused)} change nothing"
    report.parts.append(("generated mutants", tried, found.seconds))


def setting_of(course: Course, ref: ModuleRef, master: Notebook) -> judged.Setting:
    """The package as far as it lies before the module, and the module's data files."""
    before = [m for m in course.modules if m.number is not None and m.number < (ref.number or 0)]
    # "simd.gemm" and what is routed beside it lie in one folder of the package, "simd".
    targets = {(load(m.source).default_exp or "").partition(".")[0] for m in before} - {""}
    files = [p for p in sorted(ref.folder.iterdir()) if _is_data(p, ref)]
    timed = frozenset(cell.id for cell in thresholds.speed_cells(master))
    # Where nothing is timed, those that wait (threads that never meet) leave their core to others.
    jobs = default_jobs() * (1 if timed else 2)
    secret = secret_of(master)
    return judged.Setting(course.package, sorted(targets), tuple(files), secret, jobs, timed)


def _is_data(path: Path, ref: ModuleRef) -> bool:
    hidden = path.name.startswith(".") or ".orig" in path.name
    return path.is_file() and not hidden and path not in (ref.py, ref.ipynb)


def ensure_green(
    course: Course, ref: ModuleRef, say: Callable[[str], None] = lambda text: None
) -> None:
    """Audit the module unless it is known to be green; UserError where it is not."""
    if is_green(course, ref):
        return
    report = audit(course, ref, say)
    if not report.green:
        first = report.problems[0]
        more = f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else ""
        raise UserError(
            f"the audit of {ref.name} fails: {first}{more}",
            path=ref.source,
            hint=f"tito audit {ref.name}",
        )
