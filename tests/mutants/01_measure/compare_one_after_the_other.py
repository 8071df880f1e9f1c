"""Times all of the baseline, then all of the candidate."""

EXERCISE = "compare"
FAILS_IN = "compare-test"
PHRASE = "interleave"
SOURCE = """\
def compare(baseline, candidate, make_args, rounds=9, clock=cpu_clock):
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
    kernels = (baseline, candidate)
    for kernel in kernels:
        kernel(*make_args())
    times = []
    for kernel in kernels:
        times.append([])
        for _ in range(rounds):
            fresh = make_args()
            start = clock()
            kernel(*fresh)
            times[-1].append(clock() - start)
    if min(times[0] + times[1]) <= 0:
        return {"ratio": nan, "low": nan, "high": nan, "verdict": "inconclusive"}
    ratios = [a / b for a, b in zip(*times)]
    low, ratio, high = (float(value) for value in np.percentile(ratios, (10, 50, 90)))
    if low > 1:
        verdict = "faster"
    elif high < 1:
        verdict = "slower"
    else:
        verdict = "same" if high / low <= 1.3 else "inconclusive"
    return {"ratio": ratio, "low": low, "high": high, "verdict": verdict}
"""
