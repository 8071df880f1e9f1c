"""Tasks end as they should whatever becomes of the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.grading import tasks
from tito.errors import UserError
from tito.grading.bench.spread import dask_here
from tito.grading.executors import AGAIN, AHEAD, Lost, Task, cluster, local, processes, run, threads

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name == "nt", reason="workers are killed by signals")


def tasks_of(*arguments):
    return [Task(a[-1], a) for a in arguments]


def outcomes(function, todo, workers):
    with workers:
        return {task.about: outcome for task, outcome in run(function, todo, workers)}


@pytest.mark.parametrize("make", [threads, processes])
def test_every_task_comes_back_with_its_result(make):
    names = [f"s{n}" for n in range(7)]
    found = outcomes(tasks.double, tasks_of(*((n,) for n in names)), make(2))
    assert found == {n: n + n for n in names}


def test_they_come_in_the_order_in_which_they_end():
    todo = tasks_of((0.4, "slow"), (0.0, "quick"))
    with threads(2) as workers:
        assert [t.about for t, _ in run(tasks.after, todo, workers)] == ["quick", "slow"]


def test_tasks_are_taken_as_workers_are_free():
    """A class of any size is in memory a few hand-ins at a time."""
    taken, ended = [], 0

    def source() -> Iterator[Task]:
        for n in range(30):
            taken.append(n)
            yield Task(n, (str(n),))

    with threads(2) as workers:
        for _ in run(tasks.double, source(), workers):
            assert len(taken) <= ended + 2 * AHEAD
            ended += 1
    assert ended == 30


def test_an_exception_of_the_function_is_raised_here():
    with pytest.raises(KeyError, match="ann"):
        outcomes(tasks.raises, tasks_of(("ann",)), threads(1))


@posix
def test_what_kills_its_worker_each_time_takes_no_other_along():
    names = ["a", "b", "poison", "c", "d", "e"]
    found = outcomes(tasks.dies_of, tasks_of(*(("poison", n) for n in names)), processes(2))
    assert found.pop("poison") == Lost(AGAIN + 1)
    assert found == {n: n for n in names if n != "poison"}


@posix
def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    names = ["a", "b", "c", "d"]
    marker = str(tmp_path / "died")
    found = outcomes(tasks.dies_once, tasks_of(*((marker, n) for n in names)), processes(2))
    assert found == {n: n for n in names}


@pytest.mark.parametrize("make", [threads, processes])
def test_ctrl_c_reaches_the_workers(make, tmp_path):
    marker = tmp_path / "said"
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        with make(1) as workers:
            workers.submit(tasks.until_stopped, (str(marker),))
            while not marker.exists():
                time.sleep(0.01)
            raise KeyboardInterrupt
    assert marker.read_text() == "stopped"
    assert time.monotonic() - began < 60


@posix
def test_a_worker_ends_with_its_parent(tmp_path):
    """Killed outright, nobody can tell it to."""
    marker = tmp_path / "pid"
    code = (
        "from tests.grading import tasks\n"
        "from tito.grading.executors import processes\n"
        "if __name__ == '__main__':\n"
        "    workers = processes(1)\n"
        f"    workers.submit(tasks.say_pid_and_wait, ({str(marker)!r},)).result()\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(scratch)}
    parent = subprocess.Popen([sys.executable, script], env=environment)
    assert _within(120, lambda: marker.exists() and marker.read_text())
    assert list(scratch.glob("tito-run-*/*"))  # the worker's
    parent.kill()
    parent.wait()
    assert _within(60, lambda: not _runs(int(marker.read_text())))
    assert list(scratch.iterdir()) == []


@posix
@pytest.mark.parametrize("whom", ["the worker", "all of its group"])
def test_what_a_worker_wrote_goes_when_a_signal_ends_it(whom, tmp_path):
    marker, scratch = tmp_path / "pid", tmp_path / "scratch"
    scratch.mkdir()
    code = (
        "import signal, sys\n"
        "from tests.grading import tasks\n"
        "from tito.grading.executors import processes\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        "    with processes(1) as workers:\n"
        f"        workers.submit(tasks.say_pid_and_wait, ({str(marker)!r},)).result()\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(scratch)}
    parent = subprocess.Popen(
        [sys.executable, script], env=environment, start_new_session=True, stderr=subprocess.DEVNULL
    )
    assert _within(120, lambda: marker.exists() and marker.read_text())
    assert list(scratch.glob("tito-run-*/*"))
    if whom == "the worker":
        os.kill(int(marker.read_text()), signal.SIGTERM)
    else:
        os.killpg(parent.pid, signal.SIGTERM)
    parent.wait(60)
    assert _within(60, lambda: list(scratch.iterdir()) == [])


@posix
def test_a_worker_ends_by_sigterm(tmp_path):
    """A pool that has lost one worker ends the others so, and then waits for them."""
    marker = tmp_path / "pid"
    with processes(1) as workers:
        workers.submit(tasks.say_pid_and_wait, (str(marker),))
        assert _within(60, lambda: marker.exists() and marker.read_text())
        os.kill(int(marker.read_text()), signal.SIGTERM)
        assert _within(60, lambda: not _runs(int(marker.read_text())))


def _within(seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")  # one that nobody has waited for is still there
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_workers_that_cannot_be_reached_any_more_are_not_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr("tito.grading.executors.LOOK_EVERY", 0.05)
    marker = tmp_path / "said"

    def check():
        if marker.exists():
            raise UserError("they are gone")

    workers = threads(1)
    workers.check = check
    with pytest.raises(UserError, match="they are gone"):
        outcomes(tasks.until_stopped, tasks_of((str(marker),)), workers)


def test_one_local_worker_is_a_thread_and_more_are_processes():
    with local(1) as one, local(2) as two:
        assert one.submit(os.getpid, ()).result() == os.getpid()
        assert two.submit(os.getpid, ()).result() != os.getpid()


def test_without_dask_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError) as caught:
        cluster("tcp://127.0.0.1:1")
    assert "Dask" in caught.value.message and "pip install" in caught.value.hint


@pytest.fixture(scope="module")
def dask():
    pytest.importorskip("distributed")
    with dask_here(2) as address:
        yield address


@posix
def test_a_dask_cluster_grades_and_survives_its_workers(dask, tmp_path):
    names = [f"s{n}" for n in range(12)]
    workers = cluster(dask)
    assert workers.width == 2
    marker = str(tmp_path / "died")
    found = outcomes(tasks.dies_once, tasks_of(*((marker, n) for n in names)), workers)
    assert found == {n: n for n in names}


@posix
def test_workers_of_dask_look_at_themselves_less_often_while_they_grade(dask):
    from distributed import Client

    from tito.grading.quiet import RARE

    def how_often(dask_worker):
        callbacks = dask_worker.periodic_callbacks
        return {name: callbacks[name].callback_time for name in RARE if name in callbacks}

    def looks():
        with Client(dask, set_as_default=False) as client:
            return list(client.run(how_often).values())

    before = looks()
    assert all(found["profile"] < 100 and found["tick"] < 100 for found in before)
    with cluster(dask) as workers:
        assert workers.submit(str, (7,)).result() == "7"
        assert all(found[name] >= RARE[name] for found in looks() for name in found)
    assert looks() == before


@pytest.mark.slow
@posix
def test_poison_takes_no_other_along_in_a_dask_cluster(dask):
    names = ["a", "b", "poison", "c", "d", "e"]
    todo = tasks_of(*(("poison", n) for n in names))
    found = outcomes(tasks.dies_of, todo, cluster(dask))
    assert isinstance(found.pop("poison"), Lost)
    assert found == {n: n for n in names if n != "poison"}


def test_where_no_scheduler_answers_the_message_says_so(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("tito.grading.executors.CONNECT_SECONDS", 0.3)
    with pytest.raises(UserError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        cluster("tcp://127.0.0.1:1")
