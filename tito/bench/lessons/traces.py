"""The addresses that loops touch, in order, as arrays that a cache model reads.

Matrices lie one after the other from address 0 on, each beginning on a cache line. An element that
the next turn of the loops uses again stays in a register, as compiled code has it: a number that
is read is read when it is first used, a sum is touched when it is done. A write that follows the
read of the same element is left out, for its line is there.
"""

from __future__ import annotations

import numpy as np

ITEMSIZE, LINE = 4, 64


def matmul_trace(order: str, n: int, block: int | None = None) -> np.ndarray:
    """Addresses of c += a b for n x n float32 matrices.

    order : the loops from the outermost in, "ikj"
    block : the same order within blocks of so many turns of each loop, blocks in that order too
    """
    turn = _turns(order, n, block)
    i, j, k = turn["i"], turn["j"], turn["k"]
    size = _room(n * n)
    uses = np.stack([i * n + k, size + k * n + j, 2 * size + i * n + j], axis=1)
    touched = np.ones(uses.shape, bool)
    touched[1:, :2] = uses[1:, :2] != uses[:-1, :2]
    touched[:-1, 2] = uses[1:, 2] != uses[:-1, 2]
    return uses[touched].astype(np.int64) * ITEMSIZE


def transpose_trace(n: int, block: int | None = None) -> np.ndarray:
    """Addresses of out[j, i] = x[i, j] for n x n float32 matrices, row by row of x or of a tile."""
    turn = _turns("ij", n, block)
    i, j = turn["i"], turn["j"]
    return np.stack([i * n + j, _room(n * n) + j * n + i], axis=1).ravel() * ITEMSIZE


def column_trace(rows: int, columns: int, step: int) -> np.ndarray:
    """Addresses of a walk down the columns of a float32 matrix, rows `step` elements apart."""
    turn = _turns("ji", max(rows, columns))
    inside = (turn["i"] < rows) & (turn["j"] < columns)
    return (turn["i"] * step + turn["j"])[inside] * ITEMSIZE


def _turns(order: str, n: int, block: int | None = None) -> dict[str, np.ndarray]:
    """The value of each loop's variable, turn after turn of the innermost loop."""
    grid = np.indices((n,) * len(order), dtype=np.int32).reshape(len(order), -1)
    turns = dict(zip(order, grid))
    if block is None:
        return turns
    inner_first = [turns[letter] for letter in reversed(order)]
    sequence = np.lexsort((*inner_first, *(turn // block for turn in inner_first)))
    return {letter: turn[sequence] for letter, turn in turns.items()}


def _room(elements: int) -> int:
    """Elements up to the next line's begin."""
    per_line = LINE // ITEMSIZE
    return -(-elements // per_line) * per_line
