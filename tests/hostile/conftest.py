"""Both engines, and what each attack needs of this system."""

from __future__ import annotations

import contextlib
import shutil
import socket
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.lesson import RIGHT, graded, hand_in
from tito.grading.engine.warm import forking_works

ENGINES = ["spawn", "fork"] if forking_works() else ["spawn"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine by its name: points are the same with both."""
    return request.param


@pytest.fixture
def fastest() -> str:
    """One engine only, for what takes long and happens below both."""
    return ENGINES[-1]


@pytest.fixture(scope="session")
def layers() -> list[str]:
    """What confines student code here."""
    return graded(hand_in(RIGHT), "spawn").isolation


class Listener:
    """Counts who connects to a port of this machine."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._server.accept()[0].close()
                self.connections += 1

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    one = Listener()
    yield one
    one.close()


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder beside the grader's scratch folders, with what must not be read or changed."""
    folder = Path(tempfile.mkdtemp(prefix="course-"))
    folder.chmod(0o777)
    answers = "\n".join(RIGHT.values())
    for name in ("answers.py", "append.py"):
        (folder / name).write_text(answers)
    with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as book:
        book.executescript("create table grades (points); insert into grades values (9);")
    for path in folder.iterdir():
        path.chmod(0o666)
    yield folder
    shutil.rmtree(folder)
