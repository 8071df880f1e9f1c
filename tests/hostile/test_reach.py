"""What student code must not reach: files, other processes, the network, other hand-ins.

Each attempt is worth something: the hand-in's answers are right if it works and wrong if it does
not. So points would show that it worked, and the same attempt with an open door earns them all.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile.lesson import (
    MAX_POINTS,
    RIGHT,
    SHORT,
    WRONG,
    graded,
    hand_in,
    told,
    with_cell,
)
from tests.hostile.readers import READERS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cage has walls on Linux only")


def prize(attempt: str) -> dict[str, str]:
    """Right answers if `attempt` (a function's body) returns something, wrong ones if it fails."""
    body = "\n    ".join(attempt.split("\n"))
    tried = f"import os\ndef attempt():\n    {body}\ntry: won = attempt()\nexcept Exception as e: "
    tried += "print('refused', type(e).__name__); won = None\n"
    answers = {}
    for name in RIGHT:
        right, wrong = ("\n    ".join(a[name].split("\n")) for a in (RIGHT, WRONG))
        answers[name] = f"import numpy as np\nif won:\n    {right}\nelse:\n    {wrong}\n"
    return {**answers, "scaled": tried + answers["scaled"]}


def needs(layers: list[str], *wanted: str) -> None:
    if not any(layer.startswith(w) for layer in layers for w in wanted):
        pytest.skip(f"needs one of {wanted}, active are {layers}")


def points_of(attempt: str, engine: str) -> int:
    result = graded(hand_in(prize(attempt)), engine)
    assert result.status == "graded"
    return int(result.points)


def works_outside(attempt: str) -> bool:
    """Whether an attempt succeeds in a plain Python: what fails there too proves nothing here."""
    body = "\n    ".join(attempt.split("\n"))
    code = f"import os\ndef attempt():\n    {body}\nassert attempt()"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True)
    return done.returncode == 0


# These need what a plain user has not, or replace the process that would have told.
NOT_EVERYWHERE = {"changed root", "raw", "exec"}


def test_an_attempt_that_works_earns_everything(engine):
    """The door stands open here: what follows can fail."""
    write = "open('mine.txt', 'w').write('x')\nreturn open('mine.txt').read()"
    assert points_of(write, engine) == MAX_POINTS
    assert points_of(
        "import threading\nt = threading.Thread(target=int)\nt.start()\nreturn True", engine
    )


@pytest.mark.parametrize("how", READERS)
def test_no_way_to_read_a_file_outside_works(how, fastest, outside, layers):
    needs(layers, "landlock", "mounts")
    attempt = f"path = {str(outside / 'answers.py')!r}\n{READERS[how]}"
    assert points_of(attempt, fastest) == 0


@pytest.mark.parametrize("kind", ["READERS", "WRITERS", "NETWORK", "PROCESSES"])
def test_each_of_these_works_where_nothing_confines(kind, outside, listener):
    """Hard links, moves and the like are tried on files that are there for them."""
    for how, attempt in globals()[kind].items():
        if how in NOT_EVERYWHERE:
            continue
        path = outside / f"{how}.py"
        path.write_text("x = 1\n")
        attempt = f"path = {str(path)!r}\n{attempt}".replace("PORT", str(listener.port))
        extra = "import socket\n" if kind == "NETWORK" else ""
        assert works_outside(extra + attempt + "\nreturn True"), how


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "/etc/shadow", "/proc/1/environ", "/proc/self/mem", "~"],
)
def test_no_file_of_the_machine_can_be_read(name, engine, layers):
    needs(layers, "landlock", "mounts")
    path = os.path.expanduser(name)
    if name == "/proc/self/mem":
        path = f"/proc/{os.getpid()}/mem"
    read = f"os.listdir({path!r})" if os.path.isdir(path) else f"open({path!r}, 'rb').read(1)"
    assert points_of(f"return {read}", engine) == 0


COURSE = Path(__file__).resolve().parents[2]
RELATIVE = ["../../../source", "../../submitted", "../..", "..", "../../../gradebook.db"]


@pytest.mark.parametrize("where", ["tito", "tests", "modules", "tinykernels"])
def test_the_course_tree_is_not_there(where, engine, layers):
    needs(layers, "landlock", "mounts")
    if not (COURSE / where).exists():
        pytest.skip(f"no {where} in this course")
    assert points_of(f"return os.listdir({str(COURSE / where)!r})", engine) == 0


def test_relative_paths_lead_nowhere(engine, layers):
    needs(layers, "landlock", "mounts")
    attempt = (
        f"found = []\nfor path in {RELATIVE}:\n"
        "    for root, folders, files in os.walk(path):\n"
        "        for name in files:\n"
        "            try: found.append(open(os.path.join(root, name)).read(1))\n"
        "            except OSError: pass\n"
        "return [f for f in found if f] and 'work' not in os.getcwd()"
    )
    assert points_of(attempt, engine) == 0


def test_another_hand_in_graded_meanwhile_is_not_there(engine, layers):
    """All scratch folders of a grader lie beside each other."""
    needs(layers, "landlock", "mounts")
    attempt = "import tempfile, glob\nreturn glob.glob('/tmp/*/*') or glob.glob('/var/tmp/*')"
    assert points_of(attempt, engine) == 0


WRITERS = {
    "write": "open(path, 'w').write('mine')",
    "append": "open(path, 'a').write('mine')",
    "delete": "os.remove(path)",
    "move": "os.replace(path, path + '.old')",
    "cut": "os.truncate(path, 0)",
    "link": "os.link(path, 'copy')",
    "replace": "open('mine', 'w').close(); os.replace('mine', path)",
    "a new file": "open(os.path.dirname(path) + '/new', 'w').close()",
    "a new folder": "os.mkdir(os.path.dirname(path) + '/folder')",
    "through a link": "os.symlink(path, 'door'); open('door', 'a').write('mine')",
    "database": (
        "import sqlite3; book = sqlite3.connect(os.path.dirname(path) + '/gradebook.db')\n"
        "book.execute('update grades set points = 99'); book.commit()"
    ),
}


@pytest.mark.parametrize("how", WRITERS)
def test_nothing_outside_can_be_changed(how, fastest, outside, layers):
    needs(layers, "landlock", "mounts")
    before = {path: path.read_bytes() for path in outside.iterdir()}
    attempt = f"path = {str(outside / 'append.py')!r}\n{WRITERS[how]}\nreturn True"
    assert points_of(attempt, fastest) == 0
    assert {path: path.read_bytes() for path in outside.iterdir()} == before


NETWORK = {
    "tcp": "s = socket.create_connection(('127.0.0.1', PORT), 1)",
    "udp": (
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('127.0.0.1', PORT))"
    ),
    "ipv6": "s = socket.socket(socket.AF_INET6); s.connect(('::ffff:127.0.0.1', PORT))",
    "raw": "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "server": "s = socket.create_server(('127.0.0.1', 0))",
    "url": (
        "import urllib.request as u\n"
        "try: u.urlopen('http://127.0.0.1:PORT/', timeout=1)\n"
        "except ConnectionResetError: pass  # somebody was there"
    ),
    "system call": (
        "import ctypes; libc = ctypes.CDLL(None); fd = libc.socket(2, 1, 0)\nassert fd >= 0"
    ),
}


@pytest.mark.parametrize("how", NETWORK)
def test_nothing_can_be_reached_over_the_network(how, fastest, listener, layers):
    needs(layers, "seccomp", "net")
    attempt = "import socket\n" + NETWORK[how].replace("PORT", str(listener.port)) + "\nreturn True"
    assert points_of(attempt, fastest) == 0
    assert listener.connections == 0


PROCESSES = {
    "fork": "pid = os.fork()\nif pid == 0: os._exit(0)",
    "subprocess": "import subprocess; subprocess.run(['true'], check=True)",
    "shell": "assert os.system('true') == 0",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "multiprocessing": (
        "import multiprocessing as m; p = m.Process(target=int); p.start(); p.join(); assert p.pid"
    ),
    "process pool": (
        "from concurrent.futures import ProcessPoolExecutor as P\n"
        "with P(1) as p: p.submit(int).result()"
    ),
    "exec": "os.execv('/bin/true', ['true'])",
    "pty": "import pty; pid, fd = pty.fork()",
    "raw clone": (
        "import ctypes\n"
        "number = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]\n"
        "pid = ctypes.CDLL(None).syscall(number, 17, 0, 0, 0, 0)\n"
        "if pid == 0: os._exit(0)\nassert pid > 0"
    ),
}


@pytest.mark.parametrize("how", PROCESSES)
def test_no_other_process_can_be_made(how, fastest, layers):
    needs(layers, "seccomp")
    assert points_of(PROCESSES[how] + "\nreturn True", fastest) == 0


@pytest.mark.parametrize("how", ["os.kill(PID, 0)", "os.kill(PID, 9)", "os.kill(-1, 9)"])
def test_no_signal_reaches_another_process(how, engine, layers):
    needs(layers, "seccomp", "landlock6")
    attempt = how.replace("PID", str(os.getpid())) + "\nreturn True"
    assert points_of(attempt, engine) == 0


def test_nothing_is_left_when_the_grading_is_over(engine, layers):
    """Threads that sleep, files, and whatever was started end with the hand-in."""
    needs(layers, "seccomp")
    before = _processes()
    attempt = (
        "import threading, time, signal\n"
        "for s in range(1, 32):\n"
        "    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "open('left', 'w').write('x' * 1000)\n"
        "for i in range(20):\n"
        "    try: os.fork()\n"
        "    except OSError: pass\n"
        "return None"
    )
    assert points_of(attempt, engine) == 0
    deadline = time.monotonic() + 60
    while (left := _processes() - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _processes() -> set[int]:
    """Processes of student code below this one."""
    import psutil

    children = psutil.Process().children(recursive=True)
    return {p.pid for p in children if not _is_warm(p)}


def _is_warm(process) -> bool:
    import psutil

    try:
        return any("warm" in word for word in process.cmdline())
    except psutil.Error:
        return False


BOMBS = {
    "loop": ("while True: pass", "timeout"),
    "sleep": ("import time; time.sleep(3600)", "timeout"),
    "wait": ("import threading; threading.Event().wait()", "timeout"),
    # Pages that nobody touches: the limit of memory is met before that of time.
    "memory": (
        "import mmap\nhold = []\nwhile True: hold.append(mmap.mmap(-1, 50_000_000))",
        "missing died",
    ),
    "processes": ("while True:\n    try: os.fork()\n    except OSError: pass", "timeout"),
    "print": ("while True: print('x' * 10_000)", "timeout"),
    "files": (
        "for i in range(10**6): open(f'f{i}', 'w').write('x' * 10**6)",
        "missing died timeout",
    ),
    "threads": (
        "import threading, time\n"
        "while True: threading.Thread(target=time.sleep, args=(9,)).start()",
        "missing died timeout",
    ),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", "died"),
    "abort": ("os.abort()", "died"),
    "kill": ("os.kill(os.getpid(), 9)", "died missing"),
    "exit": ("os._exit(0)", "died"),
    "recursion": ("def f(): return f()\nf()", "missing"),
    "deep recursion": (
        "import sys; sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
        "missing died timeout",
    ),
    "long integer": ("x = 10 ** 10 ** 10", "timeout"),
    "deleted folder": ("import shutil; shutil.rmtree(os.getcwd()); raise KeyError", "missing"),
    "closed descriptors": ("os.closerange(0, 1000)", "died timeout"),
    "stopped": ("os.kill(os.getpid(), 19)", "timeout missing"),
    "huge array": ("import numpy as np; x = np.ones(10**12)", "missing"),
}


# Soon over, where only the CPU counts; by the clock on the wall as late as elsewhere.
SOON = replace(SHORT, solution=0.5, wall_factor=3 * SHORT.wall_factor)


@pytest.mark.clock
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_costs_its_own_question_only(kind, fastest):
    bomb, statuses = BOMBS[kind]
    result = graded(hand_in(RIGHT, ramp="import os\n" + bomb), fastest, limits=SOON)
    cells = {c.id: c for c in result.cells}
    assert cells["ramp-test"].status in statuses.split(), cells["ramp-test"]
    assert cells["ramp-test"].points == 0
    assert result.points == MAX_POINTS - 2, told(result)


def test_cells_that_end_their_process_again_and_again_cost_no_other_question(fastest):
    own = hand_in(RIGHT)
    for _ in range(40):
        own = with_cell(own, "scaled-test", "import os; os._exit(1)")
    result = graded(own, fastest)
    assert result.points == MAX_POINTS, told(result)
    assert any("left out" in line for line in result.raised)


def test_no_file_is_open_that_the_process_does_not_need(engine):
    """What a warm parent or another hand-in has open is not inherited."""
    look = (
        "import os\nfound = []\n"
        "for fd in range(300):\n"
        "    try: found.append(os.readlink(f'/proc/self/fd/{fd}'))\n"
        "    except OSError: pass\n"
        "own = ('/dev/null', 'pipe:', '/memfd:arena', f'/proc/{os.getpid()}/', '/proc/sys/')\n"
        "facts = [f'/proc/{n}info' for n in ('cpu', 'mem')]\n"
        "facts += ['/proc/stat', '/proc/vmstat', '/proc/loadavg', '/proc/uptime']\n"
        "strange = [n for n in found if not n.startswith(own) and n not in facts]\n"
        "pipes = [n for n in found if n.startswith('pipe:')]\n"
        "assert found and not strange and len(set(pipes)) <= 3, found\n"
    )
    result = graded(hand_in(RIGHT, bits=look + RIGHT["bits"]), engine)
    assert (result.points, result.raised) == (MAX_POINTS, [])
