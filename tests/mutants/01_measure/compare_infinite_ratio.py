"""A candidate's time of 0 makes an infinite ratio of its round."""

EXERCISE = "compare"
FAILS_IN = "compare-hidden"
PHRASE = "in one call of any round: NaN and inconclusive"
SOURCE = """\
def compare(baseline, candidate, make_args, rounds=9, clock=cpu_clock):
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
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
        if spent[0] <= 0:
            return {"ratio": nan, "low": nan, "high": nan, "verdict": "inconclusive"}
        ratios.append(spent[0] / spent[1] if spent[1] > 0 else inf)
    if min(ratios) == inf:
        return {"ratio": nan, "low": nan, "high": nan, "verdict": "inconclusive"}
    low, ratio, high = (float(value) for value in np.percentile(ratios, (10, 50, 90)))
    if low > 1:
        verdict = "faster"
    elif high < 1:
        verdict = "slower"
    else:
        verdict = "same" if high / low <= 1.3 else "inconclusive"
    return {"ratio": ratio, "low": low, "high": high, "verdict": verdict}
"""
