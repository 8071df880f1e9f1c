"""Lets unequal shapes broadcast."""

EXERCISE = "vectorized_operations"
FAILS_IN = "vectorized_operations-test"
PHRASE = "broadcasting made (3, 3)"
SOURCE = """\
def vectorized_operations(x, y):
    shape = check_float_array("x", x, ndim=None)
    check_float_array("y", y, ndim=None, dtype=x.dtype)
    if x.size != y.size:
        raise ValueError(f"x has {shape} elements, y {y.shape}")
    squares = np.subtract(x, y)
    squares *= squares
    return {
        "element_wise_multiply": np.multiply(x, y),
        "element_wise_add": np.add(x, y),
        "squared_difference": squares,
        "euclidean_distance": float(np.sqrt(squares.sum())),
        "dot_product": float(np.vdot(x, y)),
    }
"""
