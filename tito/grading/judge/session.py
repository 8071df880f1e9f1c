"""One student process, from its hello to its end: requests out, answers and callbacks in."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from typing import Any

from tito.grading import wire
from tito.grading.engine.base import ChannelClosed, Engine
from tito.grading.judge.errors import StudentDied, StudentTimeout
from tito.grading.judge.memory import Call, Changes, Memory
from tito.grading.judge.watch import Watch
from tito.grading.lanes import Lanes
from tito.grading.limits import Limits
from tito.grading.sandbox.outside import Outside
from tito.grading.stage import Stage

MOST_BYTES = 4 << 30  # of all answers of one process
MOST_WORKERS = 256  # threads of the student that are in callbacks at the same time
START_CPU, START_WALL = 20.0, 120.0

KINDS = {"re": 9, "cb": 5, "rd": 4, "wr": 5}  # of messages, with their lengths


class Answer:
    """What came back from a request, checked in form; `node` is still to be decoded."""

    def __init__(self, frame: wire.Frame) -> None:
        _, _, _, worked, node, changed, printed, warned, notices = frame.body
        wire.require(type(worked) is bool and type(printed) is str, "answer")
        wire.require(type(changed) is list and type(warned) is list, "answer")
        wire.require(type(notices) is list and len(notices) <= 100, "answer")
        self.frame = frame
        self.worked, self.node, self.printed = worked, node, printed
        self.changed = [(_place(p), frame.buffers[_place(b)]) for p, b in changed]
        self.warned = [(_text(c), _text(m)[:500]) for c, m in warned[:20]]
        self.notices = [_text(n)[:200] for n in notices]


def _place(n: Any) -> int:
    wire.require(type(n) is int and n >= 0, "a number of an array")
    return n


def _text(text: Any) -> str:
    wire.require(type(text) is str, "text")
    return text


class Asker:
    """What a session needs to know of the world around it."""

    def serve_callback(self, session: Session, lane: int, frame: wire.Frame) -> None:
        raise NotImplementedError

    def serve_element(self, kind: str, number: int, rest: list) -> list:
        raise NotImplementedError


class Session:
    """A student process that starts; it can be asked once `greet` has heard its hello.

    layers : what confines it, as it says
    ended  : None while it lives, then the exception that tells why it does not
    charged : its CPU seconds at the end of the last window that was measured
    held    : whether it stands still between requests
    """

    def __init__(self, engine: Engine, stage: Stage, limits: Limits, asker: Any) -> None:
        self.channel = engine.start(stage, limits)
        self.memory = Memory()
        self.lock = threading.RLock()  # memory and writing
        self.ended: StudentDied | None = None
        self.layers: list[str] = []
        self.charged = 0.0
        self.held = False
        self.proxies: Any = None
        self.dropped_handles: list[list[int]] = []
        self._asker = asker
        self._link = wire.Link(
            self.channel.recv, self.channel.recv_into, self.channel.send, MOST_BYTES
        )
        self._lanes = Lanes(self._read, self._stray)
        self._workers = 0
        self._threads: dict[int, int] = {}  # thread of the judge -> its lane
        self._lanes_below = itertools.count(-1, -1)
        self._ending = threading.Lock()
        self._main = threading.get_ident()
        outside = Outside(self.channel.pid, stage.scratch, limits.files)
        self.watch = Watch(self.channel, limits.idle, self._out_of_limits, outside.excess)

    def greet(self) -> None:
        """Wait until it has started; StudentDied where it does not."""
        try:
            with (
                # Only our own code runs so far, and a slow disk may keep it from running.
                self.watch.allow(START_CPU, START_WALL, "took too long to start", may_idle=True),
                self._lanes.open(0),
            ):
                self._hello(self._lanes.take(0))
        except StudentDied as reason:
            said = self.channel.take_output().strip()
            self.close()
            raise StudentDied(f"{reason}; it said: {said}" if said else str(reason)) from None

    def _hello(self, frame: wire.Frame) -> None:
        try:
            kind, layers = frame.body
            wire.require(kind == "hi" and all(type(n) is str for n in layers), "hello")
        except wire.BAD_DATA as error:
            raise self.broke_protocol(error) from None
        self.layers = layers

    # Requests

    def ask(
        self,
        operation: str,
        parts: list,
        encoder: wire.Encoder | None,
        call: Call | None,
        decode: Callable[[Answer], Any],
    ) -> Any:
        """Send a request and wait for its answer, serving callbacks meanwhile.

        decode : called with the answer; anything it raises of `wire.BAD_DATA` ends the process
        """
        lane = self._my_lane()
        nonce = os.urandom(8)
        try:
            with self._lanes.open(lane), self.watch.waiting():
                self._send_request(["do", lane, nonce], operation, parts, encoder, call)
                frame = self._wait_for_answer(lane)
            try:
                wire.require(frame.body[0] == "re" and frame.body[2] == nonce, "not asked for")
                with self.lock:
                    return decode(Answer(frame))
            except wire.BAD_DATA as error:
                raise self.broke_protocol(error) from None
        finally:
            if call is not None:
                with self.lock:
                    self.memory.end(call)

    def _wait_for_answer(self, lane: int) -> wire.Frame:
        while True:
            frame = self._lanes.take(lane)
            if frame.body[0] != "cb":
                return frame
            self._asker.serve_callback(self, lane, frame)

    def _send_request(
        self,
        start: list,
        operation: str,
        parts: list,
        encoder: wire.Encoder | None,
        call: Call | None,
    ) -> None:
        with self.lock:
            if call is not None:
                self.memory.begin(call)
            arrays, regions, buffers = [], [], []
            if encoder is not None:
                arrays, regions = self.memory.describe(encoder, call)
                buffers = encoder.buffers
            self._write([*start, self._dropped(), operation, *parts], arrays, regions, buffers)

    def _write(self, body: list, arrays: list, regions: list, buffers: list) -> None:
        try:
            self._link.write(body, arrays, regions, buffers)
        except ChannelClosed:
            raise self._died() from None

    def _dropped(self) -> list:
        """Handles and regions to let go, with how often each was named to us."""
        handles, self.dropped_handles = self.dropped_handles, []
        regions = []
        while self.memory.dropped:
            regions.append(self.memory.dropped.popleft())
        return [handles, regions]

    def _my_lane(self) -> int:
        """Lane 0 for the thread that started the process, others below 0; see also `on_lane`."""
        thread = threading.get_ident()
        if thread == self._main:
            return 0
        if thread not in self._threads:
            self._threads[thread] = next(self._lanes_below)
        return self._threads[thread]

    # Callbacks

    def run_callback(
        self, lane: int, run: Callable[[], Any], arrays: list, encode: Callable, fail: Callable
    ) -> None:
        """Run a callback and send back what it returned or raised, and what it changed.

        encode : (encoder, value) -> node;  fail : exception -> node
        """
        changes = Changes(arrays)
        with self._lanes.busy(), self.watch.pause():
            try:
                value, error = run(), None
            except StudentDied:
                raise
            except Exception as raised:
                value, error = None, raised
            except BaseException:
                self.end(StudentDied("the judge gave up"))
                raise
        with self.lock:
            if error is None:
                try:
                    self._send_return(lane, True, changes, lambda e: encode(e, value))
                    return
                except TypeError as unsendable:
                    error = unsendable
            self._send_return(lane, False, changes, lambda e: fail(error))

    def _send_return(
        self, lane: int, worked: bool, changes: Changes, encode: Callable[[wire.Encoder], Any]
    ) -> None:
        encoder = wire.Encoder(self._asker.opaque)
        node = encode(encoder)
        changed = changes.find(encoder.attach)
        arrays, regions = self.memory.describe(encoder, None)
        body = ["ret", lane, worked, node, changed, self._dropped()]
        self._write(body, arrays, regions, encoder.buffers)

    def _stray(self, lane: int, frame: wire.Frame) -> None:
        """A callback from a thread of the student gets a thread here."""
        if lane <= 0 or frame.body[0] != "cb" or self._workers >= MOST_WORKERS:
            raise self.broke_protocol("a message that nobody waits for")
        with self.lock:
            self._workers += 1
        threading.Thread(target=self._work, args=(lane, frame), daemon=True).start()

    def _work(self, lane: int, frame: wire.Frame) -> None:
        self._threads[threading.get_ident()] = lane
        try:
            self._asker.serve_callback(self, lane, frame)
        except StudentDied:
            pass  # whoever waits for the whole call hears of it
        finally:
            self._threads.pop(threading.get_ident(), None)
            with self.lock:
                self._workers -= 1

    # Reading

    def _read(self) -> tuple[int, wire.Frame] | None:
        try:
            frame = self._link.read()
            kind, lane = self._checked(frame.body)
        except ChannelClosed:
            raise self._died() from None
        except wire.BAD_DATA as error:
            raise self.broke_protocol(error) from None
        if kind not in ("rd", "wr"):
            return lane, frame
        try:
            answer = self._asker.serve_element(kind, frame.body[2], frame.body[3:])
        except wire.BAD_DATA as error:
            raise self.broke_protocol(error) from None
        with self.lock:
            self._write(["el", lane, *answer], [], [], [])
        return None

    def _checked(self, body: list) -> tuple[str, int]:
        if body[0] == "hi" and not self.layers and len(body) == 2:
            return "hi", 0
        kind, lane = body[0], body[1]
        wire.require(type(kind) is str and KINDS.get(kind) == len(body), "message")
        wire.require(type(lane) is int and abs(lane) < 1 << 31, "lane")
        return kind, lane

    # The end

    def broke_protocol(self, error: object) -> StudentDied:
        """End the process: it sent what our child never sends."""
        name = type(error).__name__ if isinstance(error, Exception) else ""
        return self.end(StudentDied(f"broke the protocol ({name} {error})"))

    def _out_of_limits(self, reason: str) -> None:
        self.end(StudentTimeout(reason))

    def _died(self) -> StudentDied:
        if self.ended is not None:
            return self.ended
        return self.end(StudentDied(self.channel.exit_reason()))

    def end(self, reason: StudentDied) -> StudentDied:
        """Kill the process for this reason, unless it has ended for another one."""
        with self._ending:
            if self.ended is None:
                self.ended = reason
            reason = self.ended
        self.channel.kill()
        self._lanes.fail(reason)
        self.watch.close()
        return reason

    def close(self) -> None:
        """End the process and give back what it held; may be repeated."""
        self.end(StudentDied("the student's process was closed"))
        if self._lanes.wait_until_quiet(1.0):
            self.channel.close()
