"""`tito grade run` ended by the system in the middle (kill -9), and called once more."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tito.course import Course
from tito.errors import UserError
from tito.grading.classroom import Classroom

TITO_HOME = Path(__file__).resolve().parents[3]
LOOK_EVERY = 0.02


@dataclass
class Killed:
    """kept : rows that were there when the command was killed, and were not graded again
    same : whether the CSV in the end is the one of a class graded in one go, to the byte
    """

    count: int
    kept: int
    same: bool

    def lines(self) -> Iterator[str]:
        yield f"{self.count} hand-ins, killed in the middle (kill -9), then the same command again"
        yield f"  rows kept {self.kept}, graded by the second run {self.count - self.kept}"
        yield f"  CSV as of a class graded in one go: {'the same' if self.same else 'ANOTHER'}"

    def to_json(self) -> dict[str, Any]:
        return {"hand_ins": self.count, "kept": self.kept, "same": self.same}


def killed(
    whole: Classroom,
    torn: Classroom,
    module: str,
    course: Course,
    options: Sequence[str],
    say: Callable[[str], None] = lambda text: None,
) -> Killed:
    """Grade the class `whole` in one go, and `torn`, the same class, with a death in the middle."""
    count = len(torn.roster())
    say(f"{count} hand-ins in one go")
    with _run(whole, module, course, options) as run:
        _finish(run)
    say(f"{count} hand-ins, killed after a third")
    with _run(torn, module, course, options) as first:
        while first.poll() is None and _stored(torn, module) < count // 3:
            time.sleep(LOOK_EVERY)
    kept = {p: p.stat().st_mtime_ns for p in torn.results(module).glob("*.json")}
    say("the same command again")
    with _run(torn, module, course, options) as run:
        _finish(run)
    again = [p for p, before in kept.items() if p.stat().st_mtime_ns != before]
    same = _sheet(whole).read_bytes() == _sheet(torn).read_bytes()
    return Killed(count, len(kept) - len(again), same)


@contextmanager
def _run(
    room: Classroom, module: str, course: Course, options: Sequence[str]
) -> Iterator[subprocess.Popen[bytes]]:
    """`tito grade run`; killed (kill -9) where it still runs in the end."""
    words = ["grade", "run", "--class", str(room.root), "--module", module]
    words += ["--course", str(course.root), "--csv", str(_sheet(room)), *options]
    paths = [str(TITO_HOME), os.environ.get("PYTHONPATH", "")]
    with subprocess.Popen(
        [sys.executable, "-m", "tito", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _finish(process: subprocess.Popen[bytes]) -> None:
    said, _ = process.communicate()
    if process.returncode not in (0, 1):  # 1: a broken hand-in is among them
        text = said.decode("utf-8", "replace")[-1500:]
        raise UserError("tito grade run failed", text=text)


def _stored(room: Classroom, module: str) -> int:
    return sum(1 for _ in room.results(module).glob("*.json"))


def _sheet(room: Classroom) -> Path:
    return room.exports / "marks.csv"
