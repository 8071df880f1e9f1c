"""isinstance(True, int) is true."""

EXERCISE = "split"
FAILS_IN = "split-test"
PHRASE = "check_count refuses what is no whole number"
SOURCE = """\
def split(n, parts):
    if not isinstance(n, (int, np.integer)) or not isinstance(parts, (int, np.integer)):
        raise TypeError("n and parts must be whole numbers")
    if n < 0 or parts < 1:
        raise ValueError("n from 0 on, parts from 1 on")
    n, parts = int(n), min(int(parts), int(n))
    return [slice(i * n // parts, (i + 1) * n // parts) for i in range(parts)]
"""
