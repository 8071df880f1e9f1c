"""Own views of mounts, network, shared memory, host name and processes, where they are allowed."""

import os
import subprocess
import sys
import time

import pytest

from tito.grading.sandbox import available

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")
VIEWS = {"mount": "mnt", "net": "net", "ipc": "ipc", "uts": "uts"}
USERS = [None, 65534]

ENTER = """
import os
from sandbox import namespaces
def views():
    return {kind: os.readlink(f"/proc/self/ns/{name}") for kind, name in KINDS.items()}
before, host = views(), os.uname().nodename
entered = namespaces.enter()
for kind, view in views().items():
    assert (f"{kind} namespace" in entered) == (view != before[kind]), (kind, entered)
assert (os.uname().nodename == "student") == ("uts namespace" in entered) or host == "student"
assert os.getuid() == UID, os.getuid()
""".replace("KINDS", repr(VIEWS))


def entering(user):
    return ENTER.replace("UID", str(os.getuid() if user is None else user))


@pytest.mark.parametrize("kind", [*VIEWS, "pid"])
def test_what_the_kernel_gives_is_taken(kind):
    flag = {"mount": "-m", "net": "-n", "ipc": "-i", "uts": "-u", "pid": "-pf"}[kind]
    user = [] if os.geteuid() == 0 else ["-r"]
    try:
        tried = subprocess.run(["unshare", *user, flag, "true"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no unshare to compare with")
    given = tried.returncode == 0
    if kind == "pid":  # it needs a /proc of its own as well
        more = ["unshare", *user, "-mpf", "--mount-proc", "true"]
        given = given and subprocess.run(more, capture_output=True).returncode == 0
    assert (f"{kind} namespace" in available()) == given


@pytest.mark.parametrize("user", USERS)
def test_each_view_is_taken_and_named(child, user):
    if user is not None and os.geteuid() != 0:
        pytest.skip("starts as root")
    answer = child(entering(user), caged=False, user=user)
    assert answer.outcomes == "worked", answer.outcomes


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("refused", VIEWS)
def test_one_that_the_kernel_refuses_costs_no_other(child, user, refused):
    if user is not None and os.geteuid() != 0:
        pytest.skip("starts as root")
    refuse = f"""
from sandbox import namespaces
call, no = namespaces.call, namespaces.KINDS[{refused!r}]
def refusing(name, *arguments):
    if (name, *arguments) == ("unshare", no):
        raise PermissionError
    call(name, *arguments)
namespaces.call = refusing
"""
    others = f"assert {refused!r} + ' namespace' not in entered\n"
    if f"{refused} namespace" in available():
        others += "assert len(entered) >= 3, entered\n"
    answer = child(refuse + entering(user) + others, caged=False, user=user)
    assert answer.outcomes == "worked", answer.outcomes


def test_who_may_have_none_stays_as_it_was(child):
    source = """
import os
from sandbox import namespaces
def no(name, *arguments):
    raise PermissionError
namespaces.call = no
before = {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")}
assert namespaces.enter() == [] and namespaces.own_processes() is None
after = {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")}
assert before == after
"""
    for user in USERS if os.geteuid() == 0 else [None]:
        answer = child(source, caged=False, user=user)
        assert answer.outcomes == "worked", answer.outcomes


APART = """
import os, signal, sys, time
from sandbox import namespaces
assert (namespaces.own_processes() is not None) == POSSIBLE
if POSSIBLE:
    told, telling = os.pipe()
    outside = os.getpid()
    child = os.fork()
    if child == 0:
        entered = namespaces.enter()
        seen = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        right = "pid namespace" in entered and os.getppid() == 0 and os.getpid() not in (1, child)
        right = right and seen == {1, os.getpid()} and os.path.exists(f"/proc/{os.getpid()}/stat")
        os.write(telling, b"y" if right else repr((entered, seen, os.getpid())).encode())
        os.kill(os.getpid(), signal.SIGTERM)
        os._exit(3)
    said = os.read(told, 1000)
    status = os.waitpid(child, 0)[1]
    assert said == b"y", said
    # An ordinary process: signals of its own act on it, and its number here is another.
    assert os.waitstatus_to_exitcode(status) == -signal.SIGTERM, status
"""


@pytest.mark.parametrize("user", USERS)
def test_children_live_among_themselves(child, user):
    if user is not None and os.geteuid() != 0:
        pytest.skip("starts as root")
    possible = "pid namespace" in available()
    answer = child(APART.replace("POSSIBLE", str(possible)), caged=False, user=user)
    assert answer.outcomes == "worked", answer.outcomes


def test_the_keeper_ends_with_who_started_it():
    if "pid namespace" not in available():
        pytest.skip("needs one of ('pid namespace',)")
    code = (
        "import os, time\n"
        "from tito.grading.sandbox import own_processes\n"
        "kept = own_processes()\n"
        "keepers = open('/proc/self/task/%d/children' % os.getpid()).read()\n"
        "print(keepers, flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    (keeper,) = process.stdout.readline().split()
    assert os.path.exists(f"/proc/{keeper}")
    process.kill()
    process.wait()
    process.stdout.close()
    until = time.monotonic() + 60
    while os.path.exists(f"/proc/{keeper}/exe") and time.monotonic() < until:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{keeper}/exe")
