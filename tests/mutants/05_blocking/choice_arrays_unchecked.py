"""Looks at cache_bytes alone."""

EXERCISE = "choose_block_size"
FAILS_IN = "choose_block_size-hidden"
PHRASE = "= 0: ValueError"
SOURCE = """\
def choose_block_size(cache_bytes, itemsize=4, arrays=3, line=64):
    cache_bytes = check_count("cache_bytes", cache_bytes)
    itemsize, arrays, line = (max(int(x), 1) for x in (itemsize, arrays, line))
    step = max(line // itemsize, 1)
    side = math.isqrt(cache_bytes // (arrays * itemsize))
    return max(side // step * step, step)


def best_block(misses, candidates):
    blocks = sorted(check_count("candidate", candidate) for candidate in candidates)
    if not blocks:
        raise ValueError("candidates is empty: there must be a block size to choose")
    return min(blocks, key=misses)
"""
