"""All variants of each kernel, by name. A later module adds its own to these tables."""

from functools import partial

from tinykernels import blocking, jit, loops, memory, parallel, vectorized

RELU = {
    "relu_loops": loops.relu_loops,
    "vectorized_relu": vectorized.vectorized_relu,
    "parallel_relu": partial(parallel.parallel_relu, num_workers=3, min_size=0),
    "relu_fused": jit.relu_fused,
}
MATMUL = {
    "matmul_loops": loops.matmul_loops,
    "matmul_baseline": vectorized.matmul_baseline,
    "vectorized_matmul": vectorized.vectorized_matmul,
    "cache_friendly_matmul": blocking.cache_friendly_matmul,
    "cache_friendly_matmul in blocks of 2": partial(blocking.cache_friendly_matmul, block_size=2),
    "blocked_matmul": blocking.blocked_matmul,
    "blocked_matmul in blocks of 2": partial(blocking.blocked_matmul, block_size=2),
    "parallel_matmul": partial(parallel.parallel_matmul, num_workers=3),
    "matmul_ijk": jit.matmul_ijk,
    "matmul_ikj": jit.matmul_ikj,
    "matmul_registers": jit.matmul_registers,
    "matmul_prange": jit.matmul_prange,
}
SOFTMAX = {
    "softmax_loops": loops.softmax_loops,
    "softmax": vectorized.softmax,
    "softmax_fused": jit.softmax_fused,
}
LAYERNORM = {
    "layernorm_loops": loops.layernorm_loops,
    "layernorm": vectorized.layernorm,
    "layernorm_fused": jit.layernorm_fused,
}
CONV2D = {
    "conv2d_loops": loops.conv2d_loops,
    "conv2d_im2col": vectorized.conv2d_im2col,
}
ROW_SUMS = {
    "sum_by_rows": memory.sum_by_rows,
}
COLUMN_SUMS = {
    "sum_by_columns": memory.sum_by_columns,
}
TRANSPOSE = {
    "transpose_loops": memory.transpose_loops,
}
