"""Each worker reads the first band."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-test"
PHRASE = "every element belongs to one band"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1
    flat = x.flags.c_contiguous and out.flags.c_contiguous
    source, target = (x.reshape(-1), out.reshape(-1)) if flat else (x, out)

    bands = split(len(source), workers)

    def job(band):
        size = band.stop - band.start
        kernel(source[:size], out=target[band])

    run_threads(job, bands, workers)
    return out
"""
