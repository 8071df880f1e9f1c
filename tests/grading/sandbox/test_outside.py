"""Threads and files are counted from outside where nothing inside bounds them."""

import os
import subprocess
import sys
import threading

import pytest

from tito.grading.sandbox import outside
from tito.grading.sandbox.outside import Outside, threads, used


def test_files_and_folders_are_counted_and_links_not_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "big").write_bytes(os.urandom(100_000))
    if sys.platform != "win32":
        (tmp_path / "link").symlink_to("/usr")
        (tmp_path / "loop").symlink_to(tmp_path)
    count, size = used(tmp_path)
    assert count == (2 if sys.platform == "win32" else 4)
    assert 100_000 <= size <= 150_000


def test_folder_that_is_gone_is_empty(tmp_path):
    assert used(tmp_path / "none") == (0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="counts by /proc")
def test_threads_are_counted():
    before, stop = threads(os.getpid()), threading.Event()
    workers = [threading.Thread(target=stop.wait) for _ in range(5)]
    [worker.start() for worker in workers]
    now = threads(os.getpid())
    stop.set()
    [worker.join() for worker in workers]
    assert now - before == 5
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert threads(child.pid) == 0


def test_data_files_of_before_are_not_counted(tmp_path):
    (tmp_path / "data").write_bytes(os.urandom(3 << 20))
    look = Outside(os.getpid(), tmp_path, 1 << 20)
    assert look.excess() is None
    (tmp_path / "own").write_bytes(os.urandom(1 << 20))
    assert look.excess() is None
    (tmp_path / "more").write_bytes(os.urandom(2 << 20))
    assert look.excess() == "wrote more than 2 MB of files"


def test_many_files_and_threads_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(outside, "FILES", 10)
    look = Outside(os.getpid(), tmp_path, 1 << 20)
    for i in range(11):
        (tmp_path / f"{i}").touch()
    assert look.excess() == "made more than 10 files"
    monkeypatch.setattr(outside, "threads", lambda pid: 1001)
    assert look.excess() == "started more than 1000 threads"
