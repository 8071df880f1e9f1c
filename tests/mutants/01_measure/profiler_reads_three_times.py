"""Reads the clocks once more to show them."""

EXERCISE = "profiler"
FAILS_IN = "profiler-hidden"
PHRASE = "two readings of each clock"
SOURCE = """\
class SimpleProfiler:
    def __init__(self, wall=time.perf_counter, cpu=cpu_clock):
        self.wall, self.cpu = wall, cpu

    def profile(self, func, *args, **kwargs):
        wall, cpu = self.wall(), self.cpu()
        result = func(*args, **kwargs)
        wall, cpu = self.wall() - wall, self.cpu() - cpu
        self.last = self.wall(), self.cpu()
        was_on = tracemalloc.is_tracing()
        if not was_on:
            tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            func(*args, **kwargs)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            if not was_on:
                tracemalloc.stop()
        return result, {"wall_time": wall, "cpu_time": cpu, "peak_memory": peak - before}
"""
