"""Divides by a median of 0."""

EXERCISE = "summarize"
FAILS_IN = "summarize-hidden"
PHRASE = "a median of 0 has spread 0"
SOURCE = """\
def summarize(seconds):
    runs = np.asarray(seconds, dtype=float)
    if runs.size == 0 or not np.isfinite(runs).all() or runs.min() < 0:
        raise ValueError(f"finite samples >= 0 are needed, not {seconds}")
    best, p10, median, p90 = (float(value) for value in np.percentile(runs, (0, 10, 50, 90)))
    spread = float(np.float64(p90 - p10) / median)
    return {"best": best, "median": median, "p10": p10, "p90": p90, "spread": spread}
"""
