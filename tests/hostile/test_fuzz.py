"""Notebooks and messages damaged at random: a row for each, and the judge lives.

Some hundred of each in every run; the full numbers, 2,000 of each, by

    python -m pytest -m slow -s tests/hostile/test_fuzz.py
"""

from __future__ import annotations

import json
import random
import struct
from collections import Counter

import msgpack
import numpy as np
import pytest

from tests.hostile.lesson import MAX_POINTS, RIGHT, TESTS, WRONG, document, graded, hand_in, master
from tests.hostile.mutate import damaged, damaged_bytes, damaged_tree
from tito.errors import UserError
from tito.grading import wire
from tito.grading.engine.spawn import SpawnEngine
from tito.grading.judge.plan import make_plan
from tito.grading.judge.rebuild import rebuild
from tito.grading.judge.submission import read_submission
from tito.grading.judge.world import StudentDied, World
from tito.grading.limits import Limits
from tito.grading.stage import make_stage

FULL = 2000


def notebooks(count: int, start: int = 0, *, right: bool = True):
    """Damaged files: their JSON mostly, sometimes the bytes themselves."""
    whole = document(hand_in(RIGHT if right else WRONG))
    for seed in range(start, start + count):
        rng = random.Random(seed)
        data = json.dumps(damaged(whole, rng), ensure_ascii=rng.random() < 0.5)
        data = data.encode("utf-8", "surrogatepass")
        yield seed, damaged_bytes(data, rng) if rng.random() < 0.15 else data


def read(data: bytes) -> str:
    """What becomes of a file up to the point where code would run."""
    try:
        submission = read_submission(data)
    except UserError as error:
        assert str(error) and "\n" not in error.message
        return "broken"
    rebuilt = rebuild(master(), submission)
    json.dumps(rebuilt.deviations).encode("ascii")
    plan = make_plan(master(), rebuilt)
    assert [t.id for t in plan.tests] == list(TESTS)
    assert [t.source for t in plan.tests] == list(TESTS.values())
    return "read"


def read_many(count: int) -> Counter[str]:
    return Counter(read(data) for _, data in notebooks(count))


def test_a_damaged_notebook_is_read_or_refused_in_one_line():
    found = read_many(200)
    assert sum(found.values()) == 200
    assert found["read"] > 60 and found["broken"] > 20


def grade_many(count: int, start: int, engine: str, *, right: bool) -> Counter[str]:
    """Every damaged file a row, of the whole module, with points that its cells add up to."""
    rows: Counter[str] = Counter()
    for seed, data in notebooks(count, start, right=right):
        result = graded(data, engine)
        assert [c.id for c in result.cells] == list(TESTS), seed
        assert result.max_points == MAX_POINTS, seed
        assert result.status in ("graded", "broken"), seed
        assert not (result.reason or "").startswith("the grading broke off"), (seed, result.reason)
        if not right:
            assert result.points == 0, seed
        json.dumps(result.to_json()).encode("ascii")
        rows[result.status] += 1
    return rows


@pytest.mark.parametrize("right", [True, False])
def test_a_damaged_notebook_has_a_row(fastest, right):
    assert sum(grade_many(15, 5000, fastest, right=right).values()) == 15


# -- messages


def messages() -> list[list]:
    """[body, arrays, regions, sizes] of honest answers of each kind."""
    zeros = [0, "<f8", [3], [8], True, -9, 0, -1]
    values = [
        1.5, "text", ["t", [1, ["l", [True, None]]]], ["d", ["a", 1], [2, ["set", [3]]]], ["a", 0],
        ["np", "<f4", b"1234"], ["int", b"12345678"], ["named", "P", ["l", ["x"]], ["l", [1]]],
        ["h", 1, "o", "Thing"], ["x", 1, "E", [["type", "ValueError"]]], ["dtype", "<f8"],
        ["slice", ["l", [1, 2, None]]], ["frac", 1, 3], ["cb", 1], ["counted", 1], ["n", "f"],
        ["dtype", ["rec", [["a", "<i2", 0]], 2, False]], ["type", "int"], ["nptype", "float32"],
    ]  # fmt: skip
    answers = [["re", 0, b"nonce678", True, v, [], "said", [], []] for v in values]
    error = [["type", "ValueError"], None, "no", [["cell", 1, "f"]], None, None]
    answers += [
        ["re", 0, b"nonce678", False, error, [], "", [["UserWarning", "w"]], ["notice"]],
        ["re", 0, b"nonce678", True, 1, [[0, 0]], "", [], []],
        ["cb", 0, 1, ["t", [1]], ["d", [], []]],
        ["rd", 0, 1, 0],
        ["wr", 0, 1, 0, b"12345678"],
    ]
    return [[body, [zeros], [[-9, 24, 0, []]], [24]] for body in answers]


def framed(message: list) -> bytes:
    head = msgpack.packb(message, unicode_errors="surrogatepass")
    return struct.pack("<Q", len(head)) + head + bytes(24)


def packable(message: list) -> bool:
    try:
        framed(message)
    except (OverflowError, ValueError, TypeError):  # whole numbers beyond 64 bits
        return False
    return True


def damaged_frames(count: int, start: int = 0):
    honest = messages()
    for seed in range(start, start + count):
        rng = random.Random(seed)
        message = damaged_tree(rng.choice(honest), rng)
        while not packable(message):
            message = damaged_tree(rng.choice(honest), rng)
        frame = framed(message)
        yield seed, damaged_bytes(frame, rng) if rng.random() < 0.3 else frame


def decode(frame: bytes) -> str:
    """A frame read and its parts decoded as the judge does it; anything else raised is a crash."""
    left = [frame]

    def recv(most: int) -> bytes:
        data, left[0] = left[0][:most], left[0][most:]
        if not data:
            raise EOFError
        return data

    def recv_into(view: memoryview) -> int:
        data = recv(len(view))
        view[: len(data)] = data
        return len(data)

    try:
        link = wire.Link(recv, recv_into, lambda data: None, 1 << 24)
        got = link.read()
        nodes = [wire.ArrayNode(node) for node in got.arrays]
        for *node, _ in got.regions:
            wire.region_memory(node, got.buffers)
        decoder = wire.Decoder([np.zeros(3)] * len(nodes), got.buffers, lambda n, d: object())
        for part in got.body[3:5]:
            decoder.value(part)
    except EOFError:
        return "cut off"
    except wire.BAD_DATA:
        return "refused"
    return "decoded"


def test_a_damaged_message_is_refused_or_decoded():
    found = Counter(decode(frame) for _, frame in damaged_frames(500))
    assert min(found["refused"], found["decoded"]) > 20


SENDER = """
import gc, struct, sys, time, os
def _server():
    return next(o for o in gc.get_objects() if type(o).__name__ == "Server")
def _nonce():
    frame = sys._getframe()
    while "nonce" not in frame.f_locals: frame = frame.f_back
    return frame.f_locals["nonce"]
def f(x, out, g, frame):
    _server()._link._send(frame.replace(b"nonce678", _nonce()))
    return 7.5
"""


def send_live(count: int, start: int) -> Counter[str]:
    """Each message written by a student's function in the middle of its call, to a real judge."""
    found: Counter[str] = Counter()
    limits = Limits(idle=0.4, call=1, test=2, notebook=10_000, memory=1 << 30)
    frames = list(damaged_frames(count, start))
    for first in range(0, count, 25):  # a hand-in has so many fresh processes
        with make_stage() as stage:
            world = World(SpawnEngine(), stage, limits)
            try:
                assert world.run_cell("cell", SENDER).status == "ok"
                for seed, frame in frames[first : first + 25]:
                    found[_one(world, frame, seed)] += 1
            finally:
                world.close()
    return found


def _one(world: World, frame: bytes, seed: int) -> str:
    x, out = np.arange(3.0), np.full(3, 5.0)
    world.test_begins("test")
    try:
        got = world.bind(["f"])["f"](x, out, lambda *a: 0, frame)
    except StudentDied:
        got = "died"
    except Exception as error:
        got = type(error).__name__
    finally:
        ended = world.test_ends()
    assert x.tolist() == [0, 1, 2], seed
    assert got != "died" or ended.lost, seed
    return got if isinstance(got, str) else "answered"


def test_a_damaged_message_to_a_living_judge_costs_the_call_at_most():
    assert sum(send_live(20, 9000).values()) == 20


# -- the full numbers


@pytest.mark.slow
def test_all_damaged_notebooks():
    print(f"\n{FULL} damaged notebooks read: {dict(read_many(FULL))}")


@pytest.mark.slow
def test_all_damaged_hand_ins_have_rows(fastest):
    rows = grade_many(150, 10_000, fastest, right=True)
    rows += grade_many(150, 20_000, fastest, right=False)
    print(f"\n300 of them graded: {dict(rows)}")
    assert sum(rows.values()) == 300


@pytest.mark.slow
def test_all_damaged_messages():
    found = Counter(decode(frame) for _, frame in damaged_frames(FULL))
    print(f"\n{FULL} damaged messages decoded: {dict(found)}")


@pytest.mark.slow
def test_all_damaged_messages_to_a_living_judge():
    found = send_live(200, 30_000)
    print(f"\n200 of them sent to a living judge: {dict(found)}")
    assert sum(found.values()) == 200
