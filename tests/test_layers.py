"""Imports only ever point down; heavy libraries are imported where they are used, not before."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tito.export import built_from

ROOT = Path(__file__).parents[1]

# From the bottom up. A part may import parts of the lines above it here, and itself; parts on one
# line do not know each other.
LAYERS = [
    ["errors"],
    ["files"],
    ["counted", "forbid", "inside", "near"],
    ["course"],
    ["notebook"],
    ["export", "lint", "strip", "sync"],
    ["release.version", "template"],
    ["machine"],
    ["checks"],
    ["here"],  # what a module's first cell imports
    ["bench"],
    [
        "grading.example_handins",
        "grading.limits",
        "grading.pages",
        "grading.quiet",
        "grading.roster",
        "grading.spreadsheet",
        "grading.times",
        "grading.wording",
    ],
    [
        "grading.classroom",
        "grading.forkserver",
        "grading.lanes",
        "grading.secret",
        "grading.wire",
    ],
    ["grading.sandbox"],
    ["grading.stage"],
    ["grading.child", "grading.engine", "grading.executors"],
    ["grading.judge"],
    ["grading.collect"],
    ["grading.handins", "grading.store", "grading.task"],
    ["grading.audit", "grading.batch", "grading.book", "grading.feedback", "grading.overview"],
    [
        "grading.collected",
        "grading.latepenalty",
        "grading.newclass",
        "grading.refused",
        "grading.report",
        "grading.timing",
        "grading.waiting",
    ],
    ["grading.bench"],
    ["release"],
    ["commands"],
    ["cli"],
    ["__main__"],
]
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}

# What of tito the untrusted side may see: it is staged alone, without the rest.
STAGED = {
    "counted",
    "inside",
    "grading.forkserver",
    "grading.lanes",
    "grading.sandbox",
    "grading.wire",
}

HEAVY = {
    "IPython",
    "ipykernel",
    "jupyter_client",
    "jupytext",
    "matplotlib",
    "nbclient",
    "nbconvert",
    "nbformat",
    "nbgrader",
    "numba",
}

TITO = sorted((ROOT / "tito").rglob("*.py"))
PACKAGE = sorted((ROOT / "tinykernels").rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, top_only: bool = False) -> list[tuple[str, int]]:
    """(dotted name, line) of every import; of a `from` import each name it could mean."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = module_of(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found = []
    for node in at_top(tree) if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(a.name, node.lineno) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            found += [(f"{name}.{a.name}", node.lineno) for a in node.names]
    return found


def at_top(tree: ast.AST):
    """Nodes that run when the file is imported, and those of no `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from at_top(node)


def part_of(name: str) -> str | None:
    """The part of tito that a dotted name belongs to; None for what is not ours."""
    words = name.split(".")
    if words[0] != "tito":
        return None
    for length in (2, 1):
        part = ".".join(words[1 : 1 + length])
        if part in RANK:
            return part
    return ""  # tito itself (its version), or a name that stands nowhere in the list


def home(path: Path) -> str:
    return part_of(module_of(path)) or ""


def arrows_up(path: Path) -> list[str]:
    here = home(path)
    found = []
    for name, line in imported(path):
        part = part_of(name)
        if part and part != here and RANK[part] >= RANK[here]:
            found.append(f"{path.relative_to(ROOT)}:{line}: {here} imports {part}")
    return found


def test_every_file_of_tito_has_its_place():
    packages = {"tito", "tito.grading"}
    lost = [str(p) for p in TITO if not home(p) and module_of(p) not in packages]
    assert lost == [], "say in LAYERS where these stand"


# Of the text of the files alone.
@pytest.mark.newest
@pytest.mark.parametrize("path", [p for p in TITO if home(p)], ids=module_of)
def test_imports_point_down(path):
    assert arrows_up(path) == []


def test_an_arrow_up_is_seen(tmp_path, monkeypatch):
    """The test above can fail: each way to write an import is read."""
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "tito" / "notebook" / "model.py"
    path.parent.mkdir(parents=True)
    lines = [
        "import tito.export.plan",
        "from tito import strip",
        "from tito.grading.judge import grade",
        "from .. import cli",
        "from ..release import kit",
        "def f():\n    from tito.commands import author",
    ]
    for line in lines:
        path.write_text(line)
        assert len(arrows_up(path)) == 1, line
    path.write_text("from tito.files import read_text\nfrom . import cells\nimport numpy")
    assert arrows_up(path) == []


@pytest.mark.parametrize("path", [p for p in TITO if home(p) == "grading.child"], ids=module_of)
def test_the_untrusted_side_sees_only_what_is_staged_with_it(path):
    seen = {part_of(name) for name, _ in imported(path)} - {None, "grading.child"}
    # `from tito.grading import wire` names the package on the way.
    assert seen - {""} <= STAGED


def test_the_judge_knows_no_course_tree_and_no_database():
    judge = [p for p in TITO if home(p) == "grading.judge"]
    assert judge
    for path in judge:
        names = {n.split(".")[0] if part_of(n) is None else part_of(n) for n, _ in imported(path)}
        assert not names & {"course", "sqlite3", "sqlalchemy", "nbgrader"}, path


@pytest.mark.parametrize(
    ("file", "allowed"),
    [
        # IPython only where there is one: without it magics are nothing.
        *((f"forbid/{p.name}", {"tito", "IPython"}) for p in TITO if home(p) == "forbid"),
        ("counted.py", {"numpy"}),
        ("grading/wire/values.py", {"numpy", "tito"}),
        ("grading/wire/arrays.py", {"numpy", "tito"}),
        ("grading/wire/link.py", {"msgpack", "numpy", "tito"}),
        ("grading/lanes.py", set()),
        ("grading/forkserver.py", set()),
    ],
)
def test_what_is_staged_or_pure_needs_little(file, allowed):
    tops = {name.split(".")[0] for name, _ in imported(ROOT / "tito" / file)}
    assert tops - set(sys.stdlib_module_names) <= allowed


@pytest.mark.newest
@pytest.mark.parametrize("path", [*TITO, *PACKAGE], ids=module_of)
def test_heavy_libraries_wait_until_they_are_used(path):
    if path in PACKAGE and after_06(path):
        pytest.skip("from module 07 on the package stands on Numba")
    tops = {name.split(".")[0] for name, _ in imported(path, top_only=True)}
    assert tops & HEAVY == set()


def after_06(path: Path) -> bool:
    module = built_from(path.read_text(encoding="utf-8"))
    return module is not None and int(module[:2]) > 6


@pytest.mark.parametrize("path", PACKAGE, ids=module_of)
def test_the_package_knows_nothing_of_tito(path):
    tops = {name.split(".")[0] for name, _ in imported(path)}
    assert "tito" not in tops
    allowed = {"numpy", "tinykernels"} | ({"numba", "llvmlite"} if after_06(path) else set())
    assert tops - set(sys.stdlib_module_names) <= allowed


def test_the_package_of_loops_imports_without_the_course_s_libraries():
    code = (
        "import sys\n"
        f"for name in {sorted(HEAVY | {'tito'})}: sys.modules[name] = None\n"
        "import tinykernels.loops as loops\n"
        "assert loops.relu_loops\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
