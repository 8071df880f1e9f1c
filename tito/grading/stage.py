"""The folder that a student's process runs from: only what it may know.

    root/stage.json   how to start (limits, what may be read)
    root/lib/         first on its path: a thin tito, the packages of earlier modules
                      (a tito that many stages share lies in a library of its own)
    root/work/        its working folder, the only place it can write to

The thin tito has the names that cells import, so that `from tito.checks import expect_close` in a
given cell works; using one raises, since checks run with the judge. Beside them stand copies of
the few files of tito that the process runs on.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import py_compile
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tito.grading.limits import Limits
from tito.grading.sandbox import readable_paths

SOURCES = Path(__file__).resolve().parent.parent  # the tito folder
STAGED = (
    "counted.py",
    "inside.py",
    "grading/wire/*.py",
    "grading/lanes.py",
    "grading/forkserver.py",
    "grading/child/*.py",
    "grading/sandbox/*.py",
)
FACES = ("checks", "machine")

_FACE = '''"""Stands for tito.{name} while work is graded: names that raise when they are used."""

__all__ = {names!r}


class CheckFailed(AssertionError):
    pass


class _OnlyInTests:
    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "tito.{name}." + self.__name__ + " cannot be used here: checks and clocks stay with"
            " the judge while work is graded. Call it in a test or measure cell only."
        )


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _OnlyInTests(name)
'''
_HERE = '"""Nothing to do while work is graded: the path is the judge\'s business."""\n'
_EMPTY_PACKAGE = '"""Kernels of the modules before this one."""\n'


@dataclass
class Stage:
    """A staging folder for one hand-in; a context manager that removes it.

    root    : everything below is visible to the student's process
    library : first on its path: a thin tito, the packages of earlier modules (read only)
    scratch : its working folder, the only place it can write to
    shared  : where these lie instead, see `make_library` and `make_package`
    arena   : descriptor that its process inherits: memory shared with the judge
    """

    root: Path
    shared: tuple[Path, ...] = ()
    arena: int | None = None

    @property
    def library(self) -> Path:
        return self.root / "lib"

    @property
    def libraries(self) -> list[Path]:
        """The folders to put on the path, first to last."""
        own = [self.library] if self.library.is_dir() else []
        return [*own, *self.shared]

    @property
    def scratch(self) -> Path:
        return self.root / "work"

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def prepare(self, limits: Limits) -> None:
        """Write down how the next process is to start, and give it its cells' folder."""
        (self.scratch / ".cells").mkdir(exist_ok=True)
        config = {
            "readable": [str(path) for path in [*readable(), *self.libraries]],
            "output": limits.output,
            "limits": {
                "memory_bytes": limits.memory,
                "cpu_seconds": limits.notebook + 60,  # the judge ends it sooner
                "file_bytes": limits.files,
            },
        }
        (self.root / "stage.json").write_text(json.dumps(config), encoding="utf-8")

    def remove(self) -> None:
        """Delete the folder; may be repeated."""
        remove_folder(self.root)


@lru_cache(maxsize=1)
def readable() -> list[Path]:
    """Found once: the packages of this Python stay where they are while it runs."""
    return readable_paths()


def remove_folder(folder: Path) -> None:
    """Delete a folder that student code may have written to; may be repeated."""
    _open_folders(folder)
    shutil.rmtree(folder, ignore_errors=True)


def make_library() -> Path:
    """A new folder with the thin tito, for all stages of a batch; the caller removes it."""
    library = Path(tempfile.mkdtemp(prefix="tito-")).resolve()
    try:
        _stage_tito(library / "tito")
    except BaseException:
        remove_folder(library)
        raise
    return library


def make_package(package: Path | None = None, modules: list[str] | None = None) -> Path:
    """A new folder with the package of earlier modules, for all stages of a batch, as bytecode too.

    The caller removes it. package, modules : as for `make_stage`
    """
    library = Path(tempfile.mkdtemp(prefix="tito-")).resolve()
    try:
        _stage_package(library / "tinykernels", package, modules)
        for source in library.rglob("*.py"):
            # Of the source that lies beside it, whatever its time: nobody writes there any more.
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(source), quiet=2, invalidation_mode=mode)
    except BaseException:
        remove_folder(library)
        raise
    return library


def make_stage(
    package: Path | None = None,
    modules: list[str] | None = None,
    files: list[Path] | None = None,
    library: Path | None = None,
    packages: Path | None = None,
) -> Stage:
    """A new staging folder.

    package : a tinykernels folder; None stages an empty package
    modules : which of its files and sub-packages to stage ("loops", "simd"); None for all
    files   : data files of the master, copied into the working folder
    library : a folder of `make_library` that serves instead of one in this folder
    packages : a folder of `make_package` that does
    """
    shared = tuple(folder for folder in (packages, library) if folder is not None)
    stage = Stage(Path(tempfile.mkdtemp(prefix="tito-")).resolve(), shared)
    try:
        stage.scratch.mkdir()
        if None in (library, packages):
            stage.library.mkdir()
        if library is None:
            _stage_tito(stage.library / "tito")
        if packages is None:
            _stage_package(stage.library / "tinykernels", package, modules)
        for file in files or []:
            if file.is_file() and not file.is_symlink():
                shutil.copyfile(file, stage.scratch / file.name)
    except BaseException:
        stage.remove()
        raise
    return stage


def _stage_tito(target: Path) -> None:
    (target / "grading").mkdir(parents=True)
    for folder in (target, target / "grading"):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (target / "here.py").write_text(_HERE, encoding="utf-8")
    for name in FACES:
        text = _FACE.format(name=name, names=_public_names(f"tito.{name}"))
        (target / f"{name}.py").write_text(text, encoding="utf-8")
    for pattern in STAGED:
        for source in SOURCES.glob(pattern):
            _copy_compiled(source, target / source.relative_to(SOURCES))


def _public_names(module: str) -> list[str]:
    """What `from module import *` gives."""
    loaded = importlib.import_module(module)
    return sorted(getattr(loaded, "__all__", None) or [n for n in vars(loaded) if n[0] != "_"])


def _copy_compiled(source: Path, target: Path) -> None:
    """Stage a source file as bytecode, so that no student process compiles it again."""
    target.parent.mkdir(parents=True, exist_ok=True)
    compiled = Path(importlib.util.cache_from_source(str(source)))
    if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
        with suppress(OSError):  # a read-only installation: slower, not wrong
            py_compile.compile(str(source), quiet=2)
    if compiled.exists():
        shutil.copyfile(compiled, target.with_suffix(".pyc"))
    else:
        shutil.copyfile(source, target)


def _stage_package(target: Path, package: Path | None, modules: Iterable[str] | None) -> None:
    """Copy the package, or the named parts of it. An __init__ that needs the rest is left out."""
    target.mkdir()
    (target / "__init__.py").write_text(_EMPTY_PACKAGE, encoding="utf-8")
    if package is None:
        return
    for entry in sorted(package.iterdir()):
        if entry.is_symlink() or entry.name == "__pycache__":
            continue
        if modules is not None and entry.stem not in modules:
            continue
        if entry.is_dir():
            shutil.copytree(entry, target / entry.name, ignore=_links_and_caches)
        elif entry.is_file():
            shutil.copyfile(entry, target / entry.name)


def _links_and_caches(folder: str, names: list[str]) -> list[str]:
    return [n for n in names if n == "__pycache__" or os.path.islink(os.path.join(folder, n))]


def _open_folders(folder: Path) -> None:
    """Student code may have closed a folder of its own; nothing above it or behind a link counts.

    Only folders that lie in this one are changed: its parent is not ours.
    """
    with suppress(OSError):
        for path, names, _ in os.walk(folder):
            for name in names:
                inner = os.path.join(path, name)
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)
