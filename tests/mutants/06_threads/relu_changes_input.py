"""Works in place on x."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-test"
PHRASE = "changed its input"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1

    run_threads(lambda band: kernel(x[band].copy(), out=x[band]), split(len(x), workers), workers)
    out[...] = x
    return out
"""
