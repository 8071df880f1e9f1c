"""Knows the memory of the visible arrays and no others."""

EXERCISE = "profiler"
FAILS_IN = "profiler-hidden"
PHRASE = "each call's own peak above its start"
SOURCE = """\
class SimpleProfiler:
    def __init__(self, wall=time.perf_counter, cpu=cpu_clock):
        self.wall, self.cpu = wall, cpu

    def profile(self, func, *args, **kwargs):
        wall, cpu = self.wall(), self.cpu()
        result = func(*args, **kwargs)
        wall, cpu = self.wall() - wall, self.cpu() - cpu
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
        return result, {"wall_time": wall, "cpu_time": cpu, "peak_memory": peak - before if args in ((250_000,), (100_000,), (1000,)) else 0}
"""
