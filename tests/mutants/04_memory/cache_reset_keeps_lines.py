"""reset() leaves the lines."""

EXERCISE = "cache_simulator"
FAILS_IN = "cache_simulator-test"
PHRASE = "reset() empties the cache"
SOURCE = """\
class CacheSimulator:
    def __init__(self, size, line, ways):
        self.line, self.ways = check_count("line", line), check_count("ways", ways)
        self.sets, rest = divmod(check_count("size", size), self.line * self.ways)
        if rest:
            raise ValueError(f"{size} bytes are no multiple of {ways} lines of {line} bytes")
        self.reset()

    def reset(self):
        self.hits = self.misses = 0
        if not hasattr(self, "_lines"):
            self._lines = [[] for _ in range(self.sets)]

    def access(self, address):
        number = address // self.line
        lines = self._lines[number % self.sets]
        hit = number in lines
        if hit:
            self.hits += 1
            lines.remove(number)
        else:
            self.misses += 1
            if len(lines) == self.ways:
                lines.pop(0)
        lines.append(number)
        return hit

    def run(self, addresses):
        return [self.access(int(address)) for address in addresses]
"""
