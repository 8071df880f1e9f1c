"""Contenders timed in turn: a thin layer over tito.machine.measure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tito.bench.trial import Contender, Problem
from tito.bench.turns import size_of
from tito.machine import Rung, measure

ROUNDS = 25
PATIENCE = 4.0  # seconds of wall time after which no further round begins


def time_in_turn(
    contenders: Sequence[Contender], problem: Problem, threads: int, rounds: int = ROUNDS
) -> list[dict[str, Any]]:
    """What each contender needed, in their order.

    samples, calls in one, why there are none, and bytes of its arguments' arrays
    """
    work = problem.workload.work(*problem.dims)
    rungs = [
        Rung(
            name=contender.name,
            func=contender.function,
            args=contender.prepare(problem.inputs),
            kwargs=contender.kwargs,
            check=partial(problem.check, dtype=contender.result),
            flops=work.flops,
            nbytes=work.nbytes,
        )
        for contender in contenders
    ]
    found = measure(rungs, rounds=rounds, patience=PATIENCE, threads=threads)
    return [
        {
            "left_out": m.left_out,
            "samples": list(m.samples),
            "calls": m.calls,
            "arguments": size_of(rung.args),
        }
        for m, rung in zip(found, rungs)
    ]
