"""Several threads, one pipe: each thread waits for the messages of its own *lane*.

Nobody is employed to read. Of the threads that wait, one reads the pipe, hands on what belongs to
others, and gives the pipe to the next when its own message has come. So a plain exchange of two
messages needs no switch of threads on either side.

The file is copied into the student's side as it stands: it needs the standard library alone.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_NOT_MINE = object()
MOST_QUEUED = 8  # messages of one lane: an honest peer sends one and waits


class Lanes:
    """Hands each message to the thread that waits on its lane.

    read  : blocks for the next message; (lane, message), or None if it was dealt with in passing.
            What it raises ends all waiting, for good.
    stray : called, in the thread that read it, with a message of a lane that is not open
    """

    def __init__(
        self, read: Callable[[], tuple[int, Any] | None], stray: Callable[[int, Any], None]
    ) -> None:
        self._read = read
        self._stray = stray
        lock = threading.Lock()
        self._changed = threading.Condition(lock)
        self._needed = threading.Condition(lock)  # wakes the standby alone: it seldom has work
        self._boxes: dict[int, deque] = {}  # of the open lanes
        self._opened: dict[int, int] = {}  # lane -> how many times
        self._reading = False
        self._waiting = 0
        self._busy = 0
        self._standby: threading.Thread | None = None
        self._failure: BaseException | None = None

    @contextmanager
    def open(self, lane: int) -> Iterator[None]:
        """Messages of the lane are kept for `take`; by the same thread again, nested."""
        self.open_for_good(lane)
        try:
            yield
        finally:
            with self._changed:
                self._opened[lane] -= 1
                if not self._opened[lane]:
                    del self._opened[lane], self._boxes[lane]

    def open_for_good(self, lane: int) -> None:
        """Like `open`, without an end."""
        with self._changed:
            self._boxes.setdefault(lane, deque())
            self._opened[lane] = self._opened.get(lane, 0) + 1

    def take(self, lane: int) -> Any:
        """The next message of an open lane; waits for it."""
        box = self._boxes[lane]
        while True:
            with self._changed:
                while not box and self._reading and self._failure is None:
                    self._waiting += 1
                    self._changed.wait()
                    self._waiting -= 1
                if box:
                    self._call_standby()
                    return box.popleft()
                if self._failure is not None:
                    raise self._failure.with_traceback(None)
                self._reading = True
            message = self._read_one(lane)
            if message is not _NOT_MINE:
                return message

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Around work between two messages that may wait for another lane's: somebody reads on."""
        with self._changed:
            self._busy += 1
            if self._standby is None:
                self._standby = threading.Thread(target=self._stand_by, daemon=True)
                self._standby.start()
            self._needed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._busy -= 1

    def fail(self, failure: BaseException) -> None:
        """End all waiting with this exception."""
        with self._changed:
            self._failure = self._failure or failure
            self._changed.notify_all()
            self._needed.notify()

    def wait_until_quiet(self, seconds: float) -> bool:
        """After `fail`: wait until nobody is reading any more; whether that came about."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._reading, seconds)

    def _read_one(self, mine: int | None = None) -> Any:
        """Read one message, and deliver it unless it is mine; the reader's role ends with it."""
        failure, message = None, _NOT_MINE
        try:
            item = self._read()
            if item is not None and item[0] == mine and not self._boxes[mine]:
                message = item[1]
            elif item is not None:
                self._deliver(*item)
        except BaseException as error:
            failure = error
        with self._changed:
            self._reading = False
            if failure is not None and self._failure is None:
                self._failure = failure
            self._changed.notify_all()
            self._call_standby()
        return message

    def _deliver(self, lane: int, message: Any) -> None:
        with self._changed:
            box = self._boxes.get(lane)
            if box is not None and len(box) < MOST_QUEUED:
                box.append(message)
                return
        self._stray(lane, message)

    def _call_standby(self) -> None:
        if (self._busy and not self._waiting) or self._failure is not None:
            self._needed.notify()

    def _stand_by(self) -> None:
        """The reader of last resort, while somebody is busy and nobody waits."""
        while True:
            with self._changed:
                while self._failure is None and (self._reading or self._waiting or not self._busy):
                    self._needed.wait()
                if self._failure is not None:
                    return
                self._reading = True
            self._read_one()
