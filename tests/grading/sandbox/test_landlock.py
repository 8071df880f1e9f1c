"""The view of the file system with the rights of each kernel version."""

import sys

import pytest

from tito.grading.sandbox import landlock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")

WORK = """
import errno, os, socket, sandbox.landlock
from pathlib import Path
scratch = Path(world.scratch)
outside = scratch.parent / "outside"
outside.write_text("secret")
(scratch / "folder").mkdir()
(scratch.parent / "listed" / "below").mkdir(parents=True)
(scratch.parent / "listed" / "below" / "file").write_text("secret")
name = sandbox.landlock.restrict(
    [Path("/proc/self/stat"), Path("/no/such/path")],
    [scratch.parent / "listed"],
    [scratch, Path("/dev/null")],
    abi={abi},
)
assert name == "landlock{abi}", name

def refused(function, *codes):
    try:
        function()
    except OSError as error:
        return error.errno in (codes or (errno.EACCES,))
    return False

assert refused(outside.read_text)
assert refused(lambda: outside.write_text("x"))
assert refused(outside.unlink)
assert refused(lambda: os.listdir("/"))
assert refused(lambda: (scratch / "link").symlink_to(outside))
assert refused(lambda: os.link(outside, scratch / "hard"), errno.EACCES, errno.EXDEV)
assert refused(lambda: os.rename(outside, scratch / "moved"), errno.EACCES, errno.EXDEV)
assert os.listdir(scratch.parent / "listed") == ["below"]
assert os.listdir(scratch.parent / "listed" / "below") == ["file"]
assert refused((scratch.parent / "listed" / "below" / "file").read_text)
assert Path("/proc/self/stat").read_text()
(scratch / "a").write_text("x" * 10)
with open(scratch / "a", "r+") as file:
    file.truncate(3)
assert (scratch / "a").read_text() == "xxx"
(scratch / "a").rename(scratch / "b")
if {abi} >= 2:
    os.replace(scratch / "b", scratch / "folder" / "c")
if {abi} >= 3:
    assert refused(lambda: os.truncate(outside, 0))
if {abi} >= 4:
    assert refused(lambda: socket.socket().bind(("127.0.0.1", 0)))
if {abi} >= 6:
    assert refused(lambda: os.kill(os.getppid(), 0), errno.EPERM)
open("/dev/null", "w").write("x")
"""


@pytest.mark.parametrize("abi", range(1, 8))
def test_every_version_confines_and_leaves_scratch_usable(child, abi):
    if landlock.version() < abi:
        pytest.skip(f"this kernel has Landlock {landlock.version()}")
    answer = child(WORK.replace("{abi}", str(abi)), caged=False)
    assert answer.outcomes == "worked", answer.outcomes


def test_kernel_without_it_is_no_error(monkeypatch):
    def missing(*_):
        raise OSError(38, "not implemented")

    monkeypatch.setattr(landlock, "syscall", missing)
    assert landlock.version() == 0
    assert landlock.restrict([], [], []) is None


def test_refused_by_a_container_is_no_error(monkeypatch):
    def forbidden(number, *arguments):
        if number == landlock.CREATE_RULESET and arguments[-1] == landlock.ASK_VERSION:
            return 7
        raise PermissionError(1, "forbidden")

    monkeypatch.setattr(landlock, "syscall", forbidden)
    monkeypatch.setattr(landlock, "set_no_new_privileges", lambda: None)
    assert landlock.restrict([], [], []) is None
