"""np.dot, which is a matrix product for two axes."""

EXERCISE = "vectorized_operations"
FAILS_IN = "vectorized_operations-test"
PHRASE = "np.dot of two axes is a matrix"
SOURCE = """\
def vectorized_operations(x, y):
    shape = check_float_array("x", x, ndim=None)
    if check_float_array("y", y, ndim=None, dtype=x.dtype) != shape:
        raise ValueError(f"x is {x.shape} and y is {y.shape}: the shapes must be equal")
    squares = np.subtract(x, y)
    squares *= squares
    return {
        "element_wise_multiply": np.multiply(x, y),
        "element_wise_add": np.add(x, y),
        "squared_difference": squares,
        "euclidean_distance": float(np.sqrt(squares.sum())),
        "dot_product": float(np.dot(x, y)) if x.ndim == 1 else np.dot(x, y),
    }
"""
