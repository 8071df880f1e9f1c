"""`tito bench memory|blocking|threads`: do the lessons of modules 04 to 07 hold on this machine?

A lesson is a ratio that a module teaches: of two times, of two exact counts. It is measured some
times over, and each of its values has to lie in a band, which is printed with what it follows from.

lesson     a lesson, its band, and what measuring it gave
memory     the lessons of 04
blocking   the lessons of 05
threads    the lessons of 06
jit        the lessons of 07
traces     the addresses that loops touch, in order
workers    threads that are watched: their CPU times, and who lets go of the interpreter
table      for people
export     for programs (JSON) and spreadsheets (CSV)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tito.bench.lessons.lesson import Lesson

SETS = ("memory", "blocking", "threads", "jit")


def lessons_of(name: str) -> list[Lesson]:
    """The lessons of one set, for this machine."""
    from tito.bench.lessons import blocking, jit, memory, threads

    make: dict[str, Callable[[], list[Lesson]]] = {
        "memory": memory.lessons,
        "blocking": blocking.lessons,
        "threads": threads.lessons,
        "jit": jit.lessons,
    }
    return make[name]()
