"""What --sizes means: "64,256" or "1x576x1536"; sizes that no machine like this can do are refused.

One number stands for every dimension of a workload. A size of several numbers must have as many as
the workload has dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tito.bench.workload import Dims, Workload
from tito.errors import UsageError

_SIZE = re.compile(r"[0-9]+(?:[x*\u00d7][0-9]+)*", re.IGNORECASE)
_BETWEEN = re.compile(r"[x*\u00d7]", re.IGNORECASE)
MOST_DIGITS = 9
# The specification alone, in float64, should not take more than some seconds.
MOST_FLOPS = 200e9
MOST_NUMBERS = 200e6
UNKNOWN_MEMORY = 4 << 30


def parse(text: str) -> list[Dims]:
    """The sizes that "64,1x576x1536" names, in order, each once."""
    words = [word.strip() for word in text.split(",")]
    return list(dict.fromkeys(_size(word, text) for word in words))


def _size(word: str, text: str) -> Dims:
    hint = "write 64,256 or MxKxN, e.g. --sizes 1x576x1536"
    if not _SIZE.fullmatch(word):
        what = "a size is missing" if not word else f"{word!r} is no size"
        raise UsageError(f"--sizes {text}: {what}", hint=hint)
    parts = _BETWEEN.split(word)
    if any(len(part) > MOST_DIGITS for part in parts):
        raise UsageError(f"--sizes {text}: {word[:40]} is too large", hint=hint)
    if not all(map(int, parts)):
        raise UsageError(f"--sizes {text}: sizes begin at 1", hint=hint)
    return tuple(map(int, parts))


def chosen(
    workloads: Sequence[Workload], text: str | None, memory: int | None
) -> list[tuple[Workload, Dims]]:
    """Every (workload, dimensions) to measure.

    memory : bytes of this machine's memory, None where that is unknown
    raises UsageError for a size that does not fit a workload, the memory, or anyone's patience
    """
    asked = None if text is None else parse(text)
    tasks = []
    for workload in workloads:
        for size in asked or workload.sizes:
            dims = _fitted(workload, size)
            _refuse_too_large(workload, dims, memory)
            tasks.append((workload, dims))
    return tasks


def _fitted(workload: Workload, size: Dims) -> Dims:
    dims = workload.dims(size)
    if len(dims) != len(workload.axes):
        raise UsageError(
            f"{workload.name} has {len(workload.axes)} dimensions, {workload.pattern}; "
            f"{shown(size)} has {len(size)}",
            hint=f"tito bench {workload.name} --sizes {shown(workload.sizes[-1])}",
        )
    for axis, number, step in zip(workload.axes, dims, workload.multiples):
        if number % step:
            raise UsageError(
                f"{workload.name} {shown(size)}: {axis} must be a multiple of {step}",
                hint=f"tito bench {workload.name} --sizes {shown(workload.sizes[-1])}",
            )
    return dims


def _refuse_too_large(workload: Workload, dims: Dims, memory: int | None) -> None:
    name = f"{workload.name} {shown(dims)}"
    need, room = workload.needs(dims), (memory or UNKNOWN_MEMORY) // 2
    if need > room:
        raise UsageError(
            f"{name} needs about {_gigabytes(need)} of memory with all its checks; "
            f"at most {_gigabytes(room)}, half of this machine's, is taken",
            hint="name a smaller size",
        )
    work = workload.work(*dims)
    if work.flops > MOST_FLOPS or sum(workload.pieces(*dims)) > MOST_NUMBERS:
        amount = f"{work.flops / 1e9:.3g} GFLOP and {_gigabytes(work.nbytes)}"
        raise UsageError(
            f"{name} is {amount} a call: checking it would take too long",
            hint="name a smaller size",
        )


def _gigabytes(nbytes: float) -> str:
    return f"{nbytes / 1e9:.2g} GB" if nbytes < 100e9 else f"{nbytes / 1e9:.0f} GB"


def shown(dims: Dims) -> str:
    """A size as people type it."""
    return "x".join(map(str, dims))
