"""Switches tracing off although it was on before."""

EXERCISE = "profiler"
FAILS_IN = "profiler-hidden"
PHRASE = "leaves the outer one's tracing on"
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
            peak = max(before, tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        return result, {"wall_time": wall, "cpu_time": cpu, "peak_memory": peak - before}
"""
