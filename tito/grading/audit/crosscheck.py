"""What nbgrader, alone, makes of a module: every module is also a plain nbgrader assignment."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path

from tito.course import Course, ModuleRef
from tito.errors import UserError
from tito.files import write_atomic
from tito.grading.audit import nbgraders
from tito.grading.audit.report import Report, cpu_seconds
from tito.grading.judge.text import import_lines
from tito.grading.limits import default_jobs
from tito.notebook import Notebook, Role, load, read_ipynb, write_ipynb

# What only one of the two writes, or writes in its own way.
OWN_KEYS = ("checksum",)
CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "audit"
c.ExecutePreprocessor.timeout = 300
"""


class NbGrader:
    """A scratch course folder and nbgrader's commands in it."""

    def __init__(self, folder: Path, course: Course, name: str) -> None:
        self.folder = folder
        self.name = name
        write_atomic(folder / "nbgrader_config.py", CONFIG)
        # So that a module's first cell finds a course folder above it.
        (folder / "modules").mkdir()
        shutil.copytree(
            course.package, folder / "tinykernels", ignore=shutil.ignore_patterns("__pycache__")
        )

    def notebook(self, *parts: str) -> Path:
        return self.folder.joinpath(*parts, self.name, f"{self.name}.ipynb")

    def call(self, *words: str) -> str:
        """What the command prints; its exit code says little (validate ends with 0 on failure)."""
        printed = self.folder / "printed.txt"
        context = _context()
        command = context.Process(
            target=nbgraders.run, args=(words, self.folder, self._environment(), printed)
        )
        command.start()
        command.join()
        said = printed.read_text("utf-8", "replace") if printed.is_file() else ""
        if command.exitcode:
            raise UserError(f"nbgrader {words[0]} fails", text=said[-1500:])
        return said

    def _environment(self) -> dict[str, str]:
        """The commands beside this Python first (nbgrader calls alembic), no settings of a user."""
        home = str(Path(__file__).resolve().parents[3])
        paths = {
            "PATH": [str(Path(sys.executable).parent), os.environ.get("PATH", "")],
            "PYTHONPATH": [home, os.environ.get("PYTHONPATH", "")],
        }
        scratch = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        return {
            **os.environ,
            **{key: os.pathsep.join(p for p in parts if p) for key, parts in paths.items()},
            **{key: str(self.folder / ".jupyter" / key.lower()) for key in scratch},
            "MPLBACKEND": "agg",
        }


def _context() -> multiprocessing.context.BaseContext:
    """Where processes can be forked, nbgrader is imported once for all of its commands."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([nbgraders.__name__, *nbgraders.LOADED])
    return context


def crosscheck_all(course: Course, students: dict[ModuleRef, str]) -> Iterator[Report]:
    """`crosscheck` of several modules, in their order, a process and a core for each."""
    if len(students) == 1:
        yield from (crosscheck(course, ref, text) for ref, text in students.items())
        return
    # A fresh interpreter each: a fork would take this process's threads' locks along.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(default_jobs(), len(students)), mp_context=context) as pool:
        # The longest first, so that none begins when the others end.
        begun = {
            ref: pool.submit(crosscheck, course, ref, students[ref])
            for ref in sorted(students, key=lambda ref: -len(students[ref]))
        }
        yield from (begun[ref].result() for ref in students)


def crosscheck(course: Course, ref: ModuleRef, student: str) -> Report:
    """Compare nbgrader's own validate, generate_assignment and autograde with ours.

    student : our student version, as text
    """
    master = load(ref.source)
    report = Report(ref.name)
    with tempfile.TemporaryDirectory(prefix="tito-nbgrader-") as scratch:
        nbgrader = NbGrader(Path(scratch), course, ref.name)
        write_atomic(nbgrader.notebook("source"), write_ipynb(master))
        _copy_data(ref, nbgrader.notebook("source").parent)
        steps = (
            ("generate_assignment", "the same student version", _generated(nbgrader, student)),
            ("validate", "passes on the reference, fails on the stub", _validated(nbgrader)),
            ("autograde", "full and zero", _autograded(nbgrader, master)),
        )
        for name, tried, problems in steps:
            before = cpu_seconds()
            report.problems += problems
            report.parts.append((name, tried, cpu_seconds() - before))
            if report.problems and name == "generate_assignment":
                break
    return report


def _copy_data(ref: ModuleRef, folder: Path) -> None:
    for path in sorted(ref.folder.iterdir()):
        if path.is_file() and path not in (ref.py, ref.ipynb) and ".orig" not in path.name:
            shutil.copy(path, folder)


def _generated(nbgrader: NbGrader, student: str) -> Iterator[str]:
    nbgrader.call("generate_assignment", nbgrader.name, "--force")
    theirs = read_ipynb(nbgrader.notebook("release").read_bytes())
    yield from differences(read_ipynb(student.encode()), theirs)


def differences(ours: Notebook, theirs: Notebook) -> Iterator[str]:
    """Where two student versions differ in cell types, sources or nbgrader metadata."""
    if len(ours.cells) != len(theirs.cells):
        yield f"we release {len(ours.cells)} cells, nbgrader {len(theirs.cells)}"
        return
    for mine, other in zip(ours.cells, theirs.cells):
        if mine.kind != other.kind:
            yield f"{mine.label}: we release a {mine.kind} cell, nbgrader a {other.kind} cell"
        if mine.source != other.source:
            yield f"{mine.label}: nbgrader releases another text: {_first_other(mine, other)}"
        if _metadata(mine) != _metadata(other):
            yield f"{mine.label}: nbgrader's metadata is {_metadata(other)}, ours {_metadata(mine)}"


def _first_other(mine, other) -> str:
    lines = zip([*mine.source.split("\n"), "(end)"], [*other.source.split("\n"), "(end)"])
    a, b = next(((a, b) for a, b in lines if a != b), ("", ""))
    return f"{b.strip()!r}, we {a.strip()!r}"


def _metadata(cell) -> dict:
    return {k: v for k, v in cell.nbgrader.items() if k not in OWN_KEYS}


def _validated(nbgrader: NbGrader) -> Iterator[str]:
    """`validate` in the words it prints."""
    said = nbgrader.call("validate", _unmeasured_copy(nbgrader, "source"))
    if "Success" not in said or "FAILED" in said:
        yield f"nbgrader validate fails on the reference: {said.strip()[-600:]}"
    said = nbgrader.call("validate", _unmeasured_copy(nbgrader, "release"))
    if "VALIDATION FAILED" not in said:
        yield f"nbgrader validate passes the stub: {said.strip()[-600:]}"


def _unmeasured_copy(nbgrader: NbGrader, tree: str) -> str:
    """Where a notebook stands that shows nothing: measuring takes most of the time, earns nothing
    and is no cell of nbgrader's.
    """
    notebook = nbgrader.notebook(tree)
    copy = notebook.with_stem(f"{notebook.stem}-unmeasured")  # beside the same data
    write_atomic(copy, json.dumps(_unmeasured(json.loads(notebook.read_text("utf-8")))))
    return str(copy)


def _unmeasured(document: dict) -> dict:
    """The notebook with the imports alone of its measure cells, as the judge runs them."""
    measures = {
        cell.index: "\n".join(import_lines(cell.source))
        for cell in read_ipynb(json.dumps(document).encode()).of_role(Role.MEASURE)
    }
    cells = [
        {**cell, "source": measures.get(index, cell["source"])}
        for index, cell in enumerate(document["cells"], 1)
    ]
    return {**document, "cells": cells}


def _autograded(nbgrader: NbGrader, master: Notebook) -> Iterator[str]:
    released = _unmeasured(json.loads(nbgrader.notebook("release").read_text("utf-8")))
    write_atomic(nbgrader.notebook("submitted", "stub"), json.dumps(released))
    answered = _with_answers(released, master)
    write_atomic(nbgrader.notebook("submitted", "full"), json.dumps(answered))
    nbgrader.call("autograde", nbgrader.name, "--force")
    nbgrader.call("export", "--to", "grades.csv")
    with (nbgrader.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
        scores = {row["student_id"]: Fraction(row["raw_score"]) for row in csv.DictReader(file)}
    tests = master.of_role(Role.TEST)
    wanted = {"full": sum((c.points or Fraction(0) for c in tests), Fraction(0)), "stub": 0}
    for name, points in wanted.items():
        if scores.get(name) != points:
            yield f"nbgrader autograde gives the {name} {scores.get(name)} points, not {points}"


def _with_answers(released: dict, master: Notebook) -> dict:
    """The student version with the reference's solutions filled in."""
    answers = {c.grade_id: c.source for c in master.of_role(Role.SOLUTION)}
    cells = []
    for cell in released["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        source = answers.get(grade_id) if grade_id else None
        cells.append({**cell, "source": source} if source is not None else cell)
    return {**released, "cells": cells}
