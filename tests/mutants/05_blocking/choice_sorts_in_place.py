"""Sorts the caller's candidates, which a tuple does not let it do."""

EXERCISE = "choose_block_size"
FAILS_IN = "choose_block_size-test"
PHRASE = "has no attribute 'sort'"
SOURCE = """\
def choose_block_size(cache_bytes, itemsize=4, arrays=3, line=64):
    counts = {"cache_bytes": cache_bytes, "itemsize": itemsize, "arrays": arrays, "line": line}
    cache_bytes, itemsize, arrays, line = (check_count(*item) for item in counts.items())
    step = max(line // itemsize, 1)
    side = math.isqrt(cache_bytes // (arrays * itemsize))
    return max(side // step * step, step)


def best_block(misses, candidates):
    candidates.sort()
    blocks = sorted(check_count("candidate", candidate) for candidate in candidates)
    if not blocks:
        raise ValueError("candidates is empty: there must be a block size to choose")
    return min(blocks, key=misses)
"""
