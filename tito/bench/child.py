"""The process that calls the kernels: it reads one job from stdin and answers in lines of JSON.

Its threads were pinned by the environment before NumPy was imported. The answers have a channel
of their own: what a kernel prints goes nowhere.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import partial
from typing import Any

Say = Callable[..., None]

# Variables that decide what is measured; kept with the results.
PREFIXES = ("OPENBLAS_", "OMP_", "MKL_", "NUMBA_", "NUMPY_", "NPY_", "VECLIB_", "BLIS_")


def main() -> None:
    say = _channel()
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    # The course folder's package, whatever else is installed.
    sys.path.insert(0, job["root"])
    try:
        work(job, say)
    except KeyboardInterrupt:
        os._exit(130)  # the parent was interrupted too, and says so
    except Exception:
        say("bug", traceback=traceback.format_exc())  # of ours: what kernels raise is a result
        return
    say("end")


def _end_with_the_parent() -> None:
    """A parent that was killed closes our stdin; no kernel is to run on for nobody."""
    os.read(0, 1)
    os._exit(1)


def _channel() -> Say:
    """The function that sends an event; from now on stdout leads nowhere."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)

    def say(event: str, **values: Any) -> None:
        out.write(json.dumps({"event": event, **values}) + "\n")
        out.flush()

    return say


def work(job: dict[str, Any], say: Say) -> None:
    """Every task of a job that is not done yet.

    job: root, threads, peers (libraries), tasks [[workload, dims], ...] with `done` of them to be
         passed over, skip {task: {contender: reason}} and broken {module: reason} from earlier
         processes, machine (whether to measure its peaks)
    """
    from tito.bench.ladders import WORKLOADS

    if job["machine"]:
        say("trying", what="the machine's peaks")
        say("machine", **machine(job))
    for number, (name, dims) in enumerate(job["tasks"]):
        if number not in job["done"]:
            skip = job["skip"].get(str(number), {})
            task(number, WORKLOADS[name], tuple(dims), skip, job, say)


def machine(job: dict[str, Any]) -> dict[str, Any]:
    """What this machine is, and what it can reach."""
    from tito.bench import peers
    from tito.machine import hidden_core, peaks

    reached = peaks()
    return {
        **identity(),
        "peaks": {field.name: _plain(getattr(reached, field.name)) for field in fields(reached)},
        "hidden_core": hidden_core(),
        "peers": {name: peers.version(name) for name in job["peers"]},
    }


def identity() -> dict[str, Any]:
    """What this machine and this Python are."""
    from tito.machine import facts

    return {
        "facts": asdict(facts()),
        "numba": _numba(),
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(PREFIXES)},
        "implementation": platform.python_implementation(),
    }


def _plain(value: Any) -> Any:
    """As JSON can hold it."""
    return {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else value


def _numba() -> str | None:
    from importlib import metadata

    try:
        return metadata.version("numba")
    except metadata.PackageNotFoundError:
        return None


def task(
    number: int,
    workload: Any,
    dims: tuple[int, ...],
    skip: dict[str, str],
    job: dict[str, Any],
    say: Say,
) -> None:
    """One workload at one size: each contender tried, then those that passed timed in turn."""
    from tito.bench.timing import time_in_turn
    from tito.bench.trial import Problem, attempt

    say("trying", task=number, what="inputs")
    problem = Problem(workload, dims)
    rows, passed = [], []
    for contender, reason in contenders(number, workload, dims, job, say):
        name = contender.name
        reason = skip.get(name, reason)
        first = None
        if reason is None:
            say("trying", task=number, contender=name)
            verdict = attempt(contender, problem, job["threads"])
            reason, first = verdict.reason, verdict.first_call
        row = {"name": name, "library": contender.library, "left_out": reason, "first_call": first}
        rows.append(row)
        if reason is None:
            passed.append((contender, row))
    if passed:
        say("timing", task=number, what="timing", names=[row["name"] for _, row in passed])
        timed = time_in_turn([contender for contender, _ in passed], problem, job["threads"])
        for (_, row), found in zip(passed, timed):
            row |= found
    say("result", task=number, rows=rows)


def contenders(
    number: int, workload: Any, dims: tuple[int, ...], job: dict[str, Any], say: Say
) -> list[tuple[Any, str | None]]:
    """(contender, why it cannot even be tried): the package's rungs, then the peers."""
    from tito.bench.turns import in_turn

    found = [
        *_rungs(number, workload, job, say),
        *_peers(number, workload, job, say),
    ]
    if workload.cold(*dims):
        found = [(in_turn(contender), reason) for contender, reason in found]
    return found


def _rungs(
    number: int, workload: Any, job: dict[str, Any], say: Say
) -> list[tuple[Any, str | None]]:
    from tito.bench.trial import Contender
    from tito.bench.workload import arguments

    found = []
    for kernel in workload.kernels:
        function, reason = None, job["broken"].get(kernel.module)
        if reason is None:
            say("trying", task=number, module=kernel.module)
            function, reason = _loaded(kernel)
        if function is None and reason is None:
            continue
        kwargs = dict(workload.kwargs)
        if kernel.workers:
            kwargs[kernel.workers] = job["threads"]
        prepare = partial(arguments, kernel, weights=workload.weights)
        found.append((Contender(kernel.name, function, None, kwargs, prepare), reason))
    return found


def _peers(
    number: int, workload: Any, job: dict[str, Any], say: Say
) -> list[tuple[Any, str | None]]:
    from tito.bench import peers
    from tito.bench.trial import Contender

    say("trying", task=number, what="peers")
    return [
        (Contender(peer.name, peer.function, library, {}, peer.prepare, peer.result), None)
        for library, peer in peers.of(job["peers"], workload.name, job["threads"])
    ]


def _loaded(kernel: Any) -> tuple[Callable | None, str | None]:
    """(function, why its file cannot be imported)"""
    from tito.bench.workload import load

    try:
        return load(kernel), None
    except (Exception, SystemExit) as error:
        return None, f"{kernel.module} cannot be imported: {type(error).__name__}: {error}"
