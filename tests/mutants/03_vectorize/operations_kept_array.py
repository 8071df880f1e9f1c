"""Works in one buffer that it keeps."""

EXERCISE = "vectorized_operations"
FAILS_IN = "vectorized_operations-hidden"
PHRASE = "shares memory"
SOURCE = """\
_buffers = {}


def vectorized_operations(x, y):
    shape = check_float_array("x", x, ndim=None)
    if check_float_array("y", y, ndim=None, dtype=x.dtype) != shape:
        raise ValueError(f"x is {x.shape} and y is {y.shape}: the shapes must be equal")
    key = shape, x.dtype.name
    squares = _buffers.setdefault(key, np.empty(shape, x.dtype))
    np.subtract(x, y, out=squares)
    squares *= squares
    return {
        "element_wise_multiply": np.multiply(x, y),
        "element_wise_add": np.add(x, y),
        "squared_difference": squares,
        "euclidean_distance": float(np.sqrt(squares.sum())),
        "dot_product": float(np.vdot(x, y)),
    }
"""
