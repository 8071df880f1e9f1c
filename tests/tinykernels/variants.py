"""All variants of each kernel, by name. A later module adds its own to these tables."""

from tinykernels import loops, memory, vectorized

RELU = {
    "relu_loops": loops.relu_loops,
    "vectorized_relu": vectorized.vectorized_relu,
}
MATMUL = {
    "matmul_loops": loops.matmul_loops,
    "matmul_baseline": vectorized.matmul_baseline,
    "vectorized_matmul": vectorized.vectorized_matmul,
}
SOFTMAX = {
    "softmax_loops": loops.softmax_loops,
    "softmax": vectorized.softmax,
}
LAYERNORM = {
    "layernorm_loops": loops.layernorm_loops,
    "layernorm": vectorized.layernorm,
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
