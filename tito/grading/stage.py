"""The folder that a student's process runs from: only what it may know."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Stage:
    """A staging folder for one hand-in; a context manager that removes it.

    root    : everything below is visible to the student's process
    library : first on its path: a thin tito, the packages of earlier modules (read only)
    scratch : its working folder, the only place it can write to
    """

    root: Path

    @property
    def library(self) -> Path:
        return self.root / "lib"

    @property
    def scratch(self) -> Path:
        return self.root / "work"

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Delete the folder; may be repeated."""
        raise NotImplementedError


def make_stage(
    package: Path | None = None,
    modules: list[str] | None = None,
    files: list[Path] | None = None,
) -> Stage:
    """A new staging folder.

    package : a tinykernels folder; None stages an empty package
    modules : which of its files and sub-packages to stage ("loops", "simd"); None for all
    files   : data files of the master, copied into the working folder
    """
    raise NotImplementedError
