"""Student processes as forks of a warm one: alike to new ones, apart from each other."""

import os
import signal
import socket
import threading
import time

import pytest

from tito.grading.engine import pipes, warm
from tito.grading.engine.base import ChannelClosed
from tito.grading.engine.fork import ForkEngine, start_warm_student
from tito.grading.engine.spawn import SpawnEngine
from tito.grading.engine.warm import WarmFailed, WarmProcess, WarmSilent
from tito.grading.judge.world import World
from tito.grading.limits import Limits
from tito.grading.stage import SOURCES, make_library, make_stage, remove_folder

LOOK = """
import os, stat, sys, numpy as np
def kind(descriptor):
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return None
    return "socket" if stat.S_ISSOCK(mode) else "pipe" if stat.S_ISFIFO(mode) else "other"
kinds = [kind(d) for d in range(256)]
environment = dict(os.environ)
path = list(sys.path)
here = os.getcwd()
text_hash = hash("some text")
drawn = float(np.random.rand())
loaded = sorted(sys.modules)
files = [getattr(m, "__file__", None) or "" for m in list(sys.modules.values())]
"""
SEEN = ("kinds", "environment", "path", "here", "text_hash", "drawn", "loaded", "files")


@pytest.fixture
def look(warm_student):
    """What a cell sees in a process of the given engine, and where its stage lay."""

    def seen(engine):
        with make_stage() as stage:
            world = World(engine, stage)
            assert world.run_cell("look", LOOK).status == "ok"
            found = world.bind(SEEN)
            world.close()
        return found, str(stage.root)

    return seen


@pytest.fixture
def forks(warm_student):
    return ForkEngine(warm_student)


@pytest.fixture
def channel(forks):
    """A process that has said hello and waits."""
    with make_stage() as stage:
        channel = forks.start(stage, Limits())
        channel.recv(8)
        yield channel
        channel.close()


def alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # also between opening and reading
        return False


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_environment_path_and_folder_are_those_of_a_new_process(look, forks):
    (fork, fork_root), (spawn, spawn_root) = look(forks), look(SpawnEngine())
    for name in ("environment", "path", "here"):
        assert str(fork[name]).replace(fork_root, "ROOT") == str(spawn[name]).replace(
            spawn_root, "ROOT"
        ), name


def test_nothing_is_inherited_but_the_wire(look, forks):
    found = look(forks)[0]
    assert "socket" not in found["kinds"]  # neither the control nor any leash
    assert found["kinds"].count("pipe") <= 4  # in, out, and 1 and 2 for what is printed


def test_text_hashes_are_not_the_judges(look, forks):
    assert look(forks)[0]["text_hash"] != hash("some text")


def test_random_numbers_start_anew_in_every_fork(look, forks):
    assert look(forks)[0]["drawn"] != look(forks)[0]["drawn"]


def test_nothing_of_the_course_is_loaded(look, forks):
    found = look(forks)[0]
    assert not any(name.partition(".")[0] == "tinykernels" for name in found["loaded"])
    assert not [f for f in found["files"] if f.startswith(f"{SOURCES}{os.sep}")]


def test_what_one_does_to_its_libraries_the_next_does_not_see(forks):
    for _ in range(2):
        with make_stage() as stage:
            world = World(forks, stage)
            source = "import math, builtins\nassert math.pi > 3 and sum([1]) == 1\n"
            source += "math.pi = 3\nbuiltins.sum = lambda _: 0"
            assert world.run_cell("spoil", source).status == "ok"
            world.close()


def test_numba_is_loaded_before_any_cell_runs_and_compiles(forks):
    with make_stage() as stage:
        world = World(forks, stage)
        assert world.run_cell("look", "import sys\nassert 'numba' in sys.modules").status == "ok"
        source = "import numba\n@numba.njit\ndef f(x):\n    return x + 1\nassert f(1) == 2"
        assert world.run_cell("jit", source).status == "ok"
        world.close()


def test_a_kill_ends_it_even_when_it_is_stopped(channel):
    os.kill(channel.pid, signal.SIGSTOP)
    channel.kill()
    assert not alive(channel.pid)


def test_its_number_stays_its_own_until_the_channel_is_closed(channel):
    channel.kill()
    os.kill(channel.pid, 0)  # a zombie: nobody else can have the number
    assert channel.cpu_seconds() > 0
    channel.close()
    assert until(lambda: not os.path.exists(f"/proc/{channel.pid}"))


def test_its_own_end_is_told_with_the_reason(channel):
    os.kill(channel.pid, signal.SIGSEGV)
    with pytest.raises(ChannelClosed):
        while True:
            channel.recv(1 << 16)
    assert channel.exit_reason() == "killed by SIGSEGV"


def test_the_reason_is_told_however_late_the_warm_process_hears_of_it(forks, channel, monkeypatch):
    monkeypatch.setattr(pipes, "ENDS_WITHIN", 0.05)
    os.kill(forks.warm.pid, signal.SIGSTOP)
    os.kill(channel.pid, signal.SIGSEGV)
    threading.Timer(0.3, os.kill, (forks.warm.pid, signal.SIGCONT)).start()
    assert channel.exit_reason() == "killed by SIGSEGV"


def test_whoever_loses_the_leash_loses_the_process(forks):
    with make_stage() as stage:
        channel = forks.start(stage, Limits())
        pid = channel.pid
        channel._child._leash.close()  # as when a judge is killed
        assert until(lambda: not os.path.exists(f"/proc/{pid}"))


def test_with_the_warm_process_its_children_end():
    library = make_library()
    warm = start_warm_student(library, with_numba=False)
    try:
        with make_stage() as stage:
            channel = ForkEngine(warm).start(stage, Limits())
            channel.recv(8)
            os.kill(warm.pid, signal.SIGKILL)
            assert until(lambda: not alive(channel.pid))
            assert channel._child.wait(60) == -signal.SIGKILL
            assert channel._child.orphaned
            channel.close()
            with pytest.raises(WarmFailed):
                ForkEngine(warm).start(stage, Limits())
    finally:
        warm.close()
        remove_folder(library)


def test_a_warm_process_that_does_not_start_says_why():
    warm = WarmProcess(["-c", "raise SystemExit('no NumPy here')"], dict(os.environ))
    with pytest.raises(WarmFailed, match="no NumPy here"):
        warm.wait_until_ready()


def test_a_process_with_threads_does_not_become_a_warm_one():
    code = (
        "import socket, sys, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "from tito.grading.forkserver import serve\n"
        "serve(socket.socket(fileno=int(sys.argv[-1])), print)"
    )
    warm = WarmProcess(["-c", code], dict(os.environ, PYTHONPATH=str(SOURCES.parent)))
    with pytest.raises(WarmFailed, match="cannot fork safely"):
        warm.wait_until_ready()


def test_a_warm_process_that_does_not_answer_says_where_it_is(monkeypatch):
    code = (
        "import socket, sys, time\n"
        "def at_a_loss(request, files): time.sleep(600)\n"
        "from tito.grading.forkserver import serve\n"
        "serve(socket.socket(fileno=int(sys.argv[-1])), print, at_a_loss)"
    )
    environment = dict(os.environ, PYTHONPATH=str(SOURCES.parent))
    process = WarmProcess(["-X", "faulthandler", "-c", code], environment)
    process.wait_until_ready()
    process.prepare({})
    monkeypatch.setattr(warm, "FORK_SECONDS", 0.1)
    with pytest.raises(WarmSilent):
        process.fork({}, [])
    assert "at_a_loss" in process.abort() and not process.alive()


def test_a_minute_in_which_the_machine_stood_still_is_not_waited_for(monkeypatch):
    """The clock has then moved by more than the whole patience, and nothing has come yet."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    looks = []

    class Poll:
        def register(self, *told):
            pass

        def poll(self, milliseconds):
            looks.append(milliseconds)
            if len(looks) == 1:
                return []
            theirs.send(b"late")
            return [True]

    monkeypatch.setattr(warm.select, "poll", Poll)
    with ours, theirs:
        assert warm._receive(ours, 60.0) == b"late"
    assert max(looks) <= 1000
