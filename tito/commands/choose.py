"""Which modules a command was called for."""

from __future__ import annotations

from pathlib import Path

from tito.course import ModuleRef, find_course
from tito.errors import UsageError


def modules(words: list[str], every: bool = False) -> list[ModuleRef]:
    """The modules that `words` name; all of the course folder with `every` or without a word.

    A .py or .ipynb file, or a folder of such, can be named outside any course folder too.
    """
    if words and every:
        raise UsageError("name modules or say --all, not both")
    try:
        course = find_course()
    except UsageError:
        if not words or not all(_is_file_name(w) or Path(w).is_dir() for w in words):
            raise
        return [ref for w in words for ref in _loose(Path(w))]
    refs = [course.resolve(w) for w in words] if words else course.modules
    if not refs:
        raise UsageError("this course folder has no modules", path=course.root / "modules")
    return refs


def _is_file_name(word: str) -> bool:
    return Path(word).suffix in (".py", ".ipynb")


def _loose(path: Path) -> list[ModuleRef]:
    """A file outside any course folder, or the modules that lie in a folder there."""
    if path.is_file():
        return [ModuleRef(path.stem, path.parent, given=path)]
    stems = sorted({p.stem for p in path.glob("*") if _is_file_name(p.name) and p.is_file()})
    if not stems:
        raise UsageError("no such file" if not path.is_dir() else "no module here", path=path)
    return [ModuleRef(stem, path) for stem in stems]
