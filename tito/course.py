"""Where a course lies, which modules it has, and which one a word names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tito.errors import UsageError

MODULE_NAME = re.compile(r"(\d\d)_([a-z][a-z0-9_]*)")


@dataclass(frozen=True)
class ModuleRef:
    """One module of a course: its name, number and the two files that hold it."""

    name: str
    folder: Path
    in_kit: bool = False
    given: Path | None = None  # the file itself, where the user named a file

    @property
    def number(self) -> int | None:
        match = MODULE_NAME.fullmatch(self.name)
        return int(match[1]) if match else None

    @property
    def py(self) -> Path:
        return self.folder / f"{self.name}.py"

    @property
    def ipynb(self) -> Path:
        return self.folder / f"{self.name}.ipynb"

    @property
    def source(self) -> Path:
        """The file that commands read: as named by the user, else the .py (in a kit the .ipynb)."""
        if self.given is not None:
            return self.given
        return self.ipynb if self.in_kit or not self.py.exists() else self.py


@dataclass(frozen=True)
class Course:
    """A folder with `modules/` and `tinykernels/`: the course repository or a student's kit."""

    root: Path

    @property
    def is_kit(self) -> bool:
        return self.released.is_dir()

    @property
    def released(self) -> Path:
        """Where a kit keeps the modules as they were handed out."""
        return self.root / ".tito" / "released"

    @property
    def package(self) -> Path:
        return self.root / "tinykernels"

    @cached_property
    def modules(self) -> list[ModuleRef]:
        """All modules in the order of their numbers."""
        folders = sorted(p for p in (self.root / "modules").iterdir() if p.is_dir())
        return [ModuleRef(p.name, p, self.is_kit) for p in folders if MODULE_NAME.fullmatch(p.name)]

    def resolve(self, word: str) -> ModuleRef:
        """The module that `word` names: "5", "05", "blocking", "05_blocking" or a path."""
        path = Path(word)
        if path.suffix in (".py", ".ipynb"):
            return self._of_file(path)
        found = [m for m in self.modules if _names(m, word.strip("/").lower())]
        if not found and path.is_dir():
            found = [m for m in self.modules if m.folder.resolve() == path.resolve()]
        if len(found) == 1:
            return found[0]
        have = ", ".join(m.name for m in self.modules) or "none"
        raise UsageError(f"no module is called {word!r}", hint=f"one of: {have}")

    def _of_file(self, path: Path) -> ModuleRef:
        if not path.is_file():
            raise UsageError("no such file", path=path)
        folder = path.resolve().parent
        for module in self.modules:
            if module.folder.resolve() == folder and module.name == path.stem:
                return ModuleRef(module.name, module.folder, self.is_kit, path)
        return ModuleRef(path.stem, path.parent, self.is_kit, path)


def _names(module: ModuleRef, word: str) -> bool:
    number, _, rest = module.name.partition("_")
    return word in (module.name, number, rest) or (word.isdigit() and int(word) == int(number))


def find_root(start: Path | None = None) -> Path:
    """The nearest folder upwards from `start` (default: here) that holds a course."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "modules").is_dir() and (folder / "tinykernels").is_dir():
            return folder
    raise UsageError(
        f"no course here: neither {here} nor a folder above it holds modules/ and tinykernels/",
        hint="change into your course folder (cd) and call tito again",
    )


def find_course(start: Path | None = None) -> Course:
    return Course(find_root(start))
