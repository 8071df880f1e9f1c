"""A course of one small module, for tests of what is handed out."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

from tito.course import Course
from tito.notebook import Cell, Notebook, write_py
from tito.release import kit

SOLUTION = """\
total = 0.0
for i in range(len(x)):
    if x[i] > limit:
        total = total + weight * x[i] * x[i]
return total"""
GIVEN = """\
def ramp(n):
    return list(range(n))


def slow(n):
    return 2 * sum(v * v for v in range(n) if v > 2)"""
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
        Cell("code", "#| default_exp demo\n#| export\nweight = 2"),
        Cell("code", GIVEN),
        Cell(
            "code",
            f"#| export\ndef weigh(x, limit):\n{body}\n\n\nweigh_all = weigh",
            nbgrader(grade=False, solution=True, grade_id="weigh"),
        ),
        Cell(
            "code",
            "assert weigh(ramp(3), 1) == 8, 'visible'",
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


RIGHT = {"weigh": f"#| export\ndef weigh(x, limit):\n{indented(SOLUTION)}\n"}


def make_kit(root: Path) -> Course:
    """A student's kit of that course, in a folder with a blank in its name."""
    make_course(root)
    return write_kit(root / "my kit")


def write_kit(folder: Path) -> Course:
    """What `kit.generate` makes of that course, which is worked out once."""
    kit.write(_files_of_the_kit(), folder)
    return Course(folder)


@cache
def _files_of_the_kit() -> dict[str, bytes]:
    """Made and searched for leaks once: a course is the same wherever it lies."""
    with tempfile.TemporaryDirectory() as folder:
        return kit.generate(make_course(Path(folder)), Path(folder) / "kit").files


def fill_in(notebook: Path, sources: dict[str, str]) -> None:
    """Write into cells, as saving in Jupyter does: grade_id -> new source."""
    document = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in document["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in sources:
            cell["source"] = sources[name].splitlines(keepends=True)
    notebook.write_text(json.dumps(document), encoding="utf-8")
