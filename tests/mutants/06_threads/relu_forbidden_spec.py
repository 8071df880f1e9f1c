"""Calls the specification."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-test"
PHRASE = "relu_spec"
FORBIDDEN = "spec"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)

    out[...] = relu_spec(x)
    return out
"""
