"""One exported cell: parsed, freed of what only the notebook needs, its imports set apart."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tito.errors import UserError
from tito.export.imports import LINE_LENGTH, Import
from tito.export.target import PACKAGE, import_name
from tito.notebook import Cell
from tito.notebook import names as scan
from tito.notebook.names import Names

_MARKER = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)")
_TASK = re.compile(r"#+\s*YOUR CODE HERE\W*")
_HINT = re.compile(r"#+\s*hints?\b(\s*\d+)?\s*:.*", re.IGNORECASE)
_HINT_GOES_ON = re.compile(r"#\s{2,}\S.*")
_MAGIC = re.compile(r"\s*[%!]|\s*[\w.]+\?{1,2}\s*$|.*=\s*[%!]\s*\w")


@dataclass(frozen=True)
class Origin:
    """Where a cell comes from, for messages and for the comment above its block."""

    module: str  # "02_loops"
    path: Path | None
    cell: Cell
    exercise: int | None = None

    def error(self, message: str, line: int | None = None, hint: str | None = None) -> UserError:
        """A UserError at a line of the cell."""
        lines = self.cell.source.split("\n")
        text = lines[line - 1] if line and line <= len(lines) else None
        text = text.replace("\0", "\\x00") if text else text
        return UserError(
            message, path=self.path, cell=self.cell.label, line=line, text=text, hint=hint
        )

    def warning(self, message: str, line: int) -> str:
        return str(self.error(message, line))

    def __str__(self) -> str:
        return f"{self.module} {self.cell.label}"


@dataclass
class Block:
    """What one cell adds to one file of the package."""

    origin: Origin
    target: str
    tree: ast.Module
    names: Names
    public: dict[str, int]  # name -> line
    imports: list[Import]
    body: str
    docstring: str | None = None
    missing: list[str] = field(default_factory=list)  # what is not written yet
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def title(self) -> str:
        """The comment line that names the cell."""
        what = self.origin.cell.grade_id or ", ".join(list(self.public)[:3])
        line = f"# {self.origin.module}: {what or self.origin.cell.label}"
        return line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 3] + "..."


def read(origin: Origin, target: str, *, first: bool = False) -> Block:
    """The block that a cell gives; UserError with its line where it can give none.

    first : the cell opens its file, so that a string at its top is the file's docstring
    """
    source = origin.cell.source
    tree = _parse(origin)
    _refuse_statements(origin, tree, target)
    found = scan.of_tree(tree)
    stubs = _stubs(origin, tree)
    docstring = tree.body[0] if first and tree.body and _is_docstring(tree.body[0]) else None
    body, imports = _Body(origin, tree, stubs, docstring).split()
    block = Block(
        origin=origin,
        target=target,
        tree=tree,
        names=found,
        public=public_names(tree),
        imports=imports,
        body=body,
        missing=[s.name for s in stubs],
    )
    if docstring is not None:
        block.docstring = ast.get_source_segment(source, docstring)
    block.warnings = [origin.warning(*w) for w in _runs_on_import(tree)]
    return block


def _parse(origin: Origin) -> ast.Module:
    source = origin.cell.source
    for number, line in enumerate(source.split("\n"), 1):
        if "\0" in line:
            raise origin.error("a null byte in the cell", number, "delete it")
        try:
            line.encode("utf-8")
        except UnicodeEncodeError:
            raise origin.error("half a character: this is no text", number) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(source, "<cell>", "exec", dont_inherit=True)  # e.g. return outside of a def
    except SyntaxError as error:
        raise _does_not_parse(origin, error) from None
    except (ValueError, RecursionError, MemoryError):
        raise origin.error("does not parse: nested too deep") from None
    return tree


def _does_not_parse(origin: Origin, error: SyntaxError) -> UserError:
    lines = origin.cell.source.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    first = next((n for n, s in enumerate(lines, 1) if s.strip() and s.lstrip()[0] != "#"), 1)
    for number in (line, first):
        if _MAGIC.match(lines[number - 1]):
            return origin.error(
                "a magic or shell line cannot go into the package",
                number,
                "move it to a cell of its own, without #| export",
            )
    return origin.error(f"does not parse: {error.msg}", line)


def _refuse_statements(origin: Origin, tree: ast.Module, target: str) -> None:
    """Imports that mean something else in a package, and names that the exporter writes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise origin.error(
                "a relative import works in no notebook",
                node.lineno,
                f"write the whole name: from {PACKAGE}.... import ...",
            )
        if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
            raise origin.error(
                "import * hides which names the file has", node.lineno, "import the names by name"
            )
        for name in _imported_modules(node):
            if name == import_name(target) or name.startswith(import_name(target) + "."):
                raise origin.error(f"{name} would import itself", node.lineno)
            if name.split(".")[0] == "tito":
                raise origin.error("the package never imports tito", node.lineno)
    for name, line in public_names(tree, private=True).items():
        if name == "__all__":
            raise origin.error(
                "the exporter writes __all__ itself", line, "begin private names with _"
            )


def _imported_modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [a.name for a in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
    return []


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _runs_on_import(tree: ast.Module) -> list[tuple[str, int]]:
    """Warnings for calls and the like that every import of the file would run."""
    return [
        ("this runs whenever the package is imported", n.lineno)
        for n in tree.body
        if isinstance(n, ast.Expr) and not isinstance(n.value, ast.Constant)
    ]


def public_names(tree: ast.Module, private: bool = False) -> dict[str, int]:
    """Names that the cell makes for users of the package: name -> line.

    Functions, classes and assigned names (tuples, annotated ones, those in if, try, with), but
    not what a loop leaves behind, an import, or a `__main__` guard.
    """
    found: dict[str, int] = {}
    _collect(tree.body, found)
    imported = {n for s in _own_statements(tree.body) for n in _import_names(s)}
    return {
        n: line for n, line in found.items() if private or not (n.startswith("_") or n in imported)
    }


def _collect(statements: Iterable[ast.stmt], found: dict[str, int]) -> None:
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.setdefault(node.name, node.lineno)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                found.update(_target_names(target))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found.update(_target_names(node.target))
        elif type(node).__name__ == "TypeAlias":
            found[node.name.id] = node.lineno
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                found.pop(getattr(target, "id", ""), None)
        elif not isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            _collect(_inner(node), found)


def _target_names(target: ast.expr) -> dict[str, int]:
    if isinstance(target, ast.Name):
        return {target.id: target.lineno}
    if isinstance(target, ast.Starred):
        return _target_names(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return {n: line for t in target.elts for n, line in _target_names(t).items()}
    return {}


def _inner(node: ast.stmt) -> list[ast.stmt]:
    """The statements inside an if, try, with or match that run when the file is imported."""
    inner: list[ast.stmt] = []
    if not _is_main_guard(node):
        inner += getattr(node, "body", [])
    for handler in getattr(node, "handlers", []) + getattr(node, "cases", []):
        inner += handler.body
    return inner + getattr(node, "orelse", []) + getattr(node, "finalbody", [])


def _is_main_guard(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides)


def _own_statements(statements: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    for node in statements:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from _own_statements(_inner(node))


def _import_names(node: ast.stmt) -> list[str]:
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return []
    return [i.bound for i in _imports_of(node)]


def _imports_of(node: ast.Import | ast.ImportFrom, **comments) -> list[Import]:
    if isinstance(node, ast.Import):
        return [Import(a.name, None, _renamed(a), **comments) for a in node.names]
    return [Import(node.module or "", a.name, _renamed(a), **comments) for a in node.names]


def _renamed(alias: ast.alias) -> str | None:
    return alias.asname if alias.asname != alias.name else None


@dataclass(frozen=True)
class _Stub:
    """A statement `raise NotImplementedError()` of an exercise, and the name it stands in."""

    node: ast.Raise
    name: str
    on_import: bool  # outside of any function, where it would make the file unimportable


def _stubs(origin: Origin, tree: ast.Module) -> list[_Stub]:
    if not origin.cell.solution:
        return []
    found = []
    for statement in tree.body:
        name = getattr(statement, "name", origin.cell.grade_id or origin.cell.label)
        in_functions = {
            part
            for node in ast.walk(statement)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            for part in ast.walk(node)
        }
        for node in ast.walk(statement):
            if isinstance(node, ast.Raise) and _is_bare_stub(node):
                found.append(_Stub(node, name, node not in in_functions))
    return found


def _is_bare_stub(node: ast.Raise) -> bool:
    error = node.exc
    if isinstance(error, ast.Call) and not error.args and not error.keywords:
        error = error.func
    return isinstance(error, ast.Name) and error.id == "NotImplementedError"


class _Body:
    """Takes the lines of a cell apart: what stays, and the imports that move to the top."""

    def __init__(
        self, origin: Origin, tree: ast.Module, stubs: list[_Stub], docstring: ast.stmt | None
    ) -> None:
        self.origin = origin
        self.source = origin.cell.source
        self.lines = self.source.split("\n")
        self.tree = tree
        self.comments = _comments(self.source)
        # line -> the lines that stand there instead
        self.instead: dict[int, list[str]] = {}
        self.imports: list[Import] = []
        for stub in stubs:
            self._say_what_is_missing(stub)
        if docstring is not None:
            self._drop(docstring)

    def split(self) -> tuple[str, list[Import]]:
        for line in self._notes_of_the_notebook():
            self.instead[line] = []
        for group in _sharing_lines(self.tree.body):
            if any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in group):
                self._take_imports(group)
        return self._joined(), self.imports

    def _own_line(self, number: int) -> bool:
        return number in self.comments and self.lines[number - 1].lstrip().startswith("#")

    def _notes_of_the_notebook(self) -> set[int]:
        """Lines of directives, markers, task notes and hints."""
        drop = {d.line for d in self.origin.cell.directives}
        in_hint = False
        for number in sorted(self.comments):
            text = self.comments[number]
            if not self._own_line(number):
                in_hint = False
                continue
            goes_on = in_hint and number - 1 in drop and _HINT_GOES_ON.fullmatch(text)
            in_hint = bool(_HINT.fullmatch(text) or goes_on)
            if in_hint or _MARKER.search(text) or _TASK.fullmatch(text):
                drop.add(number)
        return drop

    def _drop(self, node: ast.stmt) -> None:
        for line in range(node.lineno, node.end_lineno + 1):
            self.instead[line] = []

    def _take_imports(self, group: list[ast.stmt]) -> None:
        first, last = group[0].lineno, group[-1].end_lineno
        beside = " ".join(self.comments[n] for n in range(first, last + 1) if n in self.comments)
        above: list[str] = []
        line = first - 1
        while self._own_line(line) and line not in self.instead:
            above.insert(0, self.lines[line - 1].strip())
            self.instead[line] = []
            line -= 1
        rest: list[str] = []
        for node in group:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imports += _imports_of(node, above=tuple(above), beside=beside)
            else:
                rest += (ast.get_source_segment(self.source, node) or "").split("\n")
        for number in range(first, last + 1):
            self.instead[number] = []
        self.instead[first] = rest

    def _say_what_is_missing(self, stub: _Stub) -> None:
        """The stub's line with a message, so that who calls it knows what to do."""
        node = stub.node
        line = self.lines[node.lineno - 1]
        before = line.encode()[: node.col_offset].decode()
        indent = before[: len(before) - len(before.lstrip())]
        if before.rstrip().endswith(":"):
            indent += "    "
        self._drop(node)
        if stub.on_import:
            instead = [f"{indent}pass"] if indent else []
        else:
            instead = _raise(not_written(stub.name, self.origin), indent)
        self.instead[node.lineno] = [before.rstrip(), *instead] if before.strip() else instead

    def _joined(self) -> str:
        """What is left; where lines went between two gaps, the wider gap stays."""
        kept: list[str] = []
        before = after = 0  # empty lines above and below what was dropped
        in_gap = True
        for number, line in enumerate(self.lines, 1):
            if number in self.instead:
                kept += self.instead[number]
                in_gap, before, after = not self.instead[number], _empty_at_end(kept), 0
            elif line.strip():
                kept.append(line)
                in_gap = False
            elif not in_gap:
                kept.append(line)
            else:
                after += 1
                if kept and after > before and not kept[-1].rstrip().endswith(":"):
                    kept.append(line)
        return "\n".join(kept).rstrip()


def _empty_at_end(lines: list[str]) -> int:
    count = 0
    while count < len(lines) and not lines[-1 - count].strip():
        count += 1
    return count


def not_written(name: str, origin: Origin) -> str:
    """What calling an unwritten kernel says."""
    number = origin.module[:2]
    which = f"exercise {origin.exercise}" if origin.exercise else "an exercise"
    start = f": tito start {number}" if number.isdigit() else ""
    return f"{name} is {which} of {origin.module}{start}"


def _raise(message: str, indent: str) -> list[str]:
    line = f'{indent}raise NotImplementedError("{message}")'
    if len(line) <= LINE_LENGTH:
        return [line]
    return [f"{indent}raise NotImplementedError(", f'{indent}    "{message}"', f"{indent})"]


def _sharing_lines(body: list[ast.stmt]) -> list[list[ast.stmt]]:
    """The statements, those on one line (`import a; b = 1`) together."""
    groups: list[list[ast.stmt]] = []
    for node in body:
        if groups and node.lineno <= groups[-1][-1].end_lineno:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}
