"""Makes the arguments of all calls before the first."""

EXERCISE = "compare"
FAILS_IN = "compare-hidden"
PHRASE = "not for all rounds beforehand"
SOURCE = """\
def compare(baseline, candidate, make_args, rounds=9, clock=cpu_clock):
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, not {rounds}")
    kernels = (baseline, candidate)
    made = iter([make_args() for _ in range(2 * rounds + 2)])
    for kernel in kernels:
        kernel(*next(made))
    ratios = []
    for turn in range(rounds):
        spent = [0.0, 0.0]
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            fresh = next(made)
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
