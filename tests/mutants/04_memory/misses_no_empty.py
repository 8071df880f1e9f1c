"""Nothing to walk is an error."""

EXERCISE = "predict_misses"
FAILS_IN = "predict_misses-hidden"
PHRASE = "no rows or no columns are no error"
SOURCE = """\
def predict_misses(rows, cols, order, itemsize, line, lines):
    rows, cols = check_count("rows", rows), check_count("cols", cols)
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    lines = check_count("lines", lines)
    if order not in ("rows", "columns"):
        raise ValueError(f'order is "rows" or "columns", not {order!r}')
    if line % itemsize or cols * itemsize % line:
        raise ValueError(f"{cols} elements of {itemsize} bytes do not fill lines of {line} bytes")
    if order == "columns" and rows > lines:
        return rows * cols
    return rows * cols * itemsize // line
"""
