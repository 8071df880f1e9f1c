"""Calls make_args once more, to look at what it returns."""

EXERCISE = "compare"
FAILS_IN = "compare-test"
PHRASE = "make_args was called 21 times for 20 calls"
SOURCE = """\
def compare(baseline, candidate, make_args, rounds=9, clock=cpu_clock):
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
    if not isinstance(make_args(), tuple):
        raise ValueError("make_args must return a tuple")
    kernels = (baseline, candidate)
    for kernel in kernels:
        kernel(*make_args())
    ratios = []
    for turn in range(rounds):
        spent = [0.0, 0.0]
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            fresh = make_args()
            start = clock()
            kernels[which](*fresh)
            spent[which] = clock() - start
        if min(spent) <= 0:
            return {"ratio": nan, "low": nan, "high": nan, "verdict": "inconclusive"}
        ratios.append(spent[0] / spent[1])
    low, ratio, high = (float(value) for value in np.percentile(ratios, (10, 50, 90)))
    if low > 1:
        verdict = "faster"
    elif high < 1:
        verdict = "slower"
    else:
        verdict = "same" if high / low <= 1.3 else "inconclusive"
    return {"ratio": ratio, "low": low, "high": high, "verdict": verdict}
"""
