"""Flattens both in the order in which they lie in memory."""

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

    source, target = x.ravel(order="K"), out.ravel(order="K")
    bands = split(len(source), workers)
    run_threads(lambda band: kernel(source[band], out=target[band]), bands, workers)
    if not np.shares_memory(target, out):
        out[...] = target.reshape(out.shape)
    return out
"""
