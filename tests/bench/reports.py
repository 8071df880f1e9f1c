"""Reports with known numbers, as if they had been measured."""

from __future__ import annotations

from tito.bench.ladders import WORKLOADS
from tito.bench.results import Report, Table

# 100 GFLOP/s; 50 GB/s up to 1 MB, 20 GB/s beyond.
MACHINE = {
    "event": "machine",
    "facts": {
        "cpu": "Example CPU 9000",
        "cores": 4,
        "system": "Linux x86_64",
        "python": "3.12.1",
        "numpy": "2.4.0",
        "blas": "openblas 0.3.30",
        "blas_core": "Haswell",
        "blas_threads": 1,
        "caches": [
            {"level": 1, "kind": "data", "size": 32 << 10, "line": 64, "shared_by": 1},
            {"level": 2, "kind": "unified", "size": 1 << 20, "line": 64, "shared_by": 1},
        ],
        "features": ["avx2"],
        "memory": 8 << 30,
    },
    "numba": "0.62.0",
    "peaks": {
        "by_width": {"128": 50e9, "256": 100e9},
        "widest64": 50e9,
        "bandwidth": {"L2": 50e9, "memory": 20e9},
        "copying": {"L2": 40e9, "memory": 20e9},
        "holds": {"L2": 1 << 20},
        "spread": 0.01,
        "missing": None,
    },
    "hidden_core": None,
    "peers": {"numpy": "2.4.0"},
    "environment": {"OPENBLAS_NUM_THREADS": "1"},
}


def row(name, *milliseconds, library=None, left_out=None, first_call=0.001):
    """What the measuring process says of one contender."""
    return {
        "name": name,
        "library": library,
        "left_out": left_out,
        "first_call": first_call,
        "samples": [ms / 1e3 for ms in milliseconds],
        "calls": 3,
    }


# 2 * 100**3 FLOP in 1 ms are 2 GFLOP/s.
GEMM_ROWS = [
    row("loops", 10, 10, 10, first_call=0.5),
    row("blocked", 1, 2, 1, first_call=0.4),
    row("numpy matmul", 0.5, 0.5, 0.5, library="numpy"),
    row("torch matmul", 0.25, 0.25, 0.25, library="torch"),
    row("unwritten", left_out="not written yet"),
]


def report(threads=1, machine=MACHINE, gemm=GEMM_ROWS, relu=None):
    tables = [Table.of(WORKLOADS["gemm"], (100, 100, 100), {"rows": gemm})]
    if relu is not None:
        tables.append(Table.of(WORKLOADS["relu"], (500, 500), {"rows": relu}))
    return Report.of(machine, threads, ["numpy"], tables)
