"""Rules of module files. Each rule is one small function with a stable name."""

from __future__ import annotations

from pathlib import Path

from tito.course import MODULE_NAME
from tito.files import read_text
from tito.lint import anatomy as _anatomy  # noqa: F401  (each import enters its rules)
from tito.lint import metadata as _metadata  # noqa: F401
from tito.lint import scope as _scope  # noqa: F401
from tito.lint import testcells as _testcells  # noqa: F401
from tito.lint import text as _text  # noqa: F401
from tito.lint.finding import ERROR, RULES, WARNING, Finding, Hit, Rule
from tito.lint.module import Module
from tito.notebook import Notebook, load

__all__ = ["ERROR", "RULES", "WARNING", "Finding", "grading_problems", "lint", "lint_file"]


def lint_file(path: Path) -> list[Finding]:
    """Findings in a .py or .ipynb file; UserError where it cannot be read as a notebook."""
    path = Path(path)
    raw = read_text(path)[0] if path.suffix == ".py" else None
    return lint(load(path), raw)


def lint(notebook: Notebook, text: str | None = None) -> list[Finding]:
    """Findings in the order of the cells.

    text : the .py file as written; without it, rules about its spelling are left out
    """
    return _run(Module(notebook, text), RULES)


def grading_problems(notebook: Notebook, text: str | None = None) -> list[Finding]:
    """The errors with which nobody can be graded rightly, of a master from anywhere."""
    return _run(Module(notebook, text), [r for r in RULES if r.grading and r.level == ERROR])


def is_course_module(notebook: Notebook) -> bool:
    """Whether the file claims to be a module of a course, by its name or by where its code goes;
    only such a file has the parts that a module has."""
    named = notebook.path is not None and MODULE_NAME.fullmatch(notebook.path.stem)
    return bool(named) or notebook.default_exp is not None


def _run(module: Module, rules: list[Rule]) -> list[Finding]:
    if not is_course_module(module.notebook):
        rules = [r for r in rules if not r.name.startswith("anatomy-")]
    found = [(hit, rule) for rule in rules for hit in rule.check(module)]
    found.sort(key=lambda pair: (pair[0].cell.index if pair[0].cell else 0, pair[0].line or 0))
    return [_finding(module, hit, rule) for hit, rule in found]


def _finding(module: Module, hit: Hit, rule: Rule) -> Finding:
    path = str(module.notebook.path or module.notebook.name)
    label = hit.cell.label if hit.cell else None
    shown = _line(hit.cell.source if hit.cell else module.text, hit.line)
    in_file = None
    if hit.cell and hit.cell.line:
        in_file = hit.cell.line + (hit.line or 1) - 1
    return Finding(
        rule.name, path, label, hit.line, hit.message, hit.hint, rule.level, shown, in_file
    )


def _line(source: str | None, number: int | None) -> str | None:
    lines = source.split("\n") if source is not None and number is not None else []
    return lines[number - 1] if number and number <= len(lines) else None
