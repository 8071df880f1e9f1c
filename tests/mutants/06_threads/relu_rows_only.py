"""Always cut by rows."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-work"
PHRASE = "cut the flat array"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1

    bands = split(len(x), workers)
    run_threads(lambda band: kernel(x[band], out=out[band]), bands, workers)
    return out
"""
