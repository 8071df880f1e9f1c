"""`tito grade export`: the marks of a class as a table, or in a learning platform's own sheet."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tito.commands.classes import class_words, the_class
from tito.commands.deliver import BYTE_ORDER_MARK, deliver
from tito.commands.masters import master_now
from tito.errors import UsageError
from tito.files import write_atomic
from tito.grading.wording import counted

if TYPE_CHECKING:
    from tito.grading.book import Filled
    from tito.grading.classroom import Classroom
    from tito.notebook import Notebook


def grade_export(args: argparse.Namespace) -> int:
    """0 when the file was written; rows that could not be filled are listed."""
    classroom = the_class(args)
    if args.format == "csv":
        return _export_table(args, classroom)
    return _export_sheet(args, classroom)


def _export_table(args: argparse.Namespace, classroom: Classroom) -> int:
    from tito.grading.book import read_marks, states, table

    for option in ("sheet", "column"):
        if getattr(args, option):
            raise UsageError(f"--{option} goes with --format canvas or moodle")
    names = [graded_module(classroom, args.module)] if args.module else None
    modules, people = read_marks(classroom, names)
    statuses = {
        (m.module, state.student): state.status
        for m in modules
        for state in states(classroom, m.module)
    }
    master = master_of_class(classroom, modules[0].module) if len(modules) == 1 else None
    text = table(modules, people, classroom.roster(), statuses, master)
    out = args.out or str(classroom.exports / "grades.csv")
    deliver(out, text if out == "-" else BYTE_ORDER_MARK + text)
    waiting = sum(bool(m.waiting) for module in modules for m in module.students.values())
    _say_waiting(waiting)
    say_older(args, classroom, [m.module for m in modules])
    if out != "-":
        print(f"wrote {out}: {', '.join(m.module for m in modules)}; its times are UTC")
        print(
            "next: tito grade export --format canvas|moodle --sheet FILE fills a platform's sheet"
        )
    return 0


def _export_sheet(args: argparse.Namespace, classroom: Classroom) -> int:
    from tito.grading.book import Sheet, doubtful, fill, read_marks

    if not args.sheet:
        raise UsageError(
            f"--format {args.format} fills a sheet of {args.format.capitalize()}'s",
            hint="download it there and name it with --sheet FILE",
        )
    path = Path(args.sheet)
    if not path.is_file():
        raise UsageError("no such file", path=path)
    name = graded_module(classroom, args.module)
    [module], _ = read_marks(classroom, [name])
    filled = fill(
        args.format,
        Sheet.read(path),
        classroom.roster(),
        module.students,
        name,
        module.max_score,
        column=args.column,
        doubtful=doubtful(classroom, name, module.students),
    )
    out = args.out or str(classroom.exports / f"{name}-{args.format}.csv")
    _deliver_bytes(out, filled.sheet.to_bytes())
    waiting = sum(bool(module.students[s].waiting) for s in filled.filled)
    print(_told_of_sheet(args, filled, out), file=sys.stderr if out == "-" else sys.stdout)
    _say_waiting(waiting)
    say_older(args, classroom, [name])
    return 0


def _told_of_sheet(args: argparse.Namespace, filled: Filled, out: str) -> str:
    lines = [
        f"marks in the column {filled.column!r}: {len(filled.filled)}, "
        f"{len(filled.changed)} of them new or changed"
    ]
    lines += [f"note: {note}" for note in filled.notes]
    if filled.left:
        lines.append("left as they were:")
        lines += [f"  {row}: {why}" for row, why in filled.left]
    if filled.without_row:
        lines.append(f"in no row of the sheet: {', '.join(filled.without_row)}")
    if out != "-":
        lines += [f"wrote {out}", f"next: upload it to {args.format.capitalize()}"]
    return "\n".join(lines)


def graded_module(classroom: Classroom, word: str | None) -> str:
    """The graded module that a word names: "2", "02", "loops", "02_loops"; the only one without."""
    names = sorted(p.name for p in (classroom.root / "source").glob("*") if p.is_dir())
    found = names if word is None else [n for n in names if _is_named(n, word.lower())]
    if len(found) == 1:
        return found[0]
    what = "which module? say --module NN" if word is None else f"no graded module is {word!r}"
    raise UsageError(what, hint=f"graded are: {', '.join(names) or 'none; tito grade run grades'}")


def _is_named(name: str, word: str) -> bool:
    number, _, rest = name.partition("_")
    return word in (name, number, rest) or (word.isdigit() and number == f"{int(word):02d}")


def master_of_class(classroom: Classroom, module: str) -> Notebook | None:
    """The module as it was written to the grade book; None where that was not by us."""
    from tito.notebook import load

    path = classroom.root / "source" / module / f"{module}.ipynb"
    return load(path) if path.is_file() else None


def _say_waiting(count: int) -> None:
    if count:
        print(
            f"tito: {count} of these still wait for points from a person (formgrader)",
            file=sys.stderr,
        )


def say_older(args: argparse.Namespace, classroom: Classroom, modules: list[str]) -> None:
    """Points from before a test was mended are no longer what the module gives."""
    from tito.grading.waiting import older_results

    for module in modules:
        master = master_now(classroom, module)
        if master and (older := older_results(classroom, module, master)):
            print(
                f"tito: {module}: {counted(len(older), 'result')} from before its tests changed; "
                f"tito grade regrade --module {module}{class_words(args)} grades again",
                file=sys.stderr,
            )


def _deliver_bytes(target: str, data: bytes) -> None:
    if target == "-":
        sys.stdout.buffer.write(data)
    else:
        write_atomic(Path(target), data)
