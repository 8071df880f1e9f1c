"""Outcomes with known numbers, as if they had been measured."""

from __future__ import annotations

from tito.bench.lessons.lesson import Band, Lesson, Outcome


def outcome(name="stride", *ratios, band=None, compared="far / near", left_out=None):
    lesson = Lesson(name, compared, band or Band(2, why="it must"), None, left_out)
    return Outcome(lesson, tuple((ratio,) for ratio in ratios))


FOUND = {
    "memory": [
        outcome("stride", 3.0, 4.0, 5.0),
        outcome("equal", 1.0, 2.5, 1.1, band=Band(0.5, 2, "both touch as much")),
        outcome("exact", 8.5, 8.5, band=Band(8.5, 8.5, "worked out by hand")),
        outcome("far", left_out="this machine has no such cache"),
    ],
    "threads": [outcome("ticks", 1234.0, 1300.0, band=Band(1, why="one is enough"))],
}
