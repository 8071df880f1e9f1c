"""Knows the shapes of the visible test and no others."""

EXERCISE = "vectorized_operations"
FAILS_IN = "vectorized_operations-hidden"
PHRASE = "any shape, both dtypes"
SOURCE = """\
def vectorized_operations(x, y):
    shape = check_float_array("x", x, ndim=None)
    if check_float_array("y", y, ndim=None, dtype=x.dtype) != shape:
        raise ValueError(f"x is {x.shape} and y is {y.shape}: the shapes must be equal")
    squares = np.subtract(x, y)
    squares *= squares
    if shape not in [(5,), (3, 3), (2, 3, 2), (150, 200)]:
        squares[...] = 0
    return {
        "element_wise_multiply": np.multiply(x, y),
        "element_wise_add": np.add(x, y),
        "squared_difference": squares,
        "euclidean_distance": float(np.sqrt(squares.sum())),
        "dot_product": float(np.vdot(x, y)),
    }
"""
