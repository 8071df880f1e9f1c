"""What an export would write, found out before anything is written; then written in one go."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tito.course import Course, ModuleRef
from tito.errors import UserError
from tito.export import target as targets
from tito.export.cell import Origin
from tito.export.gather import Gathered, gather, raise_all
from tito.export.render import built_from, file_text, is_ours, is_package_file, package_text
from tito.export.resolve import File, circles, clashes
from tito.files import back_up, read_text, write_atomic
from tito.notebook import Notebook, load


@dataclass(frozen=True)
class Missing:
    """An exercise that is not written yet."""

    module: str
    exercise: int | None
    name: str

    def __str__(self) -> str:
        number = f" (exercise {self.exercise})" if self.exercise else ""
        return f"{self.name}{number}"


@dataclass
class ExportPlan:
    """The files that an export makes, whole; nothing of it is on the disk yet.

    files    : path -> text
    stale    : files of ours that these modules made and do not make any more
    warnings : odd things that do not stop an export
    missing  : exercises that are exported as stubs, because they are not written
    failed   : module -> why it is left out (only of a plan that goes on)
    """

    course: Course
    modules: list[str] = field(default_factory=list)
    files: dict[Path, str] = field(default_factory=dict)
    stale: list[Path] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    failed: dict[str, UserError] = field(default_factory=dict)

    @property
    def changes(self) -> dict[Path, str]:
        """path -> "new", "changed" or "removed"."""
        found = {
            path: "changed" if path.exists() else "new"
            for path, text in self.files.items()
            if not path.is_file() or path.read_bytes() != text.encode()
        }
        return {**found, **dict.fromkeys(self.stale, "removed")}


def plan_notebooks(
    notebooks: Sequence[tuple[str, Notebook]], others: Sequence[tuple[str, Notebook]] = ()
) -> tuple[dict[str, str], list[str], list[Missing]]:
    """(files by path in the package, warnings, missing) of named notebooks; touches no disk.

    others : modules that are not exported now, but whose public names and files are taken
    """
    return _plan([gather(*n) for n in notebooks], [gather(*n) for n in others])


def plan_each(notebooks: Sequence[tuple[str, Notebook]]) -> dict[str, dict[str, str]]:
    """By module the files that exporting it alone, among the others, would write; each notebook is
    read once.
    """
    modules = [gather(*n) for n in notebooks]
    return {m.module: _plan([m], [o for o in modules if o is not m])[0] for m in modules}


def _plan(
    modules: Sequence[Gathered], others: Sequence[Gathered]
) -> tuple[dict[str, str], list[str], list[Missing]]:
    problems = [p for m in modules for p in m.problems] + clashes(modules, others)
    if problems:
        raise_all(problems)
    files = [File(m, t) for m in modules for t in m.targets]
    problems = [p for f in files for p in f.problems]
    problems += circles(files, [File(m, t) for m in others for t in m.targets])
    if problems:
        raise_all(problems)
    warnings = [w for m in modules for w in m.warnings] + [w for f in files for w in f.warnings]
    return _texts(files), warnings, [m for g in modules for m in _missing(g)]


def _texts(files: Iterable[File]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in files:
        texts[str(targets.file_of(file.target))] = file_text(file)
        for package in targets.packages_of(file.target):
            path = str(targets.file_of(package + ".__init__"))
            texts[path] = package_text(package)
    return texts


def _missing(module: Gathered) -> list[Missing]:
    names = [(b, n) for b in module.blocks for n in dict.fromkeys(b.missing)]
    return [Missing(module.module, b.origin.exercise, n) for b, n in names]


def plan_export(
    course: Course, modules: Sequence[ModuleRef], *, keep_going: bool = False
) -> ExportPlan:
    """What exporting these modules would do; UserError with every problem found.

    keep_going : a module with a problem is left out (see `failed`), the others are planned
    """
    plan = ExportPlan(course)
    asked = _gathered(course, modules, plan.failed if keep_going else None)
    names = {m.name for m in modules}
    others = _gathered(course, [m for m in course.modules if m.name not in names], {})
    if keep_going:
        asked = [m for m in asked if _exports(m, [*others, *asked], plan.failed)]
    texts, plan.warnings, plan.missing = _plan(asked, others)
    plan.modules = [m.module for m in asked]
    for name, text in texts.items():
        path = course.package / name
        if path.is_dir():
            raise UserError("a folder stands where a file of the package goes", path=path)
        if path.name != "__init__.py" or _may_write_init(path):
            plan.files[path] = text
    plan.stale = _stale(course, plan)
    return plan


def _gathered(
    course: Course, modules: Sequence[ModuleRef], failed: dict[str, UserError] | None
) -> list[Gathered]:
    """The modules' cells; one whose file cannot be read goes to `failed` if there is one."""
    found = []
    for ref in modules:
        try:
            module = gather(ref.name, load(ref.source))
            module.problems += _lost_directives(course, module)
            found.append(module)
        except UserError as error:
            if failed is None:
                raise
            failed[ref.name] = error
    return found


def _lost_directives(course: Course, module: Gathered) -> list[UserError]:
    """Cells of a kit that were handed out with `#| export` and have lost the line: what stands
    in them would be left out without a word."""
    released = course.released / f"{module.module}.ipynb"
    if not released.is_file():
        return []
    marked = {c.grade_id for c in load(released).cells if c.grade_id and c.directive("export")}
    lost = [c for c in module.notebook.cells if c.grade_id in marked and not c.directive("export")]
    return [
        Origin(module.module, module.notebook.path, c).error(
            "this cell was handed out with #| export, which is gone",
            1,
            "write #| export on its first line, above all code",
        )
        for c in lost
    ]


def _exports(module: Gathered, others: list[Gathered], failed: dict[str, UserError]) -> bool:
    """Can this module be exported beside the others? If not, note why."""
    try:
        _plan([module], [m for m in others if m is not module])
    except UserError as error:
        failed[module.module] = error
        return False
    return True


def _may_write_init(path: Path) -> bool:
    """A package folder needs an `__init__.py`; one that somebody wrote is left alone."""
    return not path.exists() or is_ours(read_text(path)[0])


def _stale(course: Course, plan: ExportPlan) -> list[Path]:
    """Files of ours that came from these modules, or from modules that are gone.

    Where a file from elsewhere is exported, its like may have been before it, so that nothing
    says which modules are gone.
    """
    known = {m.name for m in course.modules}
    there = {*known, *plan.failed} - set(plan.modules)
    others = [p for p in sorted(course.package.rglob("*.py")) if p not in plan.files]
    texts = {p: read_text(p)[0] for p in others if p.is_file()}
    made_by = {p: name for p, t in texts.items() if (name := built_from(t))}
    if known.issuperset(plan.modules):
        stale = [p for p, name in made_by.items() if name not in there]
    else:
        stale = [p for p, name in made_by.items() if name in plan.modules]
    for path, text in texts.items():
        if is_package_file(text):
            rest = {*path.parent.rglob("*.py"), *plan.files} - {path, *stale}
            if not any(path.parent in p.parents for p in rest):
                stale.append(path)
    return stale


@dataclass
class Written:
    """What a write did."""

    changes: dict[Path, str]
    backups: dict[Path, Path]  # file that was edited by hand -> its copy


def write(plan: ExportPlan) -> Written:
    """Put the planned files on the disk: all of them, or after an error none."""
    changes = plan.changes
    memory = _Memory(plan.course)
    backups = {
        path: back_up(path, plan.course.root / ".tito" / "backups")
        for path, what in changes.items()
        if what != "new" and memory.edited_by_hand(path)
    }
    before = {path: path.read_bytes() if path.is_file() else None for path in changes}
    try:
        for path in changes:
            if path in plan.files:
                write_atomic(path, plan.files[path])
            else:
                path.unlink()
    except BaseException:
        _put_back(before)
        raise
    _remove_empty_folders(plan)
    memory.note(plan)
    return Written(changes, backups)


def _put_back(before: dict[Path, bytes | None]) -> None:
    for path, data in before.items():
        if data is None:
            path.unlink(missing_ok=True)
        else:
            write_atomic(path, data)


def _remove_empty_folders(plan: ExportPlan) -> None:
    """A folder of the package that holds no file of ours any more goes, with Python's cache."""
    for path in plan.stale:
        folder = path.parent
        while folder != plan.course.package and _is_empty(folder):
            shutil.rmtree(folder)
            folder = folder.parent


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and {p.name for p in folder.iterdir()} <= {"__pycache__"}


class _Memory:
    """Hashes of what exports wrote last, so that an edit by hand is noticed and kept."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.path = course.root / ".tito" / "exported.json"
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = {}
        self.known = known if isinstance(known, dict) else {}

    def _key(self, path: Path) -> str:
        return path.relative_to(self.course.package).as_posix()

    def edited_by_hand(self, path: Path) -> bool:
        if not is_ours(read_text(path)[0]):
            return True
        last = self.known.get(self._key(path))
        return last is not None and last != hashlib.sha256(path.read_bytes()).hexdigest()

    def note(self, plan: ExportPlan) -> None:
        for path, text in plan.files.items():
            self.known[self._key(path)] = hashlib.sha256(text.encode()).hexdigest()
        for path in plan.stale:
            self.known.pop(self._key(path), None)
        write_atomic(self.path, json.dumps(self.known, indent=1, sort_keys=True) + "\n")
