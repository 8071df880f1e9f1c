"""A whole measurement in its own process, of a package in which most kernels misbehave."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.bench import course
from tito.bench import run
from tito.bench.ladders import WORKLOADS
from tito.bench.results import Report
from tito.bench.table import text
from tito.errors import UserError

# Of the real clock, and of programs that must not be silent for long.
pytestmark = pytest.mark.clock

HOME = Path(__file__).parents[2]
GEMM, RELU = WORKLOADS["gemm"], WORKLOADS["relu"]
SIZE = (24, 24, 24)

# One kernel for each way in which a timing can be of something else.
FILES = {
    "loops": """
        import time
        import numpy as np
        compiled = []
        def matmul_loops(a, b):
            if not compiled:
                time.sleep(0.3)   # as a compiler would take
            compiled.append(1)
            print("noise on stdout")
            return np.einsum("ik,kj->ij", a, b)
        """,
    "vectorized": """
        def vectorized_matmul(a, b):
            raise NotImplementedError("vectorized_matmul is exercise 3 of 03_vectorize")
        def matmul_baseline(a, b):
            return (row for row in a @ b)   # nothing is computed yet
        """,
    "blocking": """
        def cache_friendly_matmul(a, b):
            c = a @ b
            a *= 1.01
            return c
        def blocked_matmul(a, b):
            return a @ b * 1.0001
        """,
    "parallel": """
        import threading
        import numpy as np
        def parallel_matmul(a, b, num_workers=4):
            assert num_workers == 1
            c = np.empty((len(a), b.shape[1]), a.dtype)
            def work():
                for _ in range(300):
                    np.matmul(a, b, out=c)
            worker = threading.Thread(target=work)
            worker.start()
            worker.join()
            return c
        """,
    "jit": "import a_compiler_that_is_missing",
    "simd__gemm": """
        import os
        def gemm(a, b):
            os._exit(7)   # as a crash of compiled code ends the process
        """,
    "init": """
        calls = []
        def matmul(a, b):
            calls.append(1)
            if len(calls) > 40 and a.shape == (24, 24):
                raise FloatingPointError("worn out")
            return a @ b
        """,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return course.make(tmp_path_factory.mktemp("bench") / "a course", **FILES)


@pytest.fixture(scope="module")
def seen():
    return []


@pytest.fixture(scope="module")
def report(root, seen) -> Report:
    tasks = [(GEMM, SIZE), (RELU, (20, 20))]
    return run.measure_all(root, tasks, ["numpy"], 1, lambda *state: seen.append(state))


def row(report, name):
    return next(r for r in report.tables[0].rows if r.name == name)


def test_a_first_call_that_compiles_is_listed_apart(report):
    loops = row(report, "matmul_loops")
    assert loops.timed and loops.seconds < 1e-3
    assert loops.compiles and loops.first_call >= 0.3
    assert "first call, apart from the times (it compiles or loads): matmul_loops 3" in text(report)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("vectorized_matmul", "not written yet"),
        ("matmul_baseline", "wrong result: the result: returned a generator"),
        ("cache_friendly_matmul", "wrong result: it changes its input"),
        ("blocked_matmul", "wrong result: "),
        ("parallel_matmul", "computes in threads of its own"),
        ("matmul_ikj", "tinykernels.jit cannot be imported: ModuleNotFoundError"),
        ("gemm", "ended its process (exit code 7)"),
        ("matmul", "FloatingPointError: worn out"),
    ],
)
def test_what_is_not_right_has_a_reason_and_no_time(report, name, reason):
    left_out = row(report, name)
    assert not left_out.timed
    assert reason in left_out.left_out
    assert f"left out: {left_out.left_out[:30]}" in text(report)


def test_the_others_are_measured_all_the_same(report):
    assert row(report, "numpy matmul").timed
    assert [r.name for r in report.tables[1].rows] == ["relu_fused", "numpy maximum"]
    assert [r.name for r in report.tables[1].timed] == ["numpy maximum"]


def test_times_shares_and_ratios_are_numbers_however_short_a_call_is(report):
    for table in report.tables:
        for timed in table.timed:
            ratios = timed.times_as_fast_as(table.baseline)
            numbers = (*timed.samples, timed.spread, *ratios, table.rate(timed))
            assert all(math.isfinite(n) and n >= 0 for n in numbers)
            assert timed.seconds > 0 and timed.calls > 1


def test_the_machine_tells_what_it_was(report):
    facts, said = report.machine.facts, report.machine.said
    assert facts["python"] == sys.version.split()[0]
    assert said["environment"]["NUMBA_NUM_THREADS"] == "1"
    assert said["environment"]["OPENBLAS_NUM_THREADS"] == "1"
    assert facts["blas_threads"] in (1, None)
    assert said["peers"].keys() == {"numpy"}
    if said["numba"]:
        assert report.tables[0].limit(report.machine) > 1e8
        assert "GFLOP/s, the peak" in text(report) and "L1 bandwidth" in text(report)


def test_progress_says_what_is_going_on(report, seen):
    words = [what for _, _, what in seen]
    assert "gemm 24x24x24: matmul_loops" in words
    assert "gemm 24x24x24: timing" in words
    done = [done for done, total, _ in seen if total == 2]
    assert done == sorted(done) and done[-1] == 2


def measure(root, *tasks, peers=(), threads=1):
    """Without asking for the machine's peaks, which takes two seconds."""
    return run.measure_all(root, tasks, peers, threads, machine={}).tables


def test_an_endless_kernel_is_left_out_and_the_rest_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "LONGEST_SILENCE", 15.0)
    source = "import time\ndef relu_loops(x):\n    while True: time.sleep(0.1)"
    root = course.make(tmp_path / "course", loops=source)
    [table] = measure(root, (RELU, (10, 10)), peers=["numpy"])
    assert [r.left_out for r in table.rows] == ["no end after 15 s", None]


def test_a_file_that_ends_the_process_when_it_is_imported_costs_one_try(tmp_path, monkeypatch):
    """For all kernels in it and at every size."""
    started = []
    real = run._Child
    monkeypatch.setattr(run, "_Child", lambda *args: started.append(1) or real(*args))
    source = "import os\nos._exit(5)"
    root = course.make(tmp_path / "course", loops=source, vectorized="raise SystemExit(1)")
    tables = measure(root, (RELU, (3, 3)), (RELU, (4, 4)), (GEMM, (3, 3, 3)), peers=["numpy"])
    assert len(started) == 2
    for table in tables:
        reasons = [r.left_out for r in table.rows]
        assert reasons[0] == "ended its process (exit code 5)" and reasons[-1] is None
        assert "vectorized cannot be imported: SystemExit: 1" in reasons[1]


def test_a_process_that_cannot_even_begin_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "_BOOT", "import sys; sys.exit('no such thing')")
    with pytest.raises(UserError, match=r"could not begin: .*exit code 1.*no such thing"):
        measure(course.make(tmp_path / "course"), (RELU, (3, 3)))


def test_a_crash_while_times_are_taken_leaves_that_size_out(tmp_path):
    source = """
        import os
        calls = []
        def relu_loops(x):
            calls.append(1)
            if len(calls) > 100:
                os._exit(9)
            return x * (x > 0)
        """
    root = course.make(tmp_path / "course", loops=source)
    tables = measure(root, (RELU, (10, 10)), (RELU, (1, 1)), peers=["numpy"])
    assert len(tables) == 2
    assert any("exit code 9" in (r.left_out or "") for table in tables for r in table.rows)


def test_more_threads_are_given_to_the_workers_and_timed_by_the_wall(tmp_path):
    source = """
        import os
        def parallel_relu(x, num_workers=4):
            assert num_workers == 2 and os.environ["OMP_NUM_THREADS"] == "2"
            return x * (x > 0)
        """
    root = course.make(tmp_path / "course", parallel=source)
    report = run.measure_all(root, [(RELU, (16, 16))], ["numpy"], 2, machine={})
    assert all(r.timed for r in report.tables[0].rows)
    assert "wall clock" in text(report) and report.machine.clock == "wall clock"


def test_the_core_type_that_was_asked_for_stays(monkeypatch, tmp_path):
    """Only the threads are pinned: what NumPy's BLAS was told to use is what is measured."""
    given = {}

    class Stopped(Exception):
        pass

    def popen(command, **kwargs):
        given.update(kwargs["env"])
        raise Stopped

    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setattr(run.subprocess, "Popen", popen)
    with pytest.raises(Stopped):
        run.measure_all(tmp_path, [(RELU, (4, 4))], [], 2)
    assert given["OPENBLAS_CORETYPE"] == "Haswell"
    assert given["NUMBA_NUM_THREADS"] == given["OPENBLAS_NUM_THREADS"] == "2"
    assert set(os.environ) <= set(given)


def test_a_bug_of_ours_is_not_taken_for_a_kernel_s(monkeypatch, tmp_path):
    root = course.make(tmp_path / "course")
    broken = type(RELU)(**{**vars(RELU), "name": "nonsense"})
    with pytest.raises(RuntimeError, match="KeyError: 'nonsense'"):
        measure(root, (broken, (4, 4)))


TWO_SPEEDS = """
    import numpy as np
    def slowly(x, turns):
        total = 0
        for n in range(turns):
            total += n * n
        return np.maximum(x, 0)
    def relu_loops(x):
        return slowly(x, 12000)
    """
HALF = """
    from tinykernels.loops import slowly
    def vectorized_relu(x):
        return slowly(x, 6000)
    """


def band(root):
    """(low, median, high) of how many times as fast the second kernel is."""
    [table] = measure(root, (RELU, (8, 8)))
    first, second = table.rows
    return second.times_as_fast_as(first)


@pytest.fixture
def burners():
    """A busy process for each core."""
    started = []

    def start():
        for _ in range(os.cpu_count() or 1):
            started.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))

    yield start
    for process in started:
        process.kill()
        process.wait()


def overlap(one, other, slack):
    return one[0] <= other[2] * (1 + slack) and other[0] <= one[2] * (1 + slack)


def test_a_busy_machine_gives_the_same_ratio(tmp_path, burners):
    root = course.make(tmp_path / "course", loops=TWO_SPEEDS, vectorized=HALF)
    quiet = band(root)
    burners()
    busy = band(root)
    assert 1.7 < quiet[1] < 2.3 and 1.7 < busy[1] < 2.3
    assert overlap(quiet, busy, slack=0.05)


@pytest.mark.slow
def test_the_whole_ladder_keeps_its_ratios_on_a_busy_machine(burners):
    """Every workload of this course's package, at the sizes that nobody asks for."""
    # Main memory is shared: what a burner takes of it, no clock gives back.
    tasks = [(w, dims) for w in WORKLOADS.values() for dims in w.sizes if not w.cold(*dims)]
    begin = time.perf_counter()
    quiet = run.measure_all(HOME, tasks, ["numpy"], 1)
    assert time.perf_counter() - begin < 120
    burners()
    busy = run.measure_all(HOME, tasks, ["numpy"], 1)
    apart = []
    for one, other in zip(quiet.tables, busy.tables):
        for a, b in zip(one.rows, other.rows):
            if a.timed and b.timed and one.baseline.name == other.baseline.name:
                bands = a.times_as_fast_as(one.baseline), b.times_as_fast_as(other.baseline)
                if not overlap(*bands, slack=0.1):
                    apart.append((one.workload.name, one.dims, a.name, *bands))
    assert apart == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize("number", ["SIGINT", "SIGKILL"])
def test_nothing_is_left_running_when_tito_ends(tmp_path, number):
    """Ctrl-C: exit code 130 and no traceback. A killed tito takes its measuring process along."""
    source = """
        import os, pathlib
        def relu_loops(x):
            pathlib.Path(os.environ["PID_FILE"]).write_text(str(os.getpid()))
            while True: pass
        """
    root = course.make(tmp_path / "course", loops=source)
    pid_file = tmp_path / "pid"
    own = {"PID_FILE": str(pid_file), "PYTHONPATH": str(HOME)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tito", "bench", "relu", "--sizes", "4"],
        cwd=root,
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever starts the tests in the background makes them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until = time.monotonic() + 180
    while not pid_file.exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(getattr(signal, number))
    out, err = process.communicate(timeout=180)
    assert "Traceback" not in err and out == ""
    if number == "SIGINT":
        assert process.returncode == 130 and "interrupted" in err
    pid, until = int(pid_file.read_text()), time.monotonic() + 180
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_events_are_lines_of_json():
    """What the child says can be read by anybody who wants to see it work."""
    job = {"root": "/", "threads": 1, "peers": [], "tasks": [], "done": [], "skip": {}}
    job |= {"broken": {}}
    with subprocess.Popen(
        [sys.executable, "-P", "-c", run._BOOT, str(HOME)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        child.stdin.write(json.dumps({**job, "machine": False}) + "\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline()) == {"event": "end"}
