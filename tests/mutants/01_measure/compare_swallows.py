"""Goes on when a function raises."""

EXERCISE = "compare"
FAILS_IN = "compare-hidden"
PHRASE = "what a kernel raises reaches the caller"
SOURCE = """\
def compare(baseline, candidate, make_args, rounds=9, clock=cpu_clock):
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
    kernels = (baseline, candidate)
    for kernel in kernels:
        try:
            kernel(*make_args())
        except Exception as error:
            print(error)
    ratios = []
    for turn in range(rounds):
        spent = [0.0, 0.0]
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            fresh = make_args()
            start = clock()
            try:
                kernels[which](*fresh)
            except Exception as error:
                print(error)
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
