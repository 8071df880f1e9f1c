"""A class is graded whatever one hand-in, or we, do."""

import threading
import time

import pytest

from tests.grading.judge.samples import as_file, hand_in, master
from tito.errors import UserError
from tito.grading import task
from tito.grading.batch import Batch
from tito.grading.executors import processes, threads
from tito.grading.handins import HandIn
from tito.grading.judge import Cancelled, Result, Unconfined, grade
from tito.grading.limits import Limits, default_jobs
from tito.grading.secret import secret_of


def fake(monkeypatch, function):
    monkeypatch.setattr(task, "grade", function)


def handins(*names):
    return [HandIn(name, read=lambda name=name: name.encode()) for name in names]


def test_a_mistake_of_ours_costs_one_row(monkeypatch):
    def broken(nb, data, **options):
        if data == b"bob":
            raise RuntimeError("oops")
        return Result(module="small")

    fake(monkeypatch, broken)
    rows = Batch(master()).run(handins("ann", "bob", "cy"), threads(2))
    assert [r.result.status for r in rows] == ["graded", "broken", "graded"]
    assert "oops" in rows[1].result.reason
    assert rows[1].result.max_points == 7 and rows[1].result.points == 0


def test_a_file_that_cannot_be_read_costs_one_row(monkeypatch):
    def unreadable():
        raise UserError("cannot be read: Permission denied")

    fake(monkeypatch, lambda nb, data, **options: Result())
    rows = Batch(master()).run([HandIn("ann", read=unreadable), *handins("bob")], threads(1))
    assert [r.result.status for r in rows] == ["broken", "graded"]
    assert rows[0].result.reason == "cannot be read: Permission denied"


def test_remarks_about_files_stand_in_the_result(monkeypatch):
    fake(monkeypatch, lambda nb, data, **options: Result(deviations=["of the judge"]))
    [handin] = handins("ann")
    handin.remarks.append("data.txt: a link, not followed")
    [row] = Batch(master()).run([handin], threads(1))
    assert row.result.deviations == ["data.txt: a link, not followed", "of the judge"]


def test_the_rows_keep_their_order_and_progress_hears_of_each(monkeypatch):
    def slow_first(nb, data, **options):
        if data == b"ann":
            assert bob_is_heard_of.wait(60)
        return Result()

    def hear(row):
        heard.append(row)
        bob_is_heard_of.set()

    fake(monkeypatch, slow_first)
    heard, bob_is_heard_of = [], threading.Event()
    rows = Batch(master()).run(handins("ann", "bob"), threads(2), progress=hear)
    assert [r.student for r in rows] == ["ann", "bob"]
    assert [r.student for r in heard] == ["bob", "ann"]


def test_a_machine_without_a_sandbox_stops_the_batch(monkeypatch):
    def refused(nb, data, *, unconfined, **options):
        assert unconfined is False
        raise Unconfined

    fake(monkeypatch, refused)
    with pytest.raises(Unconfined):
        Batch(master()).run(handins("ann", "bob"), threads(1))


def test_one_that_stops_the_batch_ends_the_others_too(monkeypatch):
    began, ended = threading.Event(), threading.Event()

    def waits(nb, data, *, cancelled, **options):
        if data == b"bob":
            began.wait(60)
            raise Unconfined
        began.set()
        until = time.monotonic() + 120
        while time.monotonic() < until:
            if cancelled():
                ended.set()
                raise Cancelled
            time.sleep(0.01)
        return Result()

    fake(monkeypatch, waits)
    started = time.monotonic()
    with pytest.raises((Unconfined, Cancelled)):
        Batch(master()).run(handins("bob", "ann"), threads(2))
    assert ended.is_set() and time.monotonic() - started < 60


def test_a_cancelled_grading_ends_its_judge_at_once():
    own = hand_in()
    own.cells[1].source += "\nimport time\ntime.sleep(3600)"
    started = time.monotonic()
    with pytest.raises(Cancelled):
        grade(master(), as_file(own), limits=Limits(idle=3600), cancelled=lambda: True)
    assert time.monotonic() - started < 60


def test_the_secret_is_the_masters_own():
    changed = master()
    changed.cells[4].source += "  # changed"
    assert secret_of(master()) == secret_of(master()) != secret_of(changed)
    assert len(secret_of(master())) == 32


def test_processes_and_threads_find_the_same(any_engine):
    one = HandIn("ann", read=lambda: as_file(hand_in()))
    found = [
        Batch(master(), engine=any_engine).run([one], w)[0] for w in (threads(1), processes(1))
    ]
    for row in found:
        for cell in row.result.cells:
            cell.seconds = 0
    assert found[0].result.points == 7
    assert found[0].result == found[1].result
    assert found[0].handin == found[1].handin != ""


def test_at_least_one_job():
    assert default_jobs() >= 1
