"""Returns the metrics without the result."""

EXERCISE = "profiler"
FAILS_IN = "profiler-test"
PHRASE = "return result, metrics"
SOURCE = """\
class SimpleProfiler:
    def __init__(self, wall=time.perf_counter, cpu=cpu_clock):
        self.wall, self.cpu = wall, cpu

    def profile(self, func, *args, **kwargs):
        wall, cpu = self.wall(), self.cpu()
        func(*args, **kwargs)
        metrics = {"wall_time": self.wall() - wall, "cpu_time": self.cpu() - cpu}
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
        return {**metrics, "peak_memory": peak - before}
"""
