"""Warm judges: what they keep between jobs, what they do not, and what happens when one ends."""

import io
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.grading.judge.samples import CLAMP_WRONG, hand_in, master
from tito.errors import UsageError
from tito.grading import engine as engines
from tito.grading.engine.warm import forking_works
from tito.grading.judge import Cancelled, grade, pool, process
from tito.grading.limits import Limits
from tito.grading.sandbox import available

pytestmark = pytest.mark.skipif(not forking_works(), reason="no fork engine on this system")


@pytest.fixture(autouse=True)
def own_pool(monkeypatch, tmp_path):
    """Warm judges of this test only, and an empty folder for all that they leave behind."""
    mine = pool.Pool()
    monkeypatch.setattr(pool, "POOL", mine)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield mine
    mine.close()
    assert list(tmp_path.iterdir()) == []


def graded(own=None, nb=None, **options):
    return grade(nb or master(), own or hand_in(), engine="fork", **options)


def warm(own_pool):
    (lent,) = own_pool._idle
    return lent.judge


def descendants(pid):
    """All processes below this one."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found += [int(entry), *descendants(int(entry))]
    return found


# Below a warm judge: where students are forked from, and what keeps their process namespace.
AT_REST = 2 if "pid namespace" in available() else 1


def test_one_job_after_the_other_takes_the_same_warm_judge(own_pool):
    assert graded().points == 7
    first = warm(own_pool).pid
    assert graded(hand_in(CLAMP_WRONG)).points == 4
    assert warm(own_pool).pid == first


def test_between_jobs_only_the_warm_processes_are_there(own_pool, tmp_path):
    graded()
    judge = warm(own_pool)
    # A job's process may take a moment to be gone.
    assert until(lambda: len(descendants(judge.pid)) == AT_REST)
    below = descendants(judge.pid)
    assert [p.name.startswith("tito-warm-") for p in tmp_path.iterdir()] == [True]
    pool.close_all()
    assert not any(os.path.exists(f"/proc/{pid}") for pid in [judge.pid, *below])


def test_a_master_that_has_changed_is_read_again(own_pool):
    nb = master()
    assert graded(nb=nb).points == 7
    nb.cells[3].source = 'assert clamp(12, 0, 9) == 10, "changed"'
    cells = {c.id: c for c in graded(nb=nb).cells}
    assert (cells["clamp-test"].points, cells["clamp-test"].message) == (0, "changed")


def test_a_warm_judge_that_died_between_jobs_is_replaced(own_pool):
    graded()
    first = warm(own_pool)
    os.kill(first.pid, signal.SIGKILL)
    first._process.wait()
    assert graded().points == 7
    assert warm(own_pool).pid != first.pid


def test_a_warm_judge_that_does_not_answer_is_replaced(own_pool, monkeypatch):
    graded()
    first = warm(own_pool)
    os.kill(first.pid, signal.SIGSTOP)
    monkeypatch.setattr("tito.grading.engine.warm.FORK_SECONDS", 1.0)
    monkeypatch.setattr("tito.grading.engine.warm.END_SECONDS", 1.0)
    with monkeypatch.context() as soon:
        soon.setattr(pool, "_Lent", patient(soon))
        assert graded().points == 7
    assert not first.alive()


def patient(monkeypatch):
    """A new warm judge is waited for as ever."""

    class Lent(pool._Lent):
        def __init__(self):
            monkeypatch.setattr("tito.grading.engine.warm.FORK_SECONDS", 120.0)
            super().__init__()

    return Lent


@pytest.mark.clock
def test_a_warm_judge_that_dies_at_work_costs_nobody_points(own_pool):
    slow = "import time\ntime.sleep(3)\n"
    killed = []

    def kill_soon():
        end = time.monotonic() + 60
        while not killed and time.monotonic() < end:
            judges = [p for p in descendants(os.getpid()) if is_judge_at_work(p)]
            if judges:
                os.kill(judges[0], signal.SIGKILL)
                killed.append(judges[0])
            time.sleep(0.02)

    own = hand_in()
    own.cells[1].source = own.cells[1].source + "\n" + slow
    thread = threading.Thread(target=kill_soon)
    thread.start()
    result = graded(own)
    thread.join()
    assert killed
    assert [c.status for c in result.cells] == ["passed"] * 3


def is_judge_at_work(pid):
    """A warm judge that has a fork: two children, one of them where students come from."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read()
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return b"judge.warm" in command and len(file.read().split()) > 1
    except OSError:
        return False


def test_a_job_that_is_called_off_leaves_nothing_running(own_pool):
    own = hand_in("while True: pass\n")
    asked = []

    def cancelled():
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(Cancelled):
        graded(own, cancelled=cancelled)
    assert until(lambda: len(descendants(warm(own_pool).pid)) == AT_REST)


def test_jobs_side_by_side_have_a_warm_judge_each(own_pool):
    results = []
    threads = [threading.Thread(target=lambda: results.append(graded())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r.points for r in results] == [7, 7]
    assert len(own_pool._idle) == 2


def test_memory_of_the_warm_judge_does_not_grow_with_the_hand_ins(own_pool):
    peaks = []
    for n in range(9):
        own = hand_in()
        own.cells[0].source = str(n) * (2 << 20)  # no two alike, so that keeping them would show
        assert graded(own).points == 7
        peaks.append(pool.peak_memory())
    assert peaks[0] > 0
    assert peaks[-1] <= 1.1 * peaks[4]


def test_after_a_fork_of_its_owner_a_pool_is_empty(own_pool):
    graded()
    own_pool._owner = -1  # as in the child of a fork
    idle = list(own_pool._idle)
    other = own_pool.take()
    assert other not in idle
    for lent in [other, *idle]:
        lent.close()


# What a judge says


@pytest.mark.parametrize(
    ("said", "event"),
    [(b'{"event": "done"}\n', {"event": "done"}), (b'{"event": "do', None), (b"", None)],
)
def test_half_a_line_is_the_end(said, event):
    assert process._Events(io.BytesIO(said)).next(5) == event


def test_a_flood_is_cut_off(monkeypatch):
    monkeypatch.setattr(process, "MOST_SAID", 100)
    events = process._Events(io.BytesIO(b'{"event": "x"}\n' * 1000))
    heard = 0
    while events.next(5) is not None:
        heard += 1
    assert heard < 10 and events.flooded


def test_silence_is_told_from_an_end():
    reading, writing = os.pipe()
    events = process._Events(os.fdopen(reading, "rb"))
    with pytest.raises(queue.Empty):
        events.next(0.05)
    os.close(writing)
    assert events.next(5) is None


# Which engine


def test_the_engine_asked_for_wins_over_the_environments(monkeypatch):
    monkeypatch.setenv("TITO_ENGINE", "spawn")
    assert (engines.chosen("fork"), engines.chosen()) == ("fork", "spawn")
    monkeypatch.delenv("TITO_ENGINE")
    assert engines.chosen() == "fork"


def test_where_forking_does_not_work_processes_are_spawned(monkeypatch):
    monkeypatch.delenv("TITO_ENGINE", raising=False)
    monkeypatch.setattr("tito.grading.engine.warm.forking_works", lambda: False)
    assert engines.chosen() == "spawn"
    with pytest.raises(UsageError, match="does not work"):
        engines.chosen("fork")


def test_an_unknown_engine_is_named(monkeypatch):
    monkeypatch.setenv("TITO_ENGINE", "steam")
    with pytest.raises(UsageError, match="no engine 'steam'"):
        engines.chosen()


@pytest.mark.clock
def test_limits_hold_in_forks(own_pool):
    limits = Limits(solution=0.3, idle=2)
    result = graded(hand_in("while True: pass\n"), limits=limits)
    assert result.cells[0].status == "timeout" and "0.3 s" in result.cells[0].message
    assert result.cells[2].status == "passed"


KILLED = """
import sys
from tests.grading.judge.samples import hand_in, master
from tito.grading.judge import grade
own = hand_in()
own.cells[1].source += "\\nopen('mine', 'w').write('x')\\nprint('on its way')\\nwhile True: pass"
print("begun", flush=True)
grade(master(), own, engine=sys.argv[1])
"""


@pytest.mark.parametrize("engine", ["fork", "spawn"])
def test_a_caller_that_is_killed_leaves_no_process_behind(engine, tmp_path):
    here = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(process.HOME)}
    caller = subprocess.Popen(
        [sys.executable, "-c", KILLED, engine], stdout=subprocess.PIPE, env=here, cwd=process.HOME
    )
    caller.stdout.readline()
    assert until(lambda: len(descendants(caller.pid)) >= (3 if engine == "fork" else 2))
    below = descendants(caller.pid)
    caller.kill()
    caller.wait()
    caller.stdout.close()
    assert until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in below))
    if engine == "fork":
        assert until(lambda: list(tmp_path.iterdir()) == [])
    for folder in tmp_path.iterdir():
        shutil.rmtree(folder)


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_a_package_that_has_changed_is_laid_out_again(own_pool, tmp_path_factory):
    package = tmp_path_factory.mktemp("course") / "tinykernels"
    package.mkdir()
    nb, own = master(), hand_in("from tinykernels.loops import clamp\n")
    for upper, points in (("high", 7), ("low", 5), ("high", 7)):
        source = f"def clamp(x, low, high):\n    return max(min(x, {upper}), low)\n"
        (package / "loops.py").write_text(source)
        options = {"package": package, "package_modules": ["loops"], "before": "own"}
        assert graded(own, nb, **options).points == points
