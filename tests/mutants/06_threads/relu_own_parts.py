"""Each worker fills an array of its own, which is copied."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-work"
PHRASE = "slices of out"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1
    flat = x.flags.c_contiguous and out.flags.c_contiguous
    source, target = (x.reshape(-1), out.reshape(-1)) if flat else (x, out)

    def band_of(band):
        part = np.zeros_like(target[band])
        kernel(source[band], out=part)
        target[band] = part

    run_threads(band_of, split(len(source), workers), workers)
    return out
"""
