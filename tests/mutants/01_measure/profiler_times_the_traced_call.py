"""The times are those of the second call, which is traced."""

EXERCISE = "profiler"
FAILS_IN = "profiler-test"
PHRASE = "tracing made it 10 times slower: measure memory in a run of its own"
SOURCE = """\
class SimpleProfiler:
    def __init__(self, wall=time.perf_counter, cpu=cpu_clock):
        self.wall, self.cpu = wall, cpu

    def profile(self, func, *args, **kwargs):
        result = func(*args, **kwargs)
        was_on = tracemalloc.is_tracing()
        if not was_on:
            tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            wall, cpu = self.wall(), self.cpu()
            func(*args, **kwargs)
            wall, cpu = self.wall() - wall, self.cpu() - cpu
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            if not was_on:
                tracemalloc.stop()
        return result, {"wall_time": wall, "cpu_time": cpu, "peak_memory": peak - before}
"""
