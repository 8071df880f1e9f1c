"""Keeps its first answer for each number of elements."""

EXERCISE = "vectorized_operations"
FAILS_IN = "vectorized_operations-hidden"
PHRASE = "any shape, both dtypes"
SOURCE = """\
_answers = {}


def vectorized_operations(x, y):
    shape = check_float_array("x", x, ndim=None)
    if check_float_array("y", y, ndim=None, dtype=x.dtype) != shape:
        raise ValueError(f"x is {x.shape} and y is {y.shape}: the shapes must be equal")
    squares = np.subtract(x, y)
    squares *= squares
    distance, product = float(np.sqrt(squares.sum())), float(np.vdot(x, y))
    distance, product = _answers.setdefault(shape, (distance, product))
    return {
        "element_wise_multiply": np.multiply(x, y),
        "element_wise_add": np.add(x, y),
        "squared_difference": squares,
        "euclidean_distance": distance,
        "dot_product": product,
    }
"""
