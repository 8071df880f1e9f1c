"""int() of lines."""

EXERCISE = "predict_misses"
FAILS_IN = "predict_misses-hidden"
PHRASE = "TypeError that names the argument"
SOURCE = """\
def predict_misses(rows, cols, order, itemsize, line, lines):
    rows, cols = check_count("rows", rows, minimum=0), check_count("cols", cols, minimum=0)
    itemsize, line = check_count("itemsize", itemsize), check_count("line", line)
    lines = check_count("lines", int(lines) if lines is not None else lines)
    if order not in ("rows", "columns"):
        raise ValueError(f'order is "rows" or "columns", not {order!r}')
    if line % itemsize or cols * itemsize % line:
        raise ValueError(f"{cols} elements of {itemsize} bytes do not fill lines of {line} bytes")
    if order == "columns" and rows > lines:
        return rows * cols
    return rows * cols * itemsize // line
"""
