"""The judge's cache model beside Valgrind's: misses of matmul in three orders of its loops.

    python -m tests.checks.cachegrind

A small C program multiplies n x n matrices once or three times under cachegrind with the same
cache; half of the difference is what one product costs, and what starts the program drops out.
The model reads the addresses of the same loops. Both counts are exact, so no clock is needed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tito.bench.lessons.traces import matmul_trace
from tito.checks import cache_misses

ORDERS = ("ijk", "ikj", "jki")
AGREE = 0.10
LONGEST = 300  # seconds of one run

# The first level of many processors. Three matrices of this size do not fit, nor does a column's
# lines beside the rest in its sets.
SIZE, LINE, WAYS = 32 * 1024, 64, 8
N = 192

# What one product touches: 2 references a turn and one when a sum is done, or 3 a turn (a number
# read, a sum read and written) and one when the number that stays is fetched.
REFERENCES = {
    "ijk": lambda n: 2 * n**3 + n**2,
    "ikj": lambda n: 3 * n**3 + n**2,
    "jki": lambda n: 3 * n**3 + n**2,
}

PROGRAM = r"""
#include <stdlib.h>
#include <string.h>

/* One after the other from the begin of a page, as the model lays them out. */
static struct { float a[N * N], b[N * N], c[N * N]; } m __attribute__((aligned(4096)));

static __attribute__((noinline)) void ijk(void) {
    for (long i = 0; i < N; i++)
        for (long j = 0; j < N; j++) {
            float total = 0;
            for (long k = 0; k < N; k++) total += m.a[i * N + k] * m.b[k * N + j];
            m.c[i * N + j] = total;
        }
}

static __attribute__((noinline)) void ikj(void) {
    for (long i = 0; i < N; i++)
        for (long k = 0; k < N; k++) {
            float factor = m.a[i * N + k];
            for (long j = 0; j < N; j++) m.c[i * N + j] += factor * m.b[k * N + j];
        }
}

static __attribute__((noinline)) void jki(void) {
    for (long j = 0; j < N; j++)
        for (long k = 0; k < N; k++) {
            float factor = m.b[k * N + j];
            for (long i = 0; i < N; i++) m.c[i * N + j] += m.a[i * N + k] * factor;
        }
}

int main(int count, char **words) {
    void (*product)(void) = !strcmp(words[1], "ijk") ? ijk : !strcmp(words[1], "ikj") ? ikj : jki;
    for (int times = atoi(words[2]); times > 0; times--) product();
    return m.c[N] != 0;
}
"""


@dataclass(frozen=True)
class Counted:
    """One order of the loops: references to data of one product, and misses of both caches."""

    order: str
    references: int
    model: int
    valgrind_references: int
    valgrind: int

    @property
    def model_ratio(self) -> float:
        return self.model / self.references

    @property
    def valgrind_ratio(self) -> float:
        return self.valgrind / self.valgrind_references

    @property
    def apart(self) -> float:
        """How far the model's miss ratio is from cachegrind's; 0.1 is 10 %."""
        return abs(self.model_ratio / self.valgrind_ratio - 1)


def missing() -> str | None:
    """Why it cannot be tried here."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed"
    return None if _compiler() else "no C compiler is installed"


def compare(n: int = N) -> list[Counted]:
    """Every order, by both."""
    with tempfile.TemporaryDirectory() as folder:
        program = _compile(Path(folder), n)
        return [_counted(program, order, n) for order in ORDERS]


def table(found: list[Counted]) -> str:
    """The figures, a line for each order."""
    least = min(found, key=lambda counted: counted.valgrind)
    lines = [
        f"{N} x {N} float32, a cache of {SIZE} bytes, {LINE} a line, {WAYS} ways; one product",
        f"{'order':<6} {'misses: model':>14} {'cachegrind':>11}"
        f" {'miss ratio: model':>18} {'cachegrind':>11} {'apart':>7} {'to ' + least.order:>8}",
    ]
    lines += [
        f"{c.order:<6} {c.model:>14,} {c.valgrind:>11,} {c.model_ratio:>18.4%}"
        f" {c.valgrind_ratio:>11.4%} {c.apart:>7.2%} {c.valgrind / least.valgrind:>8.2f}"
        for c in found
    ]
    return "\n".join(lines)


def _compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def _compile(folder: Path, n: int) -> Path:
    """Optimised enough that sums stay in registers, not so far that loops change places."""
    source, program = folder / "loops.c", folder / "loops"
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run(
        [_compiler(), "-O1", f"-DN={n}", "-o", program, source],
        check=True,
        timeout=LONGEST,
    )
    return program


def _counted(program: Path, order: str, n: int) -> Counted:
    once, thrice = (_cachegrind(program, order, times) for times in (1, 3))
    references, misses = ((b - a) // 2 for a, b in zip(once, thrice))
    model = cache_misses(matmul_trace(order, n), size=SIZE, line=LINE, ways=WAYS)
    return Counted(order, REFERENCES[order](n), model, references, misses)


def _cachegrind(program: Path, order: str, times: int) -> tuple[int, int]:
    """(references to data, misses of the first level's data cache) of a whole run."""
    done = subprocess.run(
        [
            *(
                "valgrind",
                "--tool=cachegrind",
                "--cache-sim=yes",
                "--cachegrind-out-file=/dev/null",
            ),
            f"--D1={SIZE},{WAYS},{LINE}",
            *(program, order, str(times)),
        ],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    return read_summary(done.stderr)


def read_summary(said: str) -> tuple[int, int]:
    """(D refs, D1 misses) from what cachegrind prints at its end.

    >>> read_summary("==1== D   refs:      1,234  (1,000 rd   + 234 wr)\\n==1== D1  misses:  56")
    (1234, 56)
    """
    found = [re.search(rf"{name}:\s+([\d,]+)", said) for name in (r"D\s+refs", r"D1\s+misses")]
    if not all(found):
        raise RuntimeError(f"cachegrind did not count: {said.strip()[-500:]}")
    references, misses = (int(match[1].replace(",", "")) for match in found)
    return references, misses


if __name__ == "__main__":
    if reason := missing():
        sys.exit(reason)
    counted = compare()
    print(table(counted))
    sys.exit(any(each.apart > AGREE for each in counted))
