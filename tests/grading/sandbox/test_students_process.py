"""The process that the judge starts is the one that is confined, and honest work goes on in it."""

import sys
import textwrap

import pytest

from tito.grading import sandbox
from tito.grading.engine.spawn import SpawnEngine
from tito.grading.judge.world import World
from tito.grading.limits import Limits
from tito.grading.stage import make_stage

HOSTILE = {
    "read the course": "open({course!r}).read()",
    "list the home": "import os; os.listdir({home!r})",
    "read how it was staged": "open({root!r} + '/stage.json').read()",
    "change what it runs on": "open({root!r} + '/lib/tito/here.py', 'a')",
    "start a process": "import os; os.fork()",
    "start a program": "import subprocess; subprocess.run(['true'])",
    "reach the network": "import socket; socket.create_connection(('127.0.0.1', 9))",
    "end the judge": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
    "write a big file": "with open('big', 'wb') as f: f.write(bytes({files} + 1))",
    "take all memory": "bytearray({memory})",
}
HONEST = {
    "compile": """
        import numba, numpy as np

        @numba.njit(parallel=True, cache=True)
        def double(x):
            out = np.empty_like(x)
            for i in numba.prange(x.size):
                out[i] = 2 * x[i]
            return out

        assert double(np.arange(1000.0)).sum() == 999000.0
        """,
    "draw": """
        import matplotlib.pyplot as plt
        plt.plot([1, 2])
        plt.savefig("picture.png")
        plt.show()
        """,
    "use threads": """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        from multiprocessing.pool import ThreadPool
        meet = threading.Barrier(4, timeout=60)
        for pool in (ThreadPoolExecutor(4), ThreadPool(4)):
            with pool:
                assert len(list(pool.map(lambda i: meet.wait(), range(4)))) == 4
        """,
    "write files": """
        import os, tempfile
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("x")
        open("notes.txt", "w").write("mine")
        assert open("notes.txt").read() == "mine"
        """,
    "read its data": "assert open('data.csv').read() == '1,2'",
    "look at the machine": "assert open('/proc/cpuinfo').read() if os.name == 'posix' else True",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory, engine):
    data = tmp_path_factory.mktemp("data") / "data.csv"
    data.write_text("1,2")
    with make_stage(files=[data]) as stage:
        world = World(engine, stage, Limits(files=4 << 20))
        world.root = stage.root
        yield world
        world.close()


def test_it_has_every_layer_of_this_machine(world):
    assert world.layers == sandbox.available()


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_cell_is_refused(world, what, tmp_path):
    if not sandbox.is_isolating(world.layers) or "seccomp" not in world.layers:
        pytest.skip(f"this machine has only {world.layers}")
    source = HOSTILE[what].format(
        course=__file__,
        home=str(tmp_path),
        root=str(world.root),
        files=world._limits.files,
        memory=world._limits.memory,
    )
    outcome = world.run_cell(what, source)
    assert outcome.status == "error", outcome
    assert outcome.message.startswith(("PermissionError", "OSError", "MemoryError")), outcome
    assert world.run_cell(f"after: {what}", "alive = True").status == "ok"


@pytest.mark.parametrize("what", HONEST)
def test_honest_cell_works(world, what):
    outcome = world.run_cell(what, "import os\n" + textwrap.dedent(HONEST[what]))
    assert outcome.status == "ok", outcome


def test_too_many_threads_end_the_process(engine):
    """Root's are bounded by nothing else."""
    source = """
        import threading, time
        threading.stack_size(64 * 1024)
        stop = threading.Event()
        for _ in range(3000):
            threading.Thread(target=stop.wait, daemon=True).start()
            time.sleep(0.001)
        time.sleep(100)  # on a busy machine nobody may have counted them so far
        """
    with make_stage() as stage:
        world = World(engine, stage, Limits(idle=200))
        outcome = world.run_cell("bomb", textwrap.dedent(source))
        world.close()
    if sys.platform != "linux":
        pytest.skip("threads are counted on Linux only")
    assert outcome.message == "started more than 1000 threads", outcome


def test_too_many_files_end_the_process(monkeypatch):
    """Where no tmpfs bounds them (here it is taken away)."""
    with make_stage() as stage:
        layers = stage.library / "tito/grading/sandbox/mounts.py"
        layers.write_text("def private_scratch(scratch, size):\n    return None\n")
        world = World(SpawnEngine(), stage, Limits(files=1 << 20, idle=200))
        assert "tmpfs" not in world.layers
        outcome = world.run_cell(
            "fill",
            "import time\n"
            "for i in range(30):\n"
            "    open(f'part{i}', 'wb').write(bytes(500_000))\n"
            "    time.sleep(0.05)\n"
            "time.sleep(100)",  # on a busy machine nobody may have counted them so far
        )
        world.close()
    assert outcome.message == "wrote more than 2 MB of files", outcome
