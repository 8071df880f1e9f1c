"""What students do: begin, work, test, start again, hand in. The work is done elsewhere."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from tito.commands import choose
from tito.commands.deliver import deliver
from tito.commands.words import call_tito, columns, quoted, shown
from tito.course import Course, ModuleRef, find_course
from tito.errors import Problems, UsageError, UserError


def start(args: Namespace) -> int:
    """Make or open the course folder, and say which notebook is next."""
    from tito.release import workspace

    own = _own_course()
    ref = own.resolve(args.module) if args.module else _first_open(own)
    if workspace.restore_missing(own, ref.name):
        print(f"{shown(ref.ipynb)} was missing and is back as it was handed out")
    print(f"your notebook: {shown(ref.source)}")
    print(f"next: {_tito(own)} lab {_number(ref)}")
    return 0


def lab(args: Namespace) -> int:
    """Run JupyterLab on the course folder until it is stopped."""
    from tito.release import jupyter, workspace

    own = _own_course()
    ref = own.resolve(args.module) if args.module else _first_open(own)
    workspace.restore_missing(own, ref.name)
    print(f"JupyterLab opens {shown(ref.source)}; stop it here with Ctrl-C")
    print(f"after saving, in another terminal: {_tito(own)} test {_number(ref)}", flush=True)
    return jupyter.run_lab(own, ref, browser=not args.no_browser, port=args.port)


def status(args: Namespace) -> int:
    """A line a module: written, exported, points, hours."""
    from tito.release import progress

    own = _own_course()
    rows = [progress.of_module(own, ref) for ref in own.modules]
    table = [("module", "written", "exported", "visible points", "tested", "hours", "")]
    table += [
        (
            row.name,
            f"{row.written}/{row.exercises}",
            row.exported,
            row.points or "-",
            row.tested or "-",
            row.hours or "-",
            row.remark,
        )
        for row in rows
    ]
    for line in columns(table):
        print(line)
    print(f"next: {_advice(own, rows)}")
    return 0


def _advice(own: Course, rows: list) -> str:
    row = next((r for r in rows if not r.done), None)
    if row is None:
        return f"everything is written and exported: tito submit {rows[-1].name[:2]}"
    if row.broken:
        return f"mend {row.name} as said above, save, and call {_tito(own)} status again"
    if row.written < row.exercises:
        return f"{_tito(own)} lab {row.name[:2]}"
    if row.failing:
        return f"{_tito(own)} test {row.name[:2]} says which exercise to mend"
    return f"{_tito(own)} export {row.name[:2]}"


def test(args: Namespace) -> int:
    """Grade the student's own notebooks; 0 only when every visible test passed."""
    from tito.release import trial

    say = _speaker(args.json)
    course, refs = _to_test(args, say)
    trials, problems = [], []
    for ref in refs:
        try:
            trials.append(trial.run(course, ref))
            _tell_trial(trials[-1], say)
        except UserError as error:
            problems.append(error)
    if args.json is not None:
        _write_json(trial.as_json(trials), args.json)
    if problems:
        raise problems[0] if len(problems) == 1 else Problems(problems, code=problems[0].code)
    say(f"next: {_after_test(trials)}")
    return 0 if all(t.passed for t in trials) else 1


def _to_test(args: Namespace, say) -> tuple[Course | None, list[ModuleRef]]:
    """The modules to test: in the course's repository those of the student's kit there."""
    try:
        course = find_course()
    except UsageError:
        return None, choose.modules(args.modules, args.all)
    if not course.is_kit and not any(_is_file(w) for w in args.modules):
        kit = Course(course.root / "kit")
        if kit.is_kit:
            say(f"testing your kit in {shown(kit.root)}; a file's path tests the course's own")
            course = kit
        else:
            say("this is the course's own solution; your work begins with tito start")
    refs = [course.resolve(w) for w in args.modules] or _worth_testing(course, args.all)
    if args.modules and args.all:
        raise UsageError("name modules or say --all, not both")
    return course, refs


def _is_file(word: str) -> bool:
    return Path(word).suffix in (".py", ".ipynb")


def _worth_testing(course: Course, every: bool) -> list[ModuleRef]:
    """Without a word: the modules that were begun, or else the first."""
    from tito.release import progress

    if not course.modules:
        raise UsageError("this course folder has no modules", path=course.root / "modules")
    if every or not course.is_kit:
        return course.modules
    begun = [m for m in course.modules if progress.of_module(course, m).written]
    return begun or course.modules[:1]


def _tell_trial(trial, say) -> None:
    from tito.release.trial import as_lines, summary
    from tito.sync import saved

    say(f"{trial.ref.name}: {saved(trial.path)}")
    if trial.result.status != "graded":
        say(f"  not graded: {trial.result.reason or trial.result.status}")
        return
    if not trial.questions:
        say("  no test found in this file: nothing was checked")
        return
    if trial.alone:
        say(f"  {trial.alone}: tested alone, without the package of earlier modules")
    for line in as_lines(trial):
        say(line)
    for deviation in trial.result.deviations:
        say(f"  note: {deviation}")
    for raised in trial.result.raised:
        say(f"  stopped with an error outside the tests: {raised}")
    if not trial.tests:
        say("  no visible test found: nothing was checked")
    say(f"  {summary(trial)}")


def _after_test(trials: list) -> str:
    from tito.grading.judge.messages import earlier_module

    failed = next((t for t in trials if not t.passed), None)
    if failed is None and trials[-1].own:
        name = _number(trials[-1].ref)
        return f"tito export {name}, then tito submit {name}"
    if failed is None:
        return f"tito grade run HANDINS --master {quoted(str(trials[-1].path))}"
    word = _number(failed.ref) if failed.own else quoted(str(failed.path))
    if failed.result.status != "graded" or not failed.tests:
        return f"tito reset {word} --list shows backups" if failed.own else "check the file"
    question = next((q for q in failed.questions if q.tests and q.status != "passed"), None)
    if question and (earlier := earlier_module(question.message)):
        return f"finish module {earlier}, tito export {earlier}, then tito test {word} again"
    what = f"exercise {question.title}" if question else "the cell that raised"
    # What a cell defines is missing, too, where the cell stops with an error.
    stopped = {raised.partition(",")[0].split()[-1] for raised in failed.result.raised}
    is_missing = question is not None and question.status == "missing"
    verb = "write" if is_missing and f"({question.title.split()[-1]})" not in stopped else "mend"
    return f"{verb} {what}, save, and call tito test {word} again"


def reset(args: Namespace) -> int:
    """Put a module back as it was handed out, show backups, or bring one back."""
    from tito.release import backups

    own = _own_course(make=False)
    ref = own.resolve(args.module)
    if args.list:
        return _list_backups(own, ref)
    if args.restore is not None:
        change = backups.restore(own, ref, args.restore)
        print(f"{shown(change.written)} is the backup again")
    else:
        change = backups.reset(own, ref)
        print(f"{shown(change.written)} is as it was handed out")
    for path in change.kept:
        print(f"what was there: {shown(path)}")
    if change.kept and args.restore is None:
        print(
            f"next: tito lab {_number(ref)} (your work back: tito reset {_number(ref)} --restore)"
        )
    else:
        print(f"next: tito lab {_number(ref)} (reload the notebook if it is open)")
    return 0


def _list_backups(own: Course, ref: ModuleRef) -> int:
    from tito.release import backups

    found = backups.backups(own, ref)
    for path in found:
        print(f"{path.name}  made {backups.when(path)}")
    if not found:
        print(f"no backup of {ref.name} yet: tito reset makes one")
        return 0
    print(f"next: tito reset {_number(ref)} --restore {found[0].name}")
    return 0


def submit(args: Namespace) -> int:
    """Pack a module for handing in, and say what is still open in it."""
    from tito.release import submission
    from tito.sync import ensure_in_step, saved

    own = _own_course()
    ref = own.resolve(args.module)
    ensure_in_step(ref)
    packed = submission.pack(own, ref, Path(args.out) if args.out else None)
    print(f"packed {saved(packed.notebook)}")
    for label, names in (
        ("not written yet", packed.open.exercises),
        ("not answered yet", packed.open.reflections),
        ("test cells missing (the course's own are used)", packed.missing),
    ):
        if names:
            print(f"  {label}: {', '.join(names)}")
    for trouble in packed.troubles:
        print(f"  mend this first: {trouble}")
    if packed.open:
        print("  you can hand in as it is; to add something, save it and call tito submit again")
    print(f"wrote {shown(packed.path)}")
    print(
        f"next: upload {packed.path.name} where your course collects work "
        f"({packed.notebook.name} alone is as good)"
    )
    return 0


def _own_course(*, make: bool = True) -> Course:
    """The student's kit; in the course's repository the one in kit/, made once."""
    from tito.release import workspace

    course = find_course()
    if not make and not course.is_kit and not Course(course.root / workspace.FOLDER).is_kit:
        raise UserError(
            "this is the course's repository, where nothing of yours can be reset",
            path=course.root,
            hint="tito start makes a folder of your own",
        )
    if course.is_kit:
        return course
    space = workspace.open_workspace(course)
    where = shown(space.course.root)
    if space.made:
        print(f"this is the course's repository, answers included; made {where} for your work")
    else:
        print(f"this is the course's repository; working in {where}")
    for note in space.notes:
        print(f"note: {note}")
    return space.course


def _first_open(own: Course) -> ModuleRef:
    """The first module with something left to write, else the last."""
    from tito.release import progress

    for ref in own.modules:
        row = progress.of_module(own, ref)
        if row.written < row.exercises and row.exported != "given":
            return ref
    return own.modules[-1]


def _tito(own: Course) -> str:
    """How to call tito next, from where we are: in a kit that is elsewhere, go there first."""
    if Path.cwd().resolve().is_relative_to(own.root.resolve()):
        return "tito"
    return f"cd {quoted(shown(own.root))} && {call_tito(own.root)}"


def _number(ref: ModuleRef) -> str:
    return ref.name[:2] if ref.number is not None else quoted(str(ref.source))


def _speaker(json_target: str | None):
    """print; to stderr where stdout belongs to the JSON."""
    stream = sys.stderr if json_target == "-" else sys.stdout

    def say(text: str) -> None:
        print(text, file=stream, flush=True)

    return say


def _write_json(document: dict, target: str) -> None:
    import json

    deliver(target, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
