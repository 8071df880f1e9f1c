"""Messages find the thread that waits for them, and nobody starves."""

import queue
import threading

import pytest

from tito.grading.lanes import MOST_QUEUED, Lanes


class Wire:
    """A pipe of (lane, message); an exception in it is raised by whoever reads it."""

    def __init__(self):
        self.messages = queue.Queue()
        self.readers = []
        self.strays = []
        self.arrived = threading.Event()

    def read(self):
        self.readers.append(threading.current_thread())
        message = self.messages.get(timeout=60)
        if isinstance(message, BaseException):
            raise message
        return message

    def stray(self, lane, message):
        self.strays.append((lane, message))
        self.arrived.set()


@pytest.fixture
def wire():
    return Wire()


@pytest.fixture
def lanes(wire):
    lanes = Lanes(wire.read, wire.stray)
    yield lanes
    wire.messages.put(EOFError())
    lanes.fail(EOFError())


def in_thread(work):
    results = queue.Queue()

    def run():
        try:
            results.put(work())
        except BaseException as error:
            results.put(error)

    threading.Thread(target=run, daemon=True).start()
    return results


def test_one_thread_reads_for_itself(wire, lanes):
    wire.messages.put((0, "a"))
    wire.messages.put((0, "b"))
    with lanes.open(0):
        assert [lanes.take(0), lanes.take(0)] == ["a", "b"]
    assert set(wire.readers) == {threading.current_thread()}


def test_each_thread_gets_its_own_messages(wire, lanes):
    started = threading.Barrier(4)

    def work(lane):
        with lanes.open(lane):
            started.wait(60)
            return [lanes.take(lane) for _ in range(MOST_QUEUED)]

    results = [in_thread(lambda lane=lane: work(lane)) for lane in range(3)]
    started.wait(60)
    for i in range(MOST_QUEUED):
        for lane in (2, 0, 1):
            wire.messages.put((lane, (lane, i)))
    for lane, result in enumerate(results):
        assert result.get(timeout=60) == [(lane, i) for i in range(MOST_QUEUED)]


def test_a_message_waits_while_its_thread_works_elsewhere(wire, lanes):
    wire.messages.put((1, "early"))
    wire.messages.put((0, "mine"))
    with lanes.open(0), lanes.open(1):
        assert lanes.take(0) == "mine"
        assert lanes.take(1) == "early"


def test_a_message_for_a_lane_that_is_not_open_is_a_stray(wire, lanes):
    wire.messages.put((7, "whose?"))
    wire.messages.put((0, "mine"))
    with lanes.open(0):
        assert lanes.take(0) == "mine"
    assert wire.strays == [(7, "whose?")]


def test_a_lane_holds_only_so_many_messages(wire, lanes):
    for i in range(MOST_QUEUED + 1):
        wire.messages.put((1, i))
    wire.messages.put((0, "mine"))
    with lanes.open(0), lanes.open(1):
        assert lanes.take(0) == "mine"
    assert wire.strays == [(1, MOST_QUEUED)]


def test_somebody_reads_while_the_only_thread_is_busy(wire, lanes):
    with lanes.busy():
        wire.messages.put((5, "wake up"))
        assert wire.arrived.wait(60)
    assert wire.readers[0] is not threading.current_thread()


def test_the_standby_gives_the_pipe_back(wire, lanes):
    with lanes.open(0):
        with lanes.busy():
            pass
        for i in range(20):
            wire.messages.put((0, i))
            assert lanes.take(0) == i
    assert wire.readers[-5:] == [threading.current_thread()] * 5


def test_a_failure_reaches_all_who_wait_and_all_who_come(wire, lanes):
    def work():
        with lanes.open(1):
            return lanes.take(1)

    result = in_thread(work)
    wire.messages.put(ConnectionError("gone"))
    assert isinstance(result.get(timeout=60), ConnectionError)
    with lanes.open(0), pytest.raises(ConnectionError):
        lanes.take(0)
    assert lanes.wait_until_quiet(60)
