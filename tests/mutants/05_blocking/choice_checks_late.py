"""Checks each candidate just before it is tried."""

EXERCISE = "choose_block_size"
FAILS_IN = "choose_block_size-hidden"
PHRASE = "before misses is called"
SOURCE = """\
def choose_block_size(cache_bytes, itemsize=4, arrays=3, line=64):
    counts = {"cache_bytes": cache_bytes, "itemsize": itemsize, "arrays": arrays, "line": line}
    cache_bytes, itemsize, arrays, line = (check_count(*item) for item in counts.items())
    step = max(line // itemsize, 1)
    side = math.isqrt(cache_bytes // (arrays * itemsize))
    return max(side // step * step, step)


def best_block(misses, candidates):
    if not len(candidates):
        raise ValueError("candidates is empty: there must be a block size to choose")
    tried = []
    for candidate in candidates:
        block = check_count("candidate", candidate)
        tried.append((misses(block), block))
    return min(tried)[1]
"""
