"""`tito demo`: the whole way of one module, from the kit to the points, in a scratch folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import tito
from tito.commands.words import call_tito
from tito.course import Course, ModuleRef, find_course
from tito.errors import UserError
from tito.grading import example_handins
from tito.notebook import Notebook, load

# An endless loop is ended early here, so that nobody waits for the demo.
SECONDS_A_CALL = 1.0
STEPS = 5


def demo(args: Namespace) -> int:
    """Walk through the course; 1 where a step does not show what it should."""
    from tito.release import kit

    course = _course()
    ref = course.modules[0]
    began = time.perf_counter()
    with _folder(args.keep) as folder:
        _step(1, f"the kit: {ref.name} without answers, as students get it")
        own = Course(folder / "kit")
        made = kit.generate(course, own.root)
        runs = len(made.secrets.grams)
        print(f"  {len(made.files)} files searched for {runs} runs of answers: none found")
        _step(2, "five students hand in")
        master = load(ref.source)
        handed_in = example_handins.handins(master, kit.released_bytes(own, ref.name))
        _hand_in(own, ref, handed_in, folder / "handins")
        _step(3, "grading: the tests run in one process, each student's code in another")
        good = _grade(course, ref, master, folder / "handins")
        _step(4, "the complete notebook becomes a package")
        good &= _export(own, ref, handed_in["complete"])
        _step(5, "used from plain Python")
        good &= _use(own, ref)
        print(f"\nall this took {time.perf_counter() - began:.0f} s")
        if args.keep:
            print(f"kept: {folder} (kit/, handins/)")
        print(_next(course, good))
    return 0 if good else 1


def _course() -> Course:
    """The course here, or the one that this tito lies in: never a kit, which has no answers."""
    places = [None, Path(tito.__file__).parent]
    for place in places:
        with contextlib.suppress(UserError):
            course = find_course(place)
            if not course.is_kit and course.modules:
                return course
    raise UserError(
        "the demo needs the course's repository: a kit has no solutions to show",
        hint="call it there, or begin here with tito start",
    )


@contextlib.contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """The scratch folder; removed at the end unless it is to be kept."""
    if keep:
        from tito.release.kit import refuse_unless_free

        folder = Path(keep).absolute()
        refuse_unless_free(folder)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    folder = Path(tempfile.mkdtemp(prefix="tito-demo-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _step(number: int, title: str) -> None:
    print(f"\n{number}/{STEPS}  {title}", flush=True)


def _hand_in(own: Course, ref: ModuleRef, notebooks: dict[str, bytes], folder: Path) -> None:
    """A folder a student; the complete one is packed by `tito submit`, as a student would."""
    from tito.release import submission

    for name, data in notebooks.items():
        target = folder / name
        target.mkdir(parents=True)
        if name == "complete":
            _own(own, ref).write_bytes(data)
            submission.pack(own, own.resolve(ref.name), target)
        else:
            (target / f"{ref.name}.ipynb").write_bytes(data)
        print(f"  {name}/{next(target.iterdir()).name}")


def _own(own: Course, ref: ModuleRef) -> Path:
    return own.resolve(ref.name).ipynb


def _grade(course: Course, ref: ModuleRef, master: Notebook, folder: Path) -> bool:
    """Print the table; True if right work got all points and nothing got none."""
    from tito.grading import batch, handins, report
    from tito.grading.executors import local
    from tito.grading.limits import Limits, default_jobs
    from tito.grading.secret import secret_of

    ids = tuple(c.grade_id for c in master.cells if c.grade_id)
    found = handins.find_handins(folder, handins.Wanted(ref.name, ids))
    limits = replace(Limits(), call=SECONDS_A_CALL)
    # The demo's own hand-ins are no strangers': they may run where nothing confines them.
    grading = batch.Batch(
        master, course.package, [], secret_of(master), limits=limits, unconfined=True
    )
    rows = grading.run(found.handins, local(min(default_jobs(), len(found.handins))))
    print(report.table(rows))
    print(report.closing(rows))
    results = {row.student: row.result for row in rows}
    complete = results["complete"]
    return 0 < complete.points == complete.max_points and results["empty"].points == 0


def _export(own: Course, ref: ModuleRef, notebook: bytes) -> bool:
    """Export as `tito export` does."""
    from tito.export import plan_export, write

    _own(own, ref).write_bytes(notebook)
    for path in write(plan_export(own, [own.resolve(ref.name)])).changes:
        lines = path.read_text(encoding="utf-8").count("\n")
        print(f"  {path.relative_to(own.root).as_posix()}: {lines} lines")
    return True


# Run in the kit: what a reader would type.
_USE = {
    "02_loops": """\
import numpy as np
from tinykernels.loops import matmul_loops, softmax_loops
scores = matmul_loops(np.eye(2), np.array([[1.0, 2.0], [3.0, 3.0]]))
print(softmax_loops(scores).round(3))
""",
}
_LIST = "import tinykernels.{name} as made; print(*made.__all__)\n"


def _use(own: Course, ref: ModuleRef) -> bool:
    """Import the package in a fresh Python that knows nothing of tito, and call it."""
    name = _own_part(own, ref)
    code = _USE.get(ref.name) or _LIST.format(name=name)
    for line in code.strip().split("\n"):
        print(f"  >>> {line}")
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=own.root,
        env={**os.environ, "PYTHONPATH": str(own.root)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    for line in (run.stdout if run.returncode == 0 else run.stderr).rstrip().split("\n"):
        print(f"  {line}")
    return run.returncode == 0


def _own_part(own: Course, ref: ModuleRef) -> str:
    """The import name of the module's first file: "loops", "simd.gemm"."""
    from tito.release.kit import read_manifest

    first = read_manifest(own)["modules"][ref.name]["exports"][0]
    return first.removeprefix("tinykernels/").removesuffix(".py").replace("/", ".")


def _next(course: Course, good: bool) -> str:
    if not good:
        return "next: something did not show what it should: tito doctor, then make test"
    if Path.cwd().resolve() != course.root.resolve():
        return f'next: cd "{course.root}" && {call_tito(course.root)} start'
    return f"next: {call_tito()} start"
