"""Asks x alone whether it lies in C order: reshape(-1) of out may be a copy."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-hidden"
PHRASE = "whatever the layout of x"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1
    flat = x.flags.c_contiguous
    source, target = (x.reshape(-1), out.reshape(-1)) if flat else (x, out)
    bands = split(len(source), workers)
    run_threads(lambda band: kernel(source[band], out=target[band]), bands, workers)
    return out
"""
