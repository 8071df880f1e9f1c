"""What authors of modules do: make, check, pair and export them. The work is done elsewhere."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tito.commands import choose
from tito.commands.words import quoted, shown
from tito.course import Course, ModuleRef, find_course
from tito.errors import Problems, UsageError, UserError

if TYPE_CHECKING:
    from tito.grading.audit import Report


def sync(args: Namespace) -> int:
    """Bring pairs in step; with --check only say which are not."""
    from tito import sync as pairs

    refs = choose.modules(args.modules, args.all)
    if args.check:
        return _check_pairs(refs)
    problems: list[UserError] = []
    for ref in refs:
        try:
            if args.clear:
                done = "built without outputs" if pairs.clear(ref) else "is as the .py builds it"
                print(f"{ref.name}: {ref.ipynb.name} {done}")
            else:
                _tell_sync(ref, pairs.sync(ref, args.keep))
        except UserError as error:
            problems.append(error)
    if problems:
        raise Problems(problems)
    print("next: tito test" if refs[0].in_kit else f"next: tito lint {_word(refs[0])}")
    return 0


def _word(ref: ModuleRef) -> str:
    """What names the module on a command line: its name, or the file as the user named it."""
    return ref.name if ref.given is None else quoted(shown(ref.given))


def _tell_sync(ref: ModuleRef, outcome) -> None:
    from tito.sync import saved

    if outcome.written is None:
        print(f"{ref.name}: {outcome.state}")
    else:
        print(f"{ref.name}: {outcome.written.name} written from {saved(outcome.read)}")
    for note in outcome.notes:
        print(f"  {note}")


def _check_pairs(refs: list[ModuleRef]) -> int:
    from tito.sync import check

    wrong = {ref.name: why for ref in refs if (why := check(ref))}
    for name, why in wrong.items():
        print(f"{name}: {why}", file=sys.stderr)
    if not wrong:
        print(f"{len(refs)} module{'s' * (len(refs) != 1)} in step")
    again = " ".join(_word(ref) for ref in refs if ref.name in wrong)
    print(f"next: tito sync {again}" if wrong else f"next: tito lint {_word(refs[0])}")
    return 1 if wrong else 0


def lint(args: Namespace) -> int:
    """Check the rules of module files; errors make the exit code 1, warnings do not."""
    from tito.lint import lint_file

    refs = choose.modules(args.modules, args.all)
    if refs[0].in_kit and not args.modules:
        raise UsageError("a kit holds no module to write, so there is nothing to lint")
    findings = [f for ref in refs for f in lint_file(ref.source)]
    for finding in findings:
        print(finding, file=sys.stderr if finding.is_error else sys.stdout)
    errors = sum(f.is_error for f in findings)
    files = f"{len(refs)} file{'s' * (len(refs) != 1)}"
    print(f"{files}: {errors} errors, {len(findings) - errors} warnings")
    if errors:
        print("next: mend them and call tito lint again")
        return 1
    print(f"next: tito audit {_word(refs[0])}")
    return 0


def new(args: Namespace) -> int:
    """Make the template of a module, both halves."""
    course = find_course()
    if course.is_kit:
        raise UsageError(
            "modules are written in the course's repository, not in a kit", path=course.root
        )
    from tito.template import create

    ref = create(course, args.name)
    here = Path.cwd()
    folder = ref.folder.relative_to(here) if ref.folder.is_relative_to(here) else ref.folder
    print(f"made {folder / ref.py.name} and its notebook")
    print(f"next: write it, then tito lint {ref.name}")
    return 0


def audit(args: Namespace) -> int:
    """Prove that the tests of modules test; with --nbgrader, that nbgrader alone agrees."""
    course = find_course()
    if course.is_kit:
        raise UsageError("a kit holds no answers, so there is nothing to audit", path=course.root)
    refs = choose.modules(args.modules, args.all)
    if args.speed:
        return _audit_speed(course, refs)
    reports = _crosschecks(course, refs) if args.nbgrader else _audits(course, refs)
    failed = [report.module for report in reports if not _tell_report(report)]
    if not args.nbgrader and (leaks := _leaks(course)):
        print(leaks, file=sys.stderr)
        failed.append("leaks")
    if failed:
        print(f"not green: {', '.join(failed)}")
        return 1
    print("next: tito generate OUT" if not args.nbgrader else "nbgrader alone agrees")
    return 0


def _audit_speed(course: Course, refs: list[ModuleRef]) -> int:
    """Print what the reference reaches in each speed check; 1 if a step asks for too much."""
    from tito.grading.audit import setting_of, thresholds
    from tito.notebook import load

    problems: list[str] = []
    for ref in refs:
        master = load(ref.source)
        cells = thresholds.measure(master, setting_of(course, ref, master), say=_progress)
        _progress("")
        print(ref.name if cells else f"{ref.name}: no cell is graded by speed")
        for cell in cells:
            print("\n".join(f"  {line}" for line in cell.lines()))
        problems += [cell.problem for cell in cells if cell.problem]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print("next: lower these steps, or look at what the baseline does")
        return 1
    print(f"next: tito audit {_word(refs[0])}")
    return 0


def _audits(course: Course, refs: list[ModuleRef]) -> Iterator[Report]:
    from tito.grading.audit import audit as audit_one

    for ref in refs:
        report = audit_one(course, ref, _progress)
        _progress("")
        yield report


def _crosschecks(course: Course, refs: list[ModuleRef]) -> Iterator[Report]:
    from tito.grading.audit.crosscheck import crosscheck_all
    from tito.notebook import load
    from tito.release.version import student_ipynb

    _progress("nbgrader generates, validates and grades")
    yield from crosscheck_all(course, {ref: student_ipynb(load(ref.source)) for ref in refs})
    _progress("")


def _tell_report(report: Report) -> bool:
    """Print what was tried; whether it is green."""
    print(report.module)
    for name, tried, seconds in report.parts:
        print(f"  {name:20s} {tried:40s} {seconds:5.1f} s CPU")
    for note in report.notes:
        print(f"  note: {note}")
    for problem in report.problems:
        print(f"{report.module}: {problem}", file=sys.stderr)
    spent = f"{report.cpu_seconds:.1f} s CPU"
    print(
        f"  {'green' if report.green else f'{len(report.problems)} problems'}, {spent}", flush=True
    )
    return report.green


def _progress(text: str) -> None:
    """One line that is written over; only where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r{text:40s}\r", end="", file=sys.stderr, flush=True)


def _leaks(course: Course) -> UserError | None:
    """What a kit of this course would give away."""
    from tito.release import kit, leaks

    built = kit.build(course)
    try:
        leaks.check(
            built.files, built.secrets, leaks.allowed_runs(course.root / leaks.ALLOWED_FILE)
        )
    except UserError as error:
        return error
    return None


def export(args: Namespace) -> int:
    """Build the package from modules; with --check only say what would change."""
    from tito.export import plan_export, write

    course = find_course()
    refs = choose.modules(args.modules, args.all)
    conflicts = {} if args.check else _read_which(refs)
    plan = plan_export(course, [r for r in refs if r.name not in conflicts], keep_going=True)
    plan.failed = {**conflicts, **plan.failed}
    for warning in plan.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    done = None if args.check else write(plan)
    changes = plan.changes if done is None else done.changes
    for path, what in changes.items():
        print(f"{_short(path)}: {'would be ' * args.check}{what}")
    for path, copy in (done.backups if done else {}).items():
        print(f"{_short(path)} was not as tito export left it; the old file: {_short(copy)}")
    if plan.modules and not changes:
        print(f"{_short(course.package)}: nothing to change")
    _tell_missing(plan.missing)
    if plan.failed:
        return _tell_failed(plan, refs)
    return _next_after_export(args, refs, bool(changes), bool(plan.missing))


def _read_which(refs: list[ModuleRef]) -> dict[str, UserError]:
    """Sync, and say which file of each module is read; module -> why it cannot be read."""
    from tito.sync import ensure_in_step, saved

    problems = {}
    for ref in refs:
        try:
            print(f"{ref.name}: reading {saved(_short(ensure_in_step(ref)))}")
        except UserError as error:
            problems[ref.name] = error
    return problems


def _short(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _tell_missing(missing: list) -> None:
    for module in dict.fromkeys(m.module for m in missing):
        names = ", ".join(str(m) for m in missing if m.module == module)
        print(f"{module}: not written yet, exported as stubs: {names}")


def _tell_failed(plan, refs: list[ModuleRef]) -> int:
    for error in plan.failed.values():
        print(f"tito: {error}", file=sys.stderr)
    names = ", ".join(plan.failed)
    print(f"not exported: {names}; their files in the package are as they were", file=sys.stderr)
    again = [_word(ref) for ref in refs if ref.name in plan.failed] or list(plan.failed)
    print(f"next: mend it, then tito export {' '.join(again)}")
    return 1


def _next_after_export(args: Namespace, refs: list[ModuleRef], changed: bool, missing: bool) -> int:
    again = " ".join(["tito export", *map(_word, refs)])
    if args.check:
        if not changed:
            print("the package is up to date")
        print(f"next: {again if changed else f'tito test {_word(refs[0])}'}")
        return 1 if changed else 0
    print(f"next: tito {'start' if missing else _after_export(refs[0])} {_word(refs[0])}")
    return 0


def _after_export(ref: ModuleRef) -> str:
    """test; or submit, where the notebook passed its tests as it is now."""
    from tito.release import progress

    passed = ref.in_kit and progress.has_passed(find_course(), ref)
    return "submit" if passed else "test"
