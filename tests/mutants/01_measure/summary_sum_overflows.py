"""Looks at the sum for NaN and infinity, which large values make infinite."""

EXERCISE = "summarize"
FAILS_IN = "summarize-hidden"
PHRASE = "also where their sum would be infinite"
SOURCE = """\
def summarize(seconds):
    runs = np.asarray(seconds, dtype=float)
    if runs.size == 0 or not np.isfinite(runs.sum()) or runs.min() < 0:
        raise ValueError(f"finite samples >= 0 are needed, not {seconds}")
    best, p10, median, p90 = (float(value) for value in np.percentile(runs, (0, 10, 50, 90)))
    spread = (p90 - p10) / median if median > 0 else 0.0
    return {"best": best, "median": median, "p10": p10, "p90": p90, "spread": spread}
"""
