"""Bands of 6 elements, as many as there are."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-work"
PHRASE = "one band for each worker"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1
    flat = x.flags.c_contiguous and out.flags.c_contiguous
    source, target = (x.reshape(-1), out.reshape(-1)) if flat else (x, out)

    size = len(source) if workers == 1 else 6
    bands = [slice(start, start + size) for start in range(0, len(source), size or 1)]
    run_threads(lambda band: kernel(source[band], out=target[band]), bands, workers)
    return out
"""
