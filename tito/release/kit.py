"""A kit: the course folder that students get, built in memory, searched, then written whole."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path, PurePosixPath

import tito
from tito import strip
from tito.course import Course, ModuleRef
from tito.errors import UsageError, UserError
from tito.notebook import Notebook, load, read_ipynb
from tito.notebook.points import display
from tito.release import leaks, texts, version

PACKAGE = "tinykernels"
RELEASED = ".tito/released"
MANIFEST = f"{RELEASED}/manifest.json"

# Never part of a kit, wherever they lie.
_SKIPPED = ("__pycache__", ".ipynb_checkpoints")

# Of tito: the model of a module holds answers, and a new module begins with them.
_AUTHORS_ONLY = ("template.py",)


@dataclass(frozen=True)
class Kit:
    """A kit before it is written: its files by name, "/" between folders."""

    files: Mapping[str, bytes]
    modules: list[str]
    secrets: leaks.Secrets = field(repr=False, default_factory=lambda: leaks.Secrets({}))


def generate(course: Course, out: Path, solved: frozenset[str] = frozenset()) -> Kit:
    """Make a kit of the course in `out`, a new or empty folder; nothing on any failure.

    solved : names of modules whose reference exports go along
    raises UserError where a marker is out of pair or a file of the kit would give an answer away
    """
    refuse_unless_free(out)
    kit = build(course, solved)
    leaks.check(kit.files, kit.secrets, leaks.allowed_runs(course.root / leaks.ALLOWED_FILE))
    write(kit.files, out)
    return kit


def build(course: Course, solved: frozenset[str] = frozenset()) -> Kit:
    """The kit in memory, not yet searched for leaks."""
    if course.is_kit:
        raise UsageError(
            "this folder is a kit: it holds no answers, so no other kit can be made of it",
            path=course.root,
            hint="call tito generate in the course's repository",
        )
    if not course.modules:
        raise UserError("no module to hand out", path=course.root / "modules")
    files: dict[str, bytes] = {}
    manifest: dict[str, dict] = {}
    secrets = []
    given: dict[str, bytes] = {}
    masters = {ref.name: load(ref.source) for ref in course.modules}
    students = {name: strip.student_version(master) for name, master in masters.items()}
    packages = _packages(students)
    for ref in course.modules:
        master, student = masters[ref.name], students[ref.name]
        text = version.as_released(student).encode()
        files[f"modules/{ref.name}/{ref.name}.ipynb"] = text
        files[f"{RELEASED}/{ref.name}.ipynb"] = text
        files.update(_data_files(ref))
        package = packages[ref.name]
        manifest[ref.name] = _entry(text, master, package, ref.name in solved)
        if ref.name in solved:
            given.update(_solved(course, package))
        files.update(package)
        secrets.append(
            leaks.secrets_of(master, student, ref.name, solutions=ref.name not in solved)
        )
    files.update(given)
    files.update(_solved(course, [f"{PACKAGE}/__init__.py"]))
    files.update(_tito())
    files.update(_front(course, manifest))
    files[MANIFEST] = as_json({"version": 1, "tito": tito.__version__, "modules": manifest})
    # An earlier module's answers go along on purpose: what a later one shares is none of its own.
    secret = leaks.Secrets.together(secrets).without(text.decode() for text in given.values())
    return Kit(files, list(manifest), secret)


def solved_modules(course: Course, words: str | None) -> frozenset[str]:
    """The modules that "01-04", "2" or "01,03" name.

    raises UsageError for a number that no module has
    """
    chosen: set[str] = set()
    for part in (words or "").replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        if not part:
            continue
        if dash and first.isdigit() and last.isdigit():
            found = {m.name for m in course.modules if int(first) <= m.number <= int(last)}
            if not found:
                raise UsageError(f"--solved {words}: no module has a number from {first} to {last}")
            chosen |= found
        else:
            chosen.add(course.resolve(part).name)
    return frozenset(chosen)


def _entry(text: bytes, master: Notebook, package: Iterable[str], solved: bool) -> dict:
    """What the kit remembers of a module: its hash, its points, the files that it exports to."""
    graded = [c for c in master.cells if c.points is not None]
    by_kind = {
        "visible": [c for c in graded if not c.hidden and not c.manual],
        "hidden": [c for c in graded if c.hidden and not c.manual],
        "manual": [c for c in graded if c.manual],
    }
    points = {
        kind: display(sum((c.points for c in cells), Fraction(0)))
        for kind, cells in by_kind.items()
    }
    return {
        "sha256": hashlib.sha256(text).hexdigest(),
        "points": points,
        "exports": sorted(package),
        "solved": solved,
    }


def _data_files(ref: ModuleRef) -> dict[str, bytes]:
    """Data and pictures that a module needs; never another form of the module itself."""
    found = {}
    for path in _files(ref.folder):
        if path.suffix not in (".py", ".ipynb") and ".orig" not in path.name:
            name = PurePosixPath("modules", ref.name, *path.relative_to(ref.folder).parts)
            found[str(name)] = path.read_bytes()
    return found


def _packages(students: Mapping[str, Notebook]) -> dict[str, dict[str, bytes]]:
    """By module what exporting its student version makes: given code, and stubs that name their
    exercise.
    """
    from tito.export import STUB_LINE, plan_each

    made = {}
    for name, planned in plan_each(list(students.items())).items():
        made[name] = {}
        for file, text in planned.items():
            first, _, rest = text.partition("\n")
            made[name][f"{PACKAGE}/{file}"] = f"{first}\n{STUB_LINE}\n{rest}".encode()
    return made


def _solved(course: Course, names: Iterable[str]) -> dict[str, bytes]:
    """Files of the course's own package."""
    files = {}
    for name in names:
        path = course.root / name
        if not path.is_file():
            raise UserError("not exported yet", path=path, hint="tito export --all")
        files[name] = path.read_bytes()
    return files


def is_stub(path: Path) -> bool:
    """Whether a file of the package is still as a kit brought it."""
    from tito.export import STUB_LINE

    try:
        return STUB_LINE in path.read_text(encoding="utf-8").split("\n")[:4]
    except (OSError, ValueError):
        return False


def _tito() -> dict[str, bytes]:
    """The command line itself, the code that is running now."""
    home = Path(tito.__file__).parent
    return {
        str(PurePosixPath("tito", *path.relative_to(home).parts)): path.read_bytes()
        for path in _files(home)
        if path.name not in _AUTHORS_ONLY
    }


def _files(folder: Path) -> list[Path]:
    """The files of a folder and those below, without caches and hidden ones, in a fixed order."""
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(p in _SKIPPED or p.startswith(".") for p in parts)
        if path.is_file() and not hidden and path.suffix not in (".pyc", ".pyo"):
            found.append(path)
    return found


def _front(course: Course, manifest: Mapping[str, dict]) -> dict[str, bytes]:
    """The files that stand at the top of the folder."""
    numbers = [name[:2] for name in manifest]
    listed = "\n".join(f"- {name}" for name in manifest)
    files = {
        "README.md": texts.README.format(first=numbers[0], modules=listed),
        "Makefile": texts.MAKEFILE,
        ".gitignore": texts.GITIGNORE,
    }
    for name, change in (
        ("requirements.txt", texts.requirements),
        ("pyproject.toml", texts.pyproject),
        ("LICENSE", str),
        (".gitattributes", str),
    ):
        path = course.root / name
        if not path.is_file():
            raise UserError("the kit needs this file of the course", path=path)
        files[name] = change(path.read_text(encoding="utf-8"))
    return {name: text.encode() for name, text in files.items()}


def as_json(value: object) -> bytes:
    """A value as the bytes that a kit keeps it in."""
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


def refuse_unless_free(out: Path) -> None:
    """A kit goes into a new or an empty folder: nobody's files are written over."""
    if out.is_symlink() or out.exists():
        if not out.is_dir():
            raise UsageError("is a file, not a folder for the kit", path=out)
        if any(out.iterdir()):
            raise UsageError(
                "is not empty; nothing was written", path=out, hint="name a new folder"
            )


def write(files: Mapping[str, bytes], out: Path) -> None:
    """Write `files` to `out` whole or not at all: beside it first, then moved."""
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=parent))
    try:
        whole = scratch / "kit"
        for name, data in files.items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if out.is_dir():
            with contextlib.suppress(OSError):
                out.rmdir()
        os.replace(whole, out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def released(course: Course, name: str) -> Notebook:
    """A kit's module as it was handed out; UserError where that file was changed."""
    return read_ipynb(released_bytes(course, name), course.released / f"{name}.ipynb")


def released_bytes(course: Course, name: str) -> bytes:
    """The released notebook's bytes, after a look at their hash."""
    path = course.released / f"{name}.ipynb"
    entry = read_manifest(course)["modules"].get(name)
    if entry is None or not path.is_file():
        raise UserError(
            f"this kit has no release of {name}",
            path=path,
            hint="copy .tito/released from a fresh kit",
        )
    # Line ends may have been changed on the way (git, a mail program); the text may not.
    data = path.read_bytes().replace(b"\r\n", b"\n")
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise UserError(
            "was changed since the kit was made, and cannot serve as the master",
            path=path,
            hint="copy .tito/released from a fresh kit",
        )
    return data


def read_manifest(course: Course) -> dict:
    """The kit's list of releases."""
    path = course.root / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(manifest["modules"], dict):
            return manifest
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise UserError("cannot be read", path=path, hint="copy .tito/released from a fresh kit")
