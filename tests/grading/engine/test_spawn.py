"""A student process as a plain subprocess: its bytes, its clock, its end."""

import os
import subprocess
import sys
import time

import pytest

from tito.grading.engine.base import ChannelClosed
from tito.grading.engine.interpreter import package_folders
from tito.grading.engine.spawn import SpawnChannel, SpawnEngine
from tito.grading.limits import Limits
from tito.grading.stage import SOURCES, make_stage


@pytest.fixture
def channel():
    """A channel to a little script instead of a whole child."""
    channels = []

    def start(code):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            start_new_session=os.name == "posix",
        )  # fmt: skip
        channels.append(SpawnChannel(process, 1000))
        return channels[-1]

    yield start
    for channel in channels:
        channel.close()


# It ends with its input: nothing goes on when the test is killed.
ECHO = "import os\nwhile data := os.read(0, 1 << 20): os.write(1, data)"


def test_bytes_go_out_and_come_back(channel):
    echo = channel(ECHO)
    echo.send(b"abc")
    assert echo.recv(100) == b"abc"
    echo.send(memoryview(b"x" * 10))
    view = memoryview(bytearray(10))
    assert echo.recv_into(view) == 10
    assert bytes(view) == b"x" * 10


def test_the_end_of_the_process_is_told_with_its_reason(channel):
    ended = channel("raise SystemExit(5)")
    with pytest.raises(ChannelClosed):
        ended.recv(1)
    assert ended.exit_reason() == "ended the process (exit code 5)"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_signal_is_named(channel):
    ended = channel("import os; os.abort()")
    with pytest.raises(ChannelClosed):
        ended.recv(1)
    assert ended.exit_reason() == "killed by SIGABRT"


def test_writing_to_a_process_that_is_gone_is_told(channel):
    ended = channel("pass")
    with pytest.raises(ChannelClosed):
        ended.recv(1)
    with pytest.raises(ChannelClosed):
        for _ in range(100):
            ended.send(bytes(1 << 20))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_kill_wakes_the_reader_even_if_a_stray_process_holds_the_pipe(channel):
    import threading

    stray = channel("import os, time\nif not os.fork(): os.setsid()\ntime.sleep(120)")
    threading.Timer(0.3, stray.kill).start()
    started = time.monotonic()
    with pytest.raises(ChannelClosed):
        stray.recv(1)
    assert time.monotonic() - started < 60


def test_cpu_time_is_read_from_outside_and_kept(channel):
    work = "x = 0\nfor i in range(3_000_000): x += i"
    busy = channel(f"import os\n{work}\nos.write(1, b'.')\nos.read(0, 1)")
    busy.recv(1)
    used = busy.cpu_seconds()
    assert used > 0.02
    busy.kill()
    assert busy.cpu_seconds() >= used


def test_what_is_written_to_stderr_is_kept_up_to_a_limit(channel):
    work = "for i in range(100): os.write(2, b'y' * 1000)"
    loud = channel(f"import os\n{work}\nos.write(1, b'.')\nos.read(0, 1)")
    loud.recv(1)
    assert loud.take_output() == "y" * 1000
    assert loud.take_output() == ""


def test_what_was_written_before_an_answer_is_there_with_it(channel):
    talker = channel("import os\nwhile os.read(0, 1): os.write(2, b'said'); os.write(1, b'.')")
    for _ in range(200):
        talker.send(b"?")
        talker.recv(1)
        assert talker.take_output() == "said"


def test_only_package_folders_are_handed_on():
    folders = package_folders()
    assert folders
    assert all(os.path.basename(f) in ("site-packages", "dist-packages") for f in folders)
    assert str(SOURCES.parent) not in folders


def test_a_start_is_light():
    """NumPy's import and Python's start are most of it, and as much again is the promise.

    Of both the quickest of five: machines differ, and book more on who ran when they stood still.
    """
    starts = [_seconds_of_a_start() for _ in range(5)]
    imports = [_seconds_of_an_import() for _ in range(5)]
    assert min(starts) < 2 * min(imports), (starts, imports)


def _seconds_of_a_start():
    with make_stage() as stage:
        channel = SpawnEngine().start(stage, Limits())
        try:
            assert channel.recv(8)
            return channel.cpu_seconds()
        finally:
            channel.close()


def _seconds_of_an_import():
    code = "import numpy, time; print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout)
