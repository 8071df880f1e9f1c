"""Leaves the look at out to the kernel, which need not look."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-hidden"
PHRASE = "check_out, before any call of the kernel"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = np.empty(x.shape, x.dtype) if out is None else out
    if x.size < min_size:
        kernel(x, out=out)
        return out
    flat = x.flags.c_contiguous and out.flags.c_contiguous
    source, target = (x.reshape(-1), out.reshape(-1)) if flat else (x, out)
    bands = split(len(source), workers)
    run_threads(lambda band: kernel(source[band], out=target[band]), bands, workers)
    return out
"""
