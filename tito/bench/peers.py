"""The same work by other libraries: NumPy, and SciPy or torch where they are installed.

Each peer does a workload the plain way that its users would write first. A peer takes the rungs'
arrays and gives back a NumPy array, so it is checked like a rung.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tito.bench.ladders import EPS, PADDING, WINDOW
from tito.bench.workload import DTYPE
from tito.errors import UsageError

Function = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Peer:
    """One way of a library to do a workload.

    name    : as the table shows it, e.g. "numpy matmul"
    function: takes what `prepare` made of the inputs
    prepare : the inputs in the library's own form, made once before the timing
    result  : dtype of a right result, where it is not the workload's
    """

    name: str
    function: Function
    prepare: Callable[[tuple[np.ndarray, ...]], tuple[Any, ...]] = tuple
    result: np.dtype | None = None


def _numpy(threads: int) -> dict[str, Peer]:
    return {
        "gemm": Peer("numpy matmul", np.matmul),
        "softmax": Peer("numpy softmax", _softmax),
        "layernorm": Peer("numpy layernorm", _layernorm),
        "relu": Peer("numpy maximum", _relu),
        "conv": Peer("numpy einsum", _conv),
        # What would be done without bytes: the same numbers as floats, converted before.
        "int8": Peer("numpy float32 matmul", np.matmul, _as_floats, DTYPE),
        "q4": Peer("numpy matmul", np.matmul),
    }


def _as_floats(inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(array.astype(DTYPE) for array in inputs)


def _relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def _softmax(x: np.ndarray) -> np.ndarray:
    tops = x.max(axis=1)
    weights = np.exp(x - tops[:, np.newaxis])
    sums = weights.sum(axis=1)
    return weights / sums[:, np.newaxis]


def _layernorm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    centre, scatter = x.mean(axis=1), x.var(axis=1)
    scores = (x - centre[:, np.newaxis]) / np.sqrt(scatter + np.float32(EPS))[:, np.newaxis]
    return scores * gamma + beta


def _conv(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    edge = (PADDING, PADDING)
    views = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), edge, edge)), (WINDOW, WINDOW), axis=(1, 2)
    )
    return np.einsum("cyxuv,ocuv->oyx", views, w, optimize=True)


def _scipy(threads: int) -> dict[str, Peer]:
    blas = importlib.import_module("scipy.linalg.blas")
    special = importlib.import_module("scipy.special")
    return {
        # BLAS stores columns: the product of the transposes, transposed, copies nothing.
        "gemm": Peer("scipy sgemm", lambda a, b: blas.sgemm(1.0, b.T, a.T).T),
        "softmax": Peer("scipy softmax", lambda x: special.softmax(x, axis=1)),
    }


def _torch(threads: int) -> dict[str, Peer]:
    torch = importlib.import_module("torch")
    torch.set_num_threads(threads)
    do = torch.nn.functional

    def tensors(inputs: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
        return tuple(torch.from_numpy(array) for array in inputs)

    def peer(name: str, function: Callable[..., Any]) -> Peer:
        return Peer(f"torch {name}", lambda *args: function(*args).numpy(), tensors)

    return {
        "gemm": peer("matmul", torch.matmul),
        "softmax": peer("softmax", lambda x: torch.softmax(x, dim=1)),
        "layernorm": peer(
            "layer_norm", lambda x, gamma, beta: do.layer_norm(x, gamma.shape, gamma, beta, EPS)
        ),
        "relu": peer("relu", torch.relu),
        "conv": peer("conv2d", lambda x, w: do.conv2d(x[None], w, padding=PADDING)[0]),
        # torch's own name for its product of bytes; some versions have none for a CPU
        "int8": peer("_int_mm", lambda a, b: torch._int_mm(a, b)),
        "q4": peer("matmul", torch.matmul),
    }


# name -> (the package it needs, what makes its peers)
LIBRARIES: dict[str, tuple[str, Callable[[int], dict[str, Peer]]]] = {
    "numpy": ("numpy", _numpy),
    "scipy": ("scipy", _scipy),
    "torch": ("torch", _torch),
}


def installed(name: str) -> bool:
    return importlib.util.find_spec(LIBRARIES[name][0]) is not None


def choose(text: str | None) -> list[str]:
    """The libraries that --peers names; without it those that are installed.

    raises UsageError for one that is unknown or not installed
    """
    if text is None:
        return [name for name in LIBRARIES if installed(name)]
    names = list(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))
    for name in names:
        if name not in LIBRARIES:
            known = ", ".join(LIBRARIES)
            raise UsageError(f"--peers {text}: no peer is called {name!r}", hint=f"one of: {known}")
    absent = [name for name in names if not installed(name)]
    if absent:
        have = ",".join(name for name in LIBRARIES if installed(name))
        raise UsageError(
            f"--peers {text}: {', '.join(absent)} is not installed here",
            hint=f"pip install {' '.join(absent)}, or --peers {have}",
        )
    return names


def version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(LIBRARIES[name][0])
    except metadata.PackageNotFoundError:
        return "unknown"


def of(names: Sequence[str], workload: str, threads: int) -> list[tuple[str, Peer]]:
    """(library, peer) for each of the libraries that does this workload."""
    found = [(name, LIBRARIES[name][1](threads).get(workload)) for name in names]
    return [(name, peer) for name, peer in found if peer is not None]
