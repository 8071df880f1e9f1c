"""int() of the three numbers."""

EXERCISE = "cache_simulator"
FAILS_IN = "cache_simulator-test"
PHRASE = "check_count for all three"
SOURCE = """\
class CacheSimulator:
    def __init__(self, size, line, ways):
        size, line, ways = int(size), int(line), int(ways)
        if min(size, line, ways) < 1:
            raise ValueError("all three must be at least 1")
        self.line, self.ways = line, ways
        self.sets, rest = divmod(size, line * ways)
        if rest:
            raise ValueError(f"{size} bytes are no multiple of {ways} lines of {line} bytes")
        self.reset()

    def reset(self):
        self.hits = self.misses = 0
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
