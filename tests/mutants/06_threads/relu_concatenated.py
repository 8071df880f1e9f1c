"""The parts are new arrays, put together afterwards."""

EXERCISE = "parallel_relu"
FAILS_IN = "parallel_relu-work"
PHRASE = "without out= it makes an array of its own"
SOURCE = """\
def parallel_relu(x, num_workers=4, out=None, kernel=vectorized_relu, min_size=32768):
    check_float_array("x", x, ndim=None)
    workers = worker_count(num_workers, x.size)
    out = check_out(out, x.shape, x)
    if x.size < min_size:
        workers = 1

    if workers == 1:
        kernel(x, out=out)
        return out
    parts = run_threads(lambda band: kernel(x.reshape(-1)[band]), split(x.size, workers), workers)
    out[...] = np.concatenate(parts).reshape(x.shape)
    return out
"""
