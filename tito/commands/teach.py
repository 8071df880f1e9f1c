"""What instructors do before a class hands in: hand out modules."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tito.course import find_course
from tito.grading.wording import counted


def generate(args: argparse.Namespace) -> int:
    """`tito generate OUT`: the students' folder, refused where it would give an answer away."""
    from tito.grading.audit import ensure_green, is_green
    from tito.release import kit

    course, out = find_course(), Path(args.out)
    solved = kit.solved_modules(course, args.solved)
    kit.refuse_unless_free(out)
    unproved = [] if course.is_kit else [m for m in course.modules if not is_green(course, m)]
    if unproved:
        _say(f"{counted(len(unproved), 'module')} to audit first: that takes minutes, once")
    for number, ref in enumerate(unproved, 1):
        name = f"{ref.name} ({number} of {len(unproved)})"
        ensure_green(course, ref, lambda what, name=name: _say(f"auditing {name}: {what}"))
    made = kit.generate(course, out, solved)
    print(f"made the kit {out}: {', '.join(made.modules)}, {len(made.files)} files, no answers")
    if solved:
        print(f"solved in it: {', '.join(sorted(solved))}")
    print(f"for nbgrader: {out / 'modules'} has the layout of its release/ folder")
    print(f"next: give {out} to your students; then tito grade init makes the folder of a class")
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
