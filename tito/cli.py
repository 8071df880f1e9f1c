"""Arguments in, exit code out. Every command is a function `run(args) -> int` in tito.commands."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence

from tito import __version__
from tito.errors import UserError

INTERRUPTED = 130
_DISK_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))

Adder = Callable[[argparse.ArgumentParser], None]


def _modules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help='"2", "02", "loops", "02_loops" or a file'
    )
    parser.add_argument("--all", action="store_true", help="every module of this course folder")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help="machine-readable result to FILE, or to stdout",
    )


def _csv(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--csv", nargs="?", const="-", metavar="FILE", help="the table as CSV to FILE or stdout"
    )


def _doctor(parser: argparse.ArgumentParser) -> None:
    _json(parser)


def _start(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", nargs="?", metavar="MODULE", help="where to begin")


def _lab(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", nargs="?", metavar="MODULE", help="the notebook to open")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, help="port on 127.0.0.1")


def _sync(parser: argparse.ArgumentParser) -> None:
    _modules(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="only say what is out of step")
    how.add_argument("--clear", action="store_true", help="build the .ipynb without its outputs")
    how.add_argument(
        "--keep", choices=("py", "ipynb"), help="the half that wins where both were changed"
    )


def _test(parser: argparse.ArgumentParser) -> None:
    _modules(parser)
    _json(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    _modules(parser)
    parser.add_argument("--check", action="store_true", help="only say what would change")


def _reset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", metavar="MODULE")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="show the backups")
    what.add_argument("--restore", nargs="?", const="", metavar="BACKUP", help="the last, or one")


def _submit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", metavar="MODULE")
    parser.add_argument("--out", metavar="FOLDER", help="where the zip goes (default: submit/)")


def _new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NN_name", help="e.g. 07_numba")


def _lint(parser: argparse.ArgumentParser) -> None:
    _modules(parser)


def _audit(parser: argparse.ArgumentParser) -> None:
    _modules(parser)
    parser.add_argument(
        "--nbgrader", action="store_true", help="cross-check with nbgrader alone (slow)"
    )
    parser.add_argument(
        "--speed", action="store_true", help="what the reference reaches, and the step it allows"
    )


def _generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", help="folder for the kit; must be empty or new")
    parser.add_argument(
        "--solved", metavar="01-04", help="modules whose reference exports go along"
    )


def _class_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--class",
        dest="classroom",
        metavar="FOLDER",
        help="the class folder (default: the nearest from here upwards)",
    )


def _class(parser: argparse.ArgumentParser) -> None:
    _class_folder(parser)
    parser.add_argument("--course", metavar="FOLDER", help="where the masters of the class lie")


def _grade_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="new or empty, outside every repository")
    parser.add_argument("--course", metavar="FOLDER", help="the course whose modules are graded")


def _grade_collect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        nargs="?",
        metavar="SOURCE",
        help="a download: folder, zip or notebook; without it, look again at what was unmatched",
    )
    parser.add_argument(
        "--module", metavar="NN", help="what the hand-ins are of (default: asked of each notebook)"
    )
    parser.add_argument(
        "--as",
        dest="whose",
        action="append",
        metavar="[FOUND=]ID",
        help="whose a hand-in is: FOUND as listed, ID as in roster.csv, or - to set it aside",
    )
    parser.add_argument(
        "--handed-in",
        metavar="TIME",
        help="when it came, with zone; with --as FOUND=ID of those alone",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be collected")
    _class(parser)
    _json(parser)


def _grade_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--module", metavar="NN", help="only this module")
    _class(parser)
    _json(parser)


def _grade_feedback(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--module", metavar="NN", help="of this module")
    parser.add_argument(
        "--student", action="append", default=[], metavar="ID", help="only for this one; may repeat"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="where the pages go (default: feedback/ of the class)"
    )
    parser.add_argument("--moodle", metavar="FILE", help="also a zip that Moodle takes back")
    _class_folder(parser)


def _grade_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--module", metavar="NN", help="of this module")
    parser.add_argument(
        "--out", metavar="FILE", help="the HTML page (default: in exports/ of the class)"
    )
    _class_folder(parser)
    _json(parser)
    _csv(parser)


def _grade_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "handins",
        nargs="?",
        metavar="HANDINS",
        help="a folder, zip or notebook; without it, what the class has handed in",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--module", metavar="NN", help="grade against this module of the course")
    which.add_argument("--master", metavar="FILE", help="grade against this .py or .ipynb")
    _class(parser)
    parser.add_argument(
        "--again", action="store_true", help="grade what is unchanged since it was graded too"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="hand-ins at once (default: one for each core)"
    )
    where.add_argument(
        "--cluster", metavar="ADDRESS", help="grade on the workers of this Dask scheduler"
    )
    parser.add_argument(
        "--unconfined",
        action="store_true",
        help="grade foreign code although no sandbox layer works here",
    )
    parser.add_argument(
        "--engine",
        choices=("fork", "spawn"),
        help="how processes start: fork is fast and needs Linux, spawn works everywhere",
    )
    parser.add_argument("--timing", action="store_true", help="say what the grading cost")
    _json(parser)
    _csv(parser)


def _grade_regrade(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--module", metavar="NN", help="only this module (default: all graded)")
    _class_folder(parser)
    parser.add_argument("--course", metavar="FOLDER", help="where the masters of the class lie")
    parser.add_argument("--dry-run", action="store_true", help="list what would change, no more")
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="hand-ins at once")
    parser.add_argument(
        "--unconfined",
        action="store_true",
        help="grade foreign code although no sandbox layer works here",
    )
    _json(parser)


def _grade_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("csv", "canvas", "moodle"), default="csv", help="default: csv"
    )
    parser.add_argument("--module", metavar="NN", help="only this module")
    parser.add_argument(
        "--sheet", metavar="FILE", help="the platform's own sheet, as it was downloaded"
    )
    parser.add_argument(
        "--column", metavar="NAME", help="the sheet's column to fill, by its name or number"
    )
    parser.add_argument(
        "--out", metavar="FILE", help='default: in the exports folder of the class; "-" is stdout'
    )
    _class_folder(parser)


def _bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        metavar="WHAT",
        help="gemm, softmax, layernorm, relu, conv, int8, q4, or all (the default): kernels of "
        "the package; or memory, blocking, threads, jit: whether the lessons of modules 04 to 07 "
        "hold on this machine, each ratio beside the band in which it must lie (exit code 1 if "
        "one does not); or compare A.json B.json: what changed between two reports, and what is "
        "noise",
    )
    _measuring(parser)
    parser.add_argument(
        "--repeat",
        type=int,
        metavar="N",
        help="how often each lesson is measured (5), all lessons in turn; in jit a repeat is the "
        "median of several measurements that lie as far apart as the whole run is long",
    )
    _json(parser)
    _csv(parser)


def _roofline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        metavar="WHAT",
        help="gemm, softmax, layernorm, relu, conv, int8, q4, or all (the default)",
    )
    _measuring(parser)
    parser.set_defaults(csv=None, repeat=None)
    _json(parser)


def _measuring(parser: argparse.ArgumentParser) -> None:
    """What kernels are measured on, beside what, and the pictures of it."""
    parser.add_argument(
        "--sizes",
        metavar="SIZES",
        help='"64,256" or "1x576x1536" (MxKxN; softmax, layernorm, relu: MxN; conv: CxHxWxO; '
        "q4: KxN); one number stands for all dimensions",
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads for BLAS, Numba, workers (1)"
    )
    parser.add_argument(
        "--peers",
        metavar="NAMES",
        help="numpy,scipy,torch: what to compare with (default: what is installed)",
    )
    parser.add_argument(
        "--plot",
        nargs="?",
        const="bench.png",
        metavar="FILE",
        help="a ladder, a sweep of sizes and a roofline for each workload, as .png, .svg or .pdf "
        "(bench.png)",
    )


def _grade_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--part",
        action="append",
        choices=("versus", "growth", "spread", "killed"),
        help="versus: beside nbgrader; growth: the first and the last of a large class; spread: "
        "one worker, two, and Dask; killed: ended in the middle and begun again "
        "(default: all; may be repeated)",
    )
    parser.add_argument("--module", metavar="NN", help="(default: 03)")
    parser.add_argument(
        "--students", type=int, default=1000, metavar="N", help="in the large class (1000)"
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="hand-ins at once in growth (1)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="another class with each number (0)"
    )
    parser.add_argument("--engine", choices=("fork", "spawn"), help="how processes start")
    _json(parser)


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", metavar="FOLDER", help="leave the course folder there")


# name -> (module:function, one line, example, arguments)
COMMANDS: dict[str, tuple[str, str, str, Adder]] = {
    "doctor": (
        "doctor:doctor",
        "check this machine and say what to mend",
        "tito doctor",
        _doctor,
    ),
    "start": ("student:start", "make or open your course folder", "tito start 02", _start),
    "lab": ("student:lab", "open JupyterLab on a module", "tito lab 02", _lab),
    "status": ("student:status", "what is done and what comes next", "tito status", lambda p: None),
    "sync": ("author:sync", "bring .py and .ipynb of a module in step", "tito sync --all", _sync),
    "test": (
        "student:test",
        "grade your own notebook with the visible tests",
        "tito test 02",
        _test,
    ),
    "export": ("author:export", "build the package from notebooks", "tito export 02", _export),
    "reset": ("student:reset", "start a module again (a backup is kept)", "tito reset 02", _reset),
    "submit": ("student:submit", "pack a module for handing in", "tito submit 02", _submit),
    "new": ("author:new", "make the template of a module", "tito new 10_fusion", _new),
    "lint": ("author:lint", "check the rules of module files", "tito lint --all", _lint),
    "audit": ("author:audit", "prove that a module's tests test", "tito audit 02", _audit),
    "generate": (
        "teach:generate",
        "make the students' kit, without answers",
        "tito generate ../kit",
        _generate,
    ),
    "bench": (
        "engineer:bench",
        "time every kernel of the package beside its peers, each verified first",
        "tito bench gemm --sizes 64,1x576x1536 --peers numpy",
        _bench,
    ),
    "roofline": (
        "engineer:roofline",
        "this machine's roofs, and how far below them each kernel stands",
        "tito roofline gemm --plot roofline.png",
        _roofline,
    ),
    "demo": ("demo:demo", "walk through the whole course in a scratch folder", "tito demo", _demo),
}
GRADE: dict[str, tuple[str, str, str, Adder]] = {
    "init": (
        "class_folder:grade_init",
        "make the folder of a class: roster, due times, grade book",
        "tito grade init ../class",
        _grade_init,
    ),
    "collect": (
        "class_folder:grade_collect",
        "take hand-ins from a platform's download into the class folder",
        "tito grade collect submissions.zip --module 02",
        _grade_collect,
    ),
    "status": (
        "class_folder:grade_status",
        "what waits for a person, and what comes next",
        "tito grade status",
        _grade_status,
    ),
    "run": (
        "grade_run:grade_run",
        "grade hand-ins: a table of points and messages",
        "tito grade run handins/ --module 02",
        _grade_run,
    ),
    "regrade": (
        "regrade:grade_regrade",
        "after a test was mended, grade the questions that it touches again",
        "tito grade regrade --module 02 --dry-run",
        _grade_regrade,
    ),
    "export": (
        "marks:grade_export",
        "marks as a table, or filled into the platform's own sheet",
        "tito grade export --format canvas --module 02 --sheet gradebook.csv",
        _grade_export,
    ),
    "feedback": (
        "giveback:grade_feedback",
        "a page for each student: points, messages, comments",
        "tito grade feedback --module 02 --moodle feedback.zip",
        _grade_feedback,
    ),
    "report": (
        "giveback:grade_report",
        "how the class did, question by question, and what looks odd",
        "tito grade report --module 02",
        _grade_report,
    ),
    "bench": (
        "grade_bench:grade_bench",
        "what grading a class costs here, beside nbgrader",
        "tito grade bench --part versus",
        _grade_bench,
    ),
}


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command that works."""
    parser = argparse.ArgumentParser(
        prog="tito",
        description="TinyKernels: a course in kernels that grades itself.",
        epilog="Begin with: tito doctor, then tito start. Each command explains itself: "
        "tito COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"tito {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, entry in COMMANDS.items():
        _add(commands, name, f"tito {name}", entry)
    grade = commands.add_parser(
        "grade",
        help="grade hand-ins",
        description="Grade hand-ins.",
        epilog="Example: tito grade run handins/ --module 02",
    )
    parts = grade.add_subparsers(dest="part", metavar="PART", required=True)
    for name, entry in GRADE.items():
        _add(parts, name, f"tito grade {name}", entry)
    return parser


def _add(commands, name: str, prog: str, entry: tuple[str, str, str, Adder]) -> None:
    target, line, example, add_arguments = entry
    parser = commands.add_parser(
        name,
        prog=prog,
        help=line,
        description=line[0].upper() + line[1:] + ".",
        epilog=f"Example: {example}",
    )
    parser.set_defaults(target=target)
    add_arguments(parser)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. A user's mistake prints a message, never a traceback."""
    _survive_any_terminal()
    _outlive_the_reader()
    _listen_for_signals()
    try:
        parser = build_parser()
        args = parser.parse_args(argv)
        if args.command is None:
            parser.print_help(sys.stderr)
            return 2
        module, function = args.target.split(":")
        run = getattr(importlib.import_module(f"tito.commands.{module}"), function)
        code = run(args)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"tito: {error}", file=sys.stderr)
        return error.code
    except Ended as end:
        print(f"tito: ended by {signal.Signals(end.number).name}", file=sys.stderr)
        return 128 + end.number
    except KeyboardInterrupt:
        print("tito: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        # A folder without permission, a full disk: theirs to mend. Without a file it is our bug,
        # but writing to a full disk names none.
        full = error.errno in _DISK_FULL
        if error.filename is None and not full:
            raise
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        print(f"tito: {what}", file=sys.stderr)
        if full:
            print("  try: make room, then call the same command again", file=sys.stderr)
        return 1


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. A plain KeyboardInterrupt that passes through exec(), as in the import of a
    dataclass, makes Python end by the signal even when it was caught: no exit code 130 then.
    """


class Ended(KeyboardInterrupt):
    """The system asks to end, or the terminal is gone: as after Ctrl-C, all is put away first."""

    def __init__(self, number: int) -> None:
        self.number = number


def _listen_for_signals() -> None:
    with contextlib.suppress(ValueError):  # in another thread than the main one
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows knows no SIGHUP
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)


def _interrupt(number: int, frame: object) -> None:
    raise Interrupted


def _end(number: int, frame: object) -> None:
    raise Ended(number)


def _survive_any_terminal() -> None:
    """A character that the terminal cannot show is replaced, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _outlive_the_reader() -> None:
    """A reader that has enough (`| head -1`) ends the printing, not the work nor its exit code."""
    stream = sys.stdout
    if not hasattr(stream, "reconfigure") or "write" in vars(stream):
        return
    for name in ("write", "flush"):
        setattr(stream, name, _patient(getattr(stream, name)))


def _patient(act: Callable) -> Callable:
    def attempt(*args):
        try:
            return act(*args)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return act(*args)

    return attempt
