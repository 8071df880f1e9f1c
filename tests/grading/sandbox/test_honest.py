"""What honest code does works in the cage as it does outside."""

import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no cage on Windows")


def check(child, source, **options):
    """The source runs in the cage without an error."""
    answer = child(textwrap.dedent(source), **options)
    assert answer.outcomes == "worked", (answer.outcomes, answer.errors, answer.layers)


def test_numba_compiles_and_runs_parallel_loops(child):
    check(
        child,
        """
        import numba, numpy as np

        @numba.njit(parallel=True)
        def double(x):
            out = np.empty_like(x)
            for i in numba.prange(x.size):
                out[i] = 2 * x[i]
            return out

        assert double(np.arange(1000.0)).sum() == 999000.0
        assert numba.get_num_threads() >= 1
        assert "double" in str(double.inspect_asm().popitem()[1])
        """,
    )


def test_pictures_are_drawn_and_saved(child):
    check(
        child,
        """
        import matplotlib
        matplotlib.use("agg")
        import matplotlib.pyplot as plt, os
        plt.plot([1, 2, 4])
        plt.title("é")
        plt.savefig("picture.png")
        assert os.path.getsize("picture.png") > 1000
        """,
    )


def test_blas_runs_its_threads(child):
    check(
        child,
        """
        import numpy as np, os
        a = np.random.default_rng(1).random((600, 600))
        assert np.isfinite(a @ a).all()
        np.linalg.svd(a[:50, :50])
        """,
    )


@pytest.mark.parametrize(
    "pool",
    [
        "concurrent.futures.ThreadPoolExecutor(4)",
        "multiprocessing.pool.ThreadPool(4)",
        "multiprocessing.dummy.Pool(4)",
    ],
)
def test_thread_pools_work(child, pool):
    check(
        child,
        f"""
        import concurrent.futures, multiprocessing.dummy, multiprocessing.pool, threading
        barrier = threading.Barrier(4, timeout=60)
        with {pool} as pool:
            assert list(pool.map(lambda i: barrier.wait() < 4, range(4))) == [True] * 4
        """,
    )


def test_multiprocessing_locks_serve_threads(child):
    check(
        child,
        """
        import multiprocessing, threading
        lock, value = multiprocessing.Lock(), [0]
        def add():
            for _ in range(1000):
                with lock:
                    value[0] += 1
        threads = [threading.Thread(target=add) for _ in range(3)]
        [t.start() for t in threads], [t.join() for t in threads]
        assert value == [3000]
        queue = multiprocessing.pool.ThreadPool(1).apply(lambda: 7)
        assert queue == 7
        """.replace("import multiprocessing,", "import multiprocessing.pool,"),
    )


def test_files_in_scratch_are_made_changed_and_deleted(child):
    check(
        child,
        """
        import os, pathlib, shutil, tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a")
            path.write_text("one")
            shutil.copy(path, pathlib.Path(folder, "b"))
            shutil.copytree(folder, "copied")
            os.replace(path, "moved_out_of_its_folder")
        with tempfile.NamedTemporaryFile() as file, tempfile.TemporaryFile() as other:
            file.write(b"x"), other.write(b"x")
        assert os.path.realpath(tempfile.gettempdir()) == os.path.realpath(world.scratch)
        assert open("moved_out_of_its_folder").read() == "one"
        shutil.rmtree("copied")
        """,
    )


def test_arrays_are_saved_and_mapped(child):
    check(
        child,
        """
        import numpy as np
        np.save("x.npy", np.arange(9))
        assert np.load("x.npy", mmap_mode="r").sum() == 36
        mapped = np.memmap("raw", dtype="f4", mode="w+", shape=(100,))
        mapped[:] = 1
        mapped.flush()
        """,
    )


def test_module_facts_about_the_machine_are_read(child):
    check(
        child,
        """
        import os, sys
        if sys.platform == "linux":
            for path in ("/proc/cpuinfo", "/proc/meminfo", "/proc/self/status", "/proc/self/maps"):
                assert open(path).read()
            assert os.listdir("/sys/devices/system/cpu")
            open("/sys/devices/system/cpu/online").read()
        assert os.cpu_count() >= 1
        import psutil
        assert psutil.virtual_memory().total > 0
        assert psutil.Process().memory_info().rss > 0
        assert psutil.Process().cpu_times().user >= 0
        psutil.cpu_percent()
        """,
    )


def test_time_zones_clocks_and_memory_tracing_work(child):
    check(
        child,
        """
        import datetime, resource, time, tracemalloc
        tracemalloc.start()
        blob = bytearray(10**6)
        assert tracemalloc.get_traced_memory()[1] > 10**6
        assert time.thread_time() > 0 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        datetime.datetime.now().astimezone()
        import os
        if os.path.exists("/usr/share/zoneinfo"):
            import zoneinfo
            zoneinfo.ZoneInfo("Europe/Berlin")
        """,
    )


def test_asyncio_and_randomness_work(child):
    check(
        child,
        """
        import asyncio, os, random, secrets, uuid
        async def work():
            await asyncio.sleep(0)
            return await asyncio.to_thread(lambda: 5)
        assert asyncio.run(work()) == 5
        assert os.urandom(4) and secrets.token_hex() and uuid.uuid4() and random.random() < 1
        """,
    )


def test_packages_and_their_metadata_are_found(child):
    check(
        child,
        """
        import importlib.metadata, pkgutil
        assert importlib.metadata.version("numpy")
        assert list(importlib.metadata.entry_points())
        assert "numpy" in {module.name for module in pkgutil.iter_modules()}
        """,
    )


def test_output_goes_to_nowhere_on_request(child):
    check(
        child,
        "open('/dev/null', 'w').write('x'); assert open('/dev/zero', 'rb').read(2) == b'\\0\\0'",
    )


def test_own_crash_and_own_signals_work(child):
    check(
        child,
        """
        import os, signal
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        seen = []
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        assert len(seen) == 2
        """,
    )
