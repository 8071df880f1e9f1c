"""Reaches for the next sample, which one run does not have."""

EXERCISE = "summarize"
FAILS_IN = "summarize-test"
PHRASE = "one run has spread 0"
SOURCE = """\
def summarize(seconds):
    ordered = sorted(float(value) for value in seconds)
    if not ordered or not all(0 <= value < math.inf for value in ordered):
        raise ValueError(f"finite samples >= 0 are needed, not {seconds}")

    def percentile(p):
        steps = p / 100 * (len(ordered) - 1)
        left, right = ordered[int(steps)], ordered[int(steps) + 1]
        return left + (steps - int(steps)) * (right - left)

    p10, median, p90 = map(percentile, (10, 50, 90))
    spread = (p90 - p10) / median if median else 0.0
    return {"best": ordered[0], "median": median, "p10": p10, "p90": p90, "spread": spread}
"""
