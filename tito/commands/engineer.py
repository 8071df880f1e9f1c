"""What engineers ask: how fast are these kernels, and beside what."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tito.commands.deliver import deliver
from tito.commands.words import call_tito, quoted
from tito.course import find_root
from tito.errors import UsageError
from tito.files import write_atomic

if TYPE_CHECKING:
    from tito.bench.results import Report
    from tito.bench.workload import Workload

EVERYTHING, COMPARE = "all", "compare"


def bench(args: argparse.Namespace) -> int:
    """`tito bench`: time every rung and peer, each verified first; 0 when something was timed.

    For memory, blocking, threads, jit: measure their lessons; 0 when each ratio lies in its band.
    For compare: read two reports, and measure nothing.
    """
    if args.what[:1] == [COMPARE]:
        return _compare(args)
    _refuse_odd_options(args)
    return _bench_lessons(args) if _lesson_sets(args) else _bench_kernels(args)


def _bench_kernels(args: argparse.Namespace) -> int:
    from tito.bench import export, table

    report = _measured(args)
    deliver(args.json, export.to_json(report))
    deliver(args.csv, export.to_csv(report))
    if "-" not in (args.json, args.csv):
        print(table.text(report, shutil.get_terminal_size((110, 24)).columns))
        print(_next(args))
    elif warning := table.core_warning(report.machine):
        print(f"tito: {warning}", file=sys.stderr)
    return 0 if any(t.timed for t in report.tables) else 1


def roofline(args: argparse.Namespace) -> int:
    """`tito roofline`: this machine's roofs, and where each kernel stands below them."""
    from tito.bench import roofline_text

    if lessons := _lesson_sets(args):
        raise UsageError(f"{lessons[0]} is a set of lessons: only kernels stand under a roof")
    _refuse_odd_options(args)
    report = _measured(args)
    deliver(args.json, roofline_text.to_json(report))
    if args.json != "-":
        print(roofline_text.text(report))
        if not args.plot:
            print(f"next: {call_tito()} roofline --plot roofline.png")
    return 0 if any(t.timed for t in report.tables) else 1


def _measured(args: argparse.Namespace) -> Report:
    """Every kernel that was asked for, measured and, where asked for, drawn."""
    from tito.bench import peers, plots, run, sizes
    from tito.machine import facts

    if args.plot:
        plots.check_name(Path(args.plot))
    workloads = _workloads(args.what)
    tasks = sizes.chosen(workloads, args.sizes, facts().memory)
    libraries = peers.choose(args.peers)
    root = find_root()
    with _Progress() as progress:
        report = run.measure_all(root, tasks, libraries, args.threads, progress)
    if args.plot:
        write_atomic(Path(args.plot), plots.plot(report, Path(args.plot)))
        print(f"tito: the pictures are in {args.plot}", file=sys.stderr)
    return report


def _compare(args: argparse.Namespace) -> int:
    """`tito bench compare A.json B.json`: 0 when both could be read, whatever changed."""
    from tito.bench import compare, comparison_text

    if len(args.what) != 3:
        raise UsageError(
            f"compare takes two files, {len(args.what) - 1} were given",
            hint="tito bench compare before.json after.json",
        )
    if args.sizes or args.peers or args.repeat or args.plot or args.csv or args.threads != 1:
        raise UsageError("compare measures nothing: of the options, only --json is for it")
    before, after = args.what[1:]
    found = compare.compare(compare.read(Path(before)), compare.read(Path(after)))
    deliver(args.json, comparison_text.to_json(found))
    if args.json != "-":
        print(comparison_text.text(found, before, after))
    return 0


def _bench_lessons(args: argparse.Namespace) -> int:
    from tito.bench.child import identity
    from tito.bench.lessons import export, lessons_of, table
    from tito.bench.lessons.lesson import REPEATS, measure_lessons
    from tito.bench.results import Machine

    repeats = REPEATS if args.repeat is None else args.repeat
    with _Progress() as progress:
        found = {
            name: measure_lessons(lessons_of(name), repeats, progress)
            for name in _lesson_sets(args)
        }
    machine = Machine(1, identity())
    deliver(args.json, export.to_json(found, machine))
    deliver(args.csv, export.to_csv(found))
    broken = table.broken(found)
    if "-" not in (args.json, args.csv):
        print(table.text(found, machine, shutil.get_terminal_size((110, 24)).columns))
    for sentence in broken:
        print(f"tito: {sentence}", file=sys.stderr)
    if "-" not in (args.json, args.csv):
        print(_next(args))
    return 1 if broken else 0


def _lesson_sets(args: argparse.Namespace) -> list[str]:
    """The sets of lessons that are named, each once."""
    from tito.bench.lessons import SETS

    return [word for word in dict.fromkeys(args.what) if word in SETS]


def _refuse_odd_options(args: argparse.Namespace) -> None:
    if args.threads < 1:
        raise UsageError(f"--threads {args.threads}: at least one thread is needed")
    from tito.machine import facts

    cores = facts().cores
    if cores and args.threads > cores:
        raise UsageError(
            f"--threads {args.threads}: this machine has {cores} cores for it",
            hint=f"--threads {cores}",
        )
    _refuse_mixtures(args)
    if args.json == args.csv == "-":
        raise UsageError("--json and --csv cannot both go to stdout", hint="--csv bench.csv")
    for target in (args.json, args.csv, args.plot):
        if target not in (None, "-") and Path(target).is_dir():
            raise UsageError("is a folder, a file was wanted", path=target)


def _refuse_mixtures(args: argparse.Namespace) -> None:
    """Kernels and lessons are different measurements, each with its own options."""
    lessons = _lesson_sets(args)
    kernels = [word for word in args.what if word not in lessons]
    if lessons and kernels:
        raise UsageError(
            f"{lessons[0]} is a set of lessons, {kernels[0]} is not: they are measured apart",
            hint=f"tito bench {' '.join(lessons)}",
        )
    if not lessons and args.repeat is not None:
        raise UsageError(
            "--repeat is for memory, blocking, threads and jit; kernels have their rounds"
        )
    if args.repeat is not None and args.repeat < 1:
        raise UsageError(f"--repeat {args.repeat}: at least one repeat is needed")
    if lessons and (args.sizes or args.peers or args.plot or args.threads != 1):
        raise UsageError(
            f"{lessons[0]} is a set of lessons, which has its own sizes and threads: "
            "--sizes, --threads, --peers and --plot are for kernels"
        )


def _workloads(words: list[str]) -> list[Workload]:
    """The workloads that are named, each once; all of them without a name."""
    from tito.bench.ladders import WORKLOADS
    from tito.bench.lessons import SETS

    for word in words:
        if word not in WORKLOADS and word != EVERYTHING:
            known = ", ".join([*WORKLOADS, EVERYTHING, *SETS])
            raise UsageError(f"nothing to bench is called {word!r}", hint=f"one of: {known}")
    if not words or EVERYTHING in words:
        return list(WORKLOADS.values())
    return [WORKLOADS[word] for word in dict.fromkeys(words)]


def _next(args: argparse.Namespace) -> str:
    if args.json:
        return f"every sample stands in {args.json}"
    words = ["bench", *args.what]
    words += ["--sizes", args.sizes] if args.sizes else []
    words += ["--threads", str(args.threads)] if args.threads > 1 else []
    words += ["--peers", args.peers] if args.peers else []
    words += ["--repeat", str(args.repeat)] if args.repeat else []
    asked = " ".join(map(quoted, words))
    return f"next: {call_tito()} {asked} --json bench.json (every sample, versions, environment)"


class _Progress:
    """A bar on a terminal; silent elsewhere. It leaves no trace behind."""

    WIDTH = 20

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._columns = shutil.get_terminal_size((110, 24)).columns - 1

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._write("")

    def __call__(self, done: int, total: int, what: str) -> None:
        full = self.WIDTH * done // max(total, 1)
        self._write(f"[{'#' * full}{'.' * (self.WIDTH - full)}] {done} of {total}  {what}")

    def _write(self, text: str) -> None:
        if self._shown:
            line = f"\r{text[: self._columns]:<{self._columns}}"
            print(line, end="" if text else "\r", file=sys.stderr, flush=True)
