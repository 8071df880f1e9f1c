"""A course of one small module, for tests of what is handed out."""

from __future__ import annotations

from pathlib import Path

from tito.course import Course
from tito.notebook import Cell, Notebook, write_py

SOLUTION = """\
total = 0.0
for i in range(len(x)):
    if x[i] > limit:
        total = total + weight * x[i] * x[i]
return total"""
HIDDEN = (
    "for size in (3, 14, 159, 2653):\n    assert weigh(ramp(size), 2) == slow(size), 'secret sizes'"
)
RUBRIC = (
    "Full marks for naming the memory wall and its slope; half for the words cache or bandwidth."
)


def nbgrader(**keys):
    return {"nbgrader": {"schema_version": 3, "task": False, "locked": False, **keys}}


def indented(text):
    return "\n".join("    " + line for line in text.split("\n"))


def master():
    body = indented(f"### BEGIN SOLUTION\n{SOLUTION}\n### END SOLUTION")
    cells = [
        Cell("markdown", "Sum what is above the limit, each squared and weighed."),
        Cell("code", "def slow(n):\n    return sum(v * v for v in range(n))"),
        Cell(
            "code",
            f"#| default_exp demo\n#| export\ndef weigh(x, limit):\n{body}\n\n\nweight = weigh",
            nbgrader(grade=False, solution=True, grade_id="weigh"),
        ),
        Cell(
            "code",
            "assert weigh(ramp(3), 1) == 2, 'visible'",
            nbgrader(grade=True, solution=False, grade_id="weigh-test", points=1),
        ),
        Cell(
            "code",
            HIDDEN,
            {
                **nbgrader(grade=True, solution=False, grade_id="weigh-hidden", points=2),
                "tags": ["hidden-tests"],
            },
        ),
        Cell(
            "markdown",
            f"Why?\n\n### BEGIN SOLUTION\n{RUBRIC}\n### END SOLUTION",
            nbgrader(grade=True, solution=True, grade_id="reflect-1", points=2),
        ),
    ]
    return Notebook(cells)


def make_course(root: Path) -> Course:
    """A course repository with the module 02_demo and its exported package."""
    course = root / "a course"
    folder = course / "modules" / "02_demo"
    (course / "tinykernels").mkdir(parents=True)
    (folder / "data").mkdir(parents=True)
    (folder / "02_demo.py").write_text(write_py(master()), encoding="utf-8")
    (folder / "data" / "input.csv").write_text("1,2\n")
    (course / "tinykernels" / "__init__.py").write_text("")
    (course / "tinykernels" / "demo.py").write_text(f"def weigh(x, limit):\n{indented(SOLUTION)}\n")
    here = Path(__file__).parents[2]
    for name in ("requirements.txt", "pyproject.toml", "LICENSE", ".gitattributes"):
        (course / name).write_bytes((here / name).read_bytes())
    return Course(course)
