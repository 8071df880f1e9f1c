"""Small modules written as text, for the tests of the exporter."""

from __future__ import annotations

from pathlib import Path

from tito.course import Course
from tito.export import plan_notebooks
from tito.notebook import Cell, Notebook


def cell(source, grade_id=None, solution=True):
    if grade_id is None:
        return Cell("code", source)
    return Cell("code", source, {"nbgrader": {"grade_id": grade_id, "solution": solution}})


def notebook(*cells, target="loops", path="m.py"):
    """A notebook with a default_exp and the given cells (text is an exported cell)."""
    made = [c if isinstance(c, Cell) else cell(f"#| export\n{c}") for c in cells]
    first = [cell(f"#| default_exp {target}")] if target else []
    return Notebook([*first, *made], path=Path(path))


def exported(*cells, file="loops.py", module="02_loops"):
    """The text of one file that a notebook of these cells exports."""
    files, _, _ = plan_notebooks([(module, notebook(*cells))])
    return files[file]


def warnings(*cells):
    return plan_notebooks([("02_loops", notebook(*cells))])[1]


def body(*cells):
    """The exported file below its `__all__`."""
    return exported(*cells).split("\n\n\n", 1)[1]


PERCENT = "# %%\n"


def course(root: Path, **modules: str) -> Course:
    """A course folder; each module is percent text, its name written loops_02 for 02_loops."""
    (root / "tinykernels").mkdir(parents=True)
    (root / "modules").mkdir()
    for word, text in modules.items():
        write(root, word, text)
    return Course(root)


def write(root: Path, word: str, text: str) -> None:
    stem, number = word.rsplit("_", 1)
    name = f"{number}_{stem}"
    (root / "modules" / name).mkdir(exist_ok=True)
    (root / "modules" / name / f"{name}.py").write_text(text, encoding="utf-8")


def percent(*cells: str, target: str) -> str:
    return "\n".join(f"{PERCENT}{c}\n" for c in (f"#| default_exp {target}", *cells))
