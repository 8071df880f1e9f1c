"""Rules about how a cell is written: syntax, markers, directives, magics, docstring cells."""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Iterator

from tito.lint.finding import WARNING, Hit, rule
from tito.lint.module import Module, called_name, names_in
from tito.notebook import Cell, Role, stray_directives

BEGIN, END = "### BEGIN ", "### END "
REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
_MARKERS = [edge + region for edge in ("BEGIN ", "END ") for region in REGIONS]
# Jupytext takes comments that begin with one of these for commented-out shell commands.
_SHELL = ["cat", "cd", "cp", "ls", "mv", "rm", "mkdir", "rmdir", "copy", "ren", "echo"]
_MAGIC_COMMENT = re.compile(rf"#+\s*(%{{1,2}}[A-Za-z]|!|\?|(?:{'|'.join(_SHELL)})(?:\s|$))")
_MAGIC = re.compile(r"\s*(%{1,2}[A-Za-z]|!|\?)|.*\bget_ipython\(\)\s*\.")


def _lines(cell: Cell) -> Iterator[tuple[int, str]]:
    yield from enumerate(cell.source.split("\n"), 1)


def comments(cell: Cell) -> list[tuple[int, str]]:
    """(line, text) of the comments of a code cell; of lines that look so if it does not parse."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(cell.source).readline))
    except (tokenize.TokenError, SyntaxError):
        return [(n, s.strip()) for n, s in _lines(cell) if s.lstrip().startswith("#")]
    return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]


@rule("syntax", grading=True)
def syntax(module: Module) -> Iterator[Hit]:
    for cell in module.code:
        if any(_MAGIC.match(s) for _, s in _lines(cell)):
            continue  # a finding of its own
        try:
            ast.parse(cell.source)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            yield Hit(f"this cell is no valid Python: {getattr(error, 'msg', error)}", cell, line)


@rule("magic")
def magic(module: Module) -> Iterator[Hit]:
    """Modules hold plain Python: a magic is no code for the exporter or the judge."""
    for cell in module.code:
        for number, line in _code_lines(cell):
            if _MAGIC.match(line):
                yield Hit("a module holds no magics", cell, number, "write it in Python")


def _code_lines(cell: Cell) -> Iterator[tuple[int, str]]:
    """Lines that do not lie inside a string of several lines."""
    inside: set[int] = set()
    try:
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno:
                inside.update(range(node.lineno + 1, node.end_lineno + 1))
    except (SyntaxError, ValueError):
        pass
    yield from ((n, s) for n, s in _lines(cell) if n not in inside)


@rule("magic-comment")
def magic_comment(module: Module) -> Iterator[Hit]:
    """Comments that Jupytext's default setting turns into commands, in any other tool."""
    for cell in module.code:
        for number, text in comments(cell):
            if match := _MAGIC_COMMENT.match(text):
                yield Hit(
                    f"a comment that begins with {match[1].strip()!r} is read as a shell command "
                    "or magic by Jupytext's default setting",
                    cell,
                    number,
                    "begin it with another word",
                )


@rule("directive")
def directive_written(module: Module) -> Iterator[Hit]:
    """Lines that look like a directive and do nothing."""
    for cell in module.cells:
        for number, _, why in stray_directives(cell.source, cell.kind == "code"):
            yield Hit(why, cell, number)


_PLACES = {
    "export": (Role.GIVEN, Role.SOLUTION),
    "default_exp": (Role.GIVEN,),
    "measure": (Role.MEASURE,),
    "forbid": (Role.SOLUTION,),
    "writes": (Role.SOLUTION,),
}


@rule("directive-place")
def directive_place(module: Module) -> Iterator[Hit]:
    """A directive stands on a cell of a role for which it means something."""
    for cell in module.code:
        for found in cell.directives:
            if cell.role not in _PLACES[found.name]:
                allowed = " or ".join(_PLACES[found.name])
                yield Hit(
                    f"'#| {found.name}' on a {cell.role} cell does nothing",
                    cell,
                    found.line,
                    f"it belongs on a {allowed} cell",
                )
            if found.name == "export" and cell.directive("measure"):
                yield Hit("a measure cell is never exported", cell, found.line)


@rule("directive-value")
def directive_value(module: Module) -> Iterator[Hit]:
    """What follows a directive names something that exists."""
    seen: Cell | None = None
    for cell in module.code:
        for found in cell.directives:
            if found.name == "default_exp" and seen is not None:
                yield Hit(f"default_exp stands already in {seen.label}", cell, found.line)
            seen = cell if found.name == "default_exp" else seen
            if problem := _value_problem(module, cell, found.name, found.words):
                yield Hit(problem, cell, found.line)


def _value_problem(module: Module, cell: Cell, name: str, words: list[str]) -> str | None:
    if name in ("default_exp", "export"):
        parts = ".".join(words).split(".")
        if (words or name == "default_exp") and not all(p.isidentifier() for p in parts):
            return f"'{' '.join(words)}' names no module of the package"
    if name in ("forbid", "writes") and not words:
        return f"'#| {name}' needs at least one name"
    if name == "writes":
        unknown = [w for w in words if w not in _parameters(module.tree(cell))]
        return f"no function of this cell has a parameter {unknown[0]!r}" if unknown else None
    if name == "forbid":
        unknown = [w for w in words if w not in _forbid_sets()]
        return f"no forbid set is called {unknown[0]!r}" if unknown else None
    return None


def _parameters(tree: ast.Module) -> set[str]:
    return {
        a.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for a in _args(node)
    }


def _args(node: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (node.vararg, node.kwarg) if a]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *extra]


def _forbid_sets() -> frozenset[str]:
    from tito.forbid import SETS

    return frozenset(SETS)


@rule("marker", grading=True)
def marker_pairs(module: Module) -> Iterator[Hit]:
    """BEGIN and END come in pairs, one after the other, never one in another."""
    for cell in module.cells:
        open_region: tuple[str, int] | None = None
        for number, line in _lines(cell):
            text = line.strip()
            for region in REGIONS:
                if text.startswith(BEGIN + region):
                    if open_region:
                        yield Hit(
                            f"BEGIN {region} inside the {open_region[0]} region that began on line "
                            f"{open_region[1]}",
                            cell,
                            number,
                            "end one region before the next begins",
                        )
                    open_region = (region, number)
                elif text.startswith(END + region):
                    if open_region is None or open_region[0] != region:
                        yield Hit(f"END {region} without its BEGIN", cell, number)
                    open_region = None
        if open_region:
            yield Hit(
                f"BEGIN {open_region[0]} is never ended: everything below it would be cut",
                cell,
                open_region[1],
                f"{END}{open_region[0]}",
            )


@rule("marker-spelling", grading=True)
def marker_spelling(module: Module) -> Iterator[Hit]:
    """A marker that is nearly right does nothing, and the solution goes out to students."""
    for cell in module.cells:
        lines = comments(cell) if cell.kind == "code" else list(_lines(cell))
        for number, line in lines:
            if wanted := _meant_marker(line.strip()):
                yield Hit("this marker is misspelt and does nothing", cell, number, wanted)


def _meant_marker(text: str) -> str | None:
    """The marker that `text` tries to be, or None where it is right or is something else."""
    match = re.match(r"(?:#|//|<!--)[#\s]*(.*?)\s*(?:-->)?$", text)
    if not match or len(match[1]) > 24:
        return None
    words = re.sub(r"[\s_-]+", " ", match[1]).upper().strip(" :.")
    near = difflib.get_close_matches(words, _MARKERS, 1, cutoff=0.85)
    if not near or any(text.startswith("### " + m) for m in _MARKERS):
        return None
    return "### " + near[0]


@rule("marker-place", grading=True)
def marker_place(module: Module) -> Iterator[Hit]:
    """A solution region in a cell that is no solution cell is an error for nbgrader too."""
    for cell in module.cells:
        for number, line in _lines(cell):
            if line.strip().startswith(BEGIN + "SOLUTION") and not (cell.solution or cell.task):
                yield Hit(
                    "a solution region in a cell that is no solution cell",
                    cell,
                    number,
                    '"solution": true in its nbgrader metadata',
                )
            if line.strip().startswith(BEGIN + "HIDDEN TESTS") and not cell.graded:
                yield Hit("a hidden region in a cell that is not graded", cell, number)


@rule("solution-region")
def solution_region(module: Module) -> Iterator[Hit]:
    """Without a region nbgrader replaces the whole cell, the contract included."""
    for cell in module.solutions:
        if not any(s.strip().startswith(BEGIN + "SOLUTION") for _, s in _lines(cell)):
            yield Hit(
                "this solution cell has no ### BEGIN SOLUTION region: students would lose the "
                "signature and its docstring",
                cell,
                hint="put the markers around the body",
            )


@rule("hidden-region")
def hidden_region(module: Module) -> Iterator[Hit]:
    """nbgrader knows regions, not our tag: without one its own release shows the hidden test."""
    for cell in module.tests:
        outside = _outside_hidden(cell)
        if cell.hidden and outside:
            yield Hit(
                "code of a hidden test stands outside ### BEGIN / END HIDDEN TESTS: nbgrader's own "
                "release would show it",
                cell,
                outside[0],
                "put the markers around all of the cell's code",
            )


def _outside_hidden(cell: Cell) -> list[int]:
    inside, found = False, []
    for number, line in _lines(cell):
        text = line.strip()
        if text.startswith(BEGIN + "HIDDEN"):
            inside = True
        elif text.startswith(END + "HIDDEN"):
            inside = False
        elif text and not text.startswith("#") and not inside:
            found.append(number)
    return found


@rule("docstring-cell")
def docstring_cell(module: Module) -> Iterator[Hit]:
    """A text cell written as a docstring must be raw where it holds a backslash (LaTeX)."""
    lines = (module.text or "").split("\n")
    for cell in module.cells:
        if cell.kind != "markdown":
            continue
        if cell.source.lstrip().startswith(('"""', 'r"""', "'''", "r'''")):
            yield Hit(
                "text stands after the closing quotes, so the quotes show in the notebook",
                cell,
                hint="close the docstring on the cell's last line",
            )
        opening = _docstring_opening(cell, lines)
        if opening in ('"""', "'''") and (at := cell.source.find("\\")) >= 0:
            yield Hit(
                "a backslash (LaTeX) in a docstring cell that is not raw shows wrongly",
                cell,
                cell.source.count("\n", 0, at) + 1,
                'begin the cell with r"""',
            )


def _docstring_opening(cell: Cell, lines: list[str]) -> str | None:
    """The quotes that open a text cell in the .py, or None where it is written as comments."""
    if cell.line is None or not lines:
        return None
    for number in (cell.line - 1, cell.line):  # the quotes stand above the text, or before it
        if 0 < number <= len(lines):
            match = re.match(r"""(r|R)?("{3}|'{3})""", lines[number - 1])
            if match:
                return match[0]
    return None


@rule("given-like-solution", level=WARNING)
def given_like_solution(module: Module) -> Iterator[Hit]:
    """A specification is written differently from the solution, or it gives it away."""
    for solution in module.solutions:
        wanted = solution_lines(solution)
        if len(wanted) < 4:
            continue
        for cell in module.of(Role.GIVEN, Role.MEASURE, Role.TEXT):
            if cell.index == solution.index:
                continue
            have = {_plain(s) for _, s in _lines(cell)}
            same = [s for s in wanted if s in have]
            if len(same) > 0.6 * len(wanted):
                yield Hit(
                    f"holds {len(same)} of the {len(wanted)} lines of {solution.label}",
                    cell,
                    hint="write the specification another way",
                )


def solution_lines(cell: Cell) -> list[str]:
    """The lines of code inside the solution regions of a cell, layout aside."""
    inside, found = False, []
    for _, line in _lines(cell):
        text = line.strip()
        if text.startswith(BEGIN + "SOLUTION"):
            inside = True
        elif text.startswith(END + "SOLUTION"):
            inside = False
        elif inside and text and not text.startswith("#"):
            found.append(_plain(text))
    return found


def _plain(line: str) -> str:
    return re.sub(r"\s+", "", line.split("  #")[0])


_DRAWS = ("subplots", "figure", "savefig", "imshow")


@rule("alt-text-figure", level=WARNING)
def alt_text_figure(module: Module) -> Iterator[Hit]:
    """A figure that a cell draws is described too: where it is shown, or in the next text."""
    for cell in module.code:
        drawn = [
            n.lineno
            for n in ast.walk(module.tree(cell))
            if called_name(n) in _DRAWS and "plt" in names_in(n)
        ]
        below = [c for c in module.cells if c.index == cell.index + 1 and c.kind == "markdown"]
        described = "alt=" in cell.source or any("igure" in c.source for c in below)
        if drawn and not described:
            yield Hit(
                "a figure that no words describe",
                cell,
                drawn[0],
                "IPython.display.Image(..., alt='...'), or a text '*Figure: ...*' below",
            )


def _images_without_words(source: str) -> list[int]:
    """Places of <img> tags that have no alt attribute, or an empty one."""
    found = []
    for match in re.finditer(r"<img\b", source):
        tag = source[match.start() :].partition(">")[0]
        if not re.search(r"\balt\s*=\s*([\"'])(?!\1)", tag):
            found.append(match.start())
    return found


@rule("measure-clock", level=WARNING)
def measure_clock(module: Module) -> Iterator[Hit]:
    """One trusted timer: a measure cell that reads a clock of its own measures something else."""
    clocks = ("perf_counter", "process_time", "thread_time", "perf_counter_ns", "timeit")
    for cell in module.of(Role.MEASURE):
        for node in ast.walk(module.tree(cell)):
            if called_name(node) in clocks:
                yield Hit(
                    f"{called_name(node)} in a measure cell", cell, node.lineno, "tito.machine"
                )


@rule("alt-text")
def alt_text(module: Module) -> Iterator[Hit]:
    """Every picture says in words what it shows."""
    for cell in module.cells:
        if cell.kind == "markdown":
            for number, line in _lines(cell):
                if re.search(r"!\[\s*\]\(", line):
                    yield Hit("a picture without alt text", cell, number, "![what it shows](...)")
            for at in _images_without_words(cell.source):
                line = cell.source.count("\n", 0, at) + 1
                yield Hit("a picture without alt text", cell, line, '<img alt="..." ...>')
            if "<svg" in cell.source and not re.search(r"aria-label=|<title>", cell.source):
                yield Hit("a drawing without a title", cell, hint="<svg role='img' aria-label='..'")
