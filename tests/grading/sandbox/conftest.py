"""A course to attack, neighbours to harm, and child processes to try it from."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "tito" / "grading"
NOBODY = 65534
VICTIM_FILES = (
    "solution.py append_to_me delete_me move_me link_me empty_me chmod_me utime_me label_me"
)
LIMITS = {"memory_bytes": 3 << 30, "cpu_seconds": 60, "file_bytes": 10 << 20}


def attack_names():
    """The names in attacks.py and the layers that each needs."""
    if sys.platform != "linux":
        return {}
    spec = importlib.util.spec_from_file_location("attacks", HERE / "attacks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: needs for name, (_, needs) in module.ATTACKS.items()}


def pytest_generate_tests(metafunc):
    if "attack" in metafunc.fixturenames:
        metafunc.parametrize("attack", list(attack_names()))


@pytest.fixture
def needs(attack):
    """The layers of which any one stops the attack."""
    return attack_names()[attack]


def run_child(
    scratch, work, *, caged=True, user=None, without=(), readable=(), world=None, **limits
):
    """Run cage.py; its answer with `code`, the exit status."""
    request = {
        "package": str(PACKAGE),
        "scratch": str(scratch),
        "readable": [str(path) for path in readable],
        "without": list(without),
        "limits": {**LIMITS, **limits},
        "user": user,
        "caged": caged,
        "work": work,
        "world": vars(world) if world else {},
    }
    environment = {
        **os.environ,
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "MPLCONFIGDIR": str(scratch),
        "OPENBLAS_NUM_THREADS": "2",
    }
    command = [sys.executable, "-I", str(HERE / "cage.py"), json.dumps(request)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    lines = done.stdout.splitlines()
    answer = json.loads(lines[-1]) if lines else {"layers": None, "outcomes": None}
    return SimpleNamespace(**answer, code=done.returncode, errors=done.stderr)


@pytest.fixture
def child():
    """Run a piece of source in a child whose scratch folder is a new one.

    Not below pytest's own folder, which other users may not enter.
    """
    folder = Path(tempfile.mkdtemp(prefix="tito-sandbox-"))
    scratch = folder / "scratch"
    scratch.mkdir()
    for path in (folder, scratch):
        path.chmod(0o777)

    def run(work, **options):
        return run_child(scratch, work, **options)

    run.scratch = scratch
    yield run
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def all_attacks():
    """Every attack tried once: by user, then caged or free. {(user, caged): answer}"""
    users = [None, NOBODY] if os.geteuid() == 0 else [None]
    return {(user, caged): run_attacks(user, caged) for user in users for caged in (True, False)}


def run_attacks(user, caged):
    """One child in a world of its own, so that what one run destroys the next finds whole."""
    folder = Path(tempfile.mkdtemp(prefix="tito-sandbox-"))
    neighbours = []
    try:
        world = make_world(folder, neighbours, user)
        return run_child(
            folder / "scratch",
            "attacks",
            caged=caged,
            user=user,
            readable=[folder / "stage"],
            world=world,
        )
    finally:
        for neighbour in neighbours:
            neighbour.close()
        shutil.rmtree(folder)


class Victim:
    """Another process of the same user."""

    def __init__(self, user):
        who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        self.process = subprocess.Popen(["sleep", "100"], **who)
        self.pid = self.process.pid

    def close(self):
        self.process.kill()
        self.process.wait()


def make_world(folder, neighbours, user):
    """A course, a stage and a scratch folder; a victim process and listeners."""
    folder.chmod(0o755)
    for name in ("course", "stage", "scratch"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
        for file in VICTIM_FILES.split() if name != "scratch" else ():
            (folder / name / file).write_text("print('the answer')\n")
    (folder / "stage" / "write_me").write_text("")
    (folder / "course" / "chmod_folder").mkdir()
    (folder / "scratch" / "link_to_solution").symlink_to(folder / "course" / "solution.py")
    give_to(user, folder)
    victim = Victim(user)
    tcp, udp, unix, abstract, datagrams = (
        listener(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        listener(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        listener(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "unix")),
        listener(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{folder.name}"),
        listener(socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagrams")),
    )
    neighbours += [victim, tcp, udp, unix, abstract, datagrams]
    for name in ("unix", "datagrams"):
        (folder / name).chmod(0o777)
    return SimpleNamespace(
        course=str(folder / "course"),
        stage=str(folder / "stage"),
        home=os.path.expanduser("~") if user is None else "/",
        packages=next(path for path in sys.path if path.endswith("-packages")),
        victim=victim.pid,
        tcp=tcp.getsockname()[1],
        udp=udp.getsockname()[1],
        unix=str(folder / "unix"),
        abstract=folder.name,
        unix_datagrams=str(folder / "datagrams"),
        **LIMITS,
    )


def give_to(user, folder):
    """Let the tried user own all of it: a student's child runs as the grader's own user."""
    if user is None:
        return
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user, user, follow_symlinks=False)


def listener(family, kind, address):
    """A bound socket; a stream listens."""
    made = socket.socket(family, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made
