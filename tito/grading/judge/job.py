"""What the judge's process is told: everything as JSON, so that nothing lies on a disk."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tito.grading.limits import Limits
from tito.notebook import Cell, Notebook


@dataclass
class Job:
    """One hand-in to grade.

    submission : the file's bytes
    finished : graded cells that an earlier process of this job has settled
    undone : labels of the student's cells that ended the student's process; not run again
    handed_out : the released cells of the master, where a warm judge has worked them out
    """

    master: Notebook
    submission: bytes
    module: str = ""
    release: Notebook | None = None
    package: Path | None = None
    package_modules: list[str] | None = None
    files: list[Path] = field(default_factory=list)
    secret: bytes = b""
    engine: str = "spawn"
    limits: Limits = field(default_factory=Limits)
    visible_only: bool = False
    before: str = "reference"
    unconfined: bool = True
    timing: bool = False
    finished: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    handed_out: list[Cell] | None = None

    def to_json(self) -> str:
        """All of it, for a judge that knows nothing yet."""
        return json.dumps({**self._module_parts(), **self._own_parts()})

    def module_json(self) -> str:
        """What the hand-ins of one module have in common, for a warm judge."""
        return json.dumps(self._module_parts())

    def own_json(self) -> str:
        """The rest, for a fork of a judge that has read `module_json`."""
        return json.dumps(self._own_parts())

    def _module_parts(self) -> dict[str, Any]:
        return {
            "master": _packed(self.master),
            "release": _packed(self.release) if self.release else None,
        }

    def _own_parts(self) -> dict[str, Any]:
        return {
            "submission": base64.b64encode(self.submission).decode("ascii"),
            "module": self.module,
            "package": str(self.package) if self.package else None,
            "package_modules": self.package_modules,
            "files": [str(f) for f in self.files],
            "secret": self.secret.hex(),
            "engine": self.engine,
            "limits": asdict(self.limits),
            "visible_only": self.visible_only,
            "before": self.before,
            "unconfined": self.unconfined,
            "timing": self.timing,
            "finished": self.finished,
            "undone": self.undone,
        }

    @classmethod
    def from_json(cls, text: str, known: Job | None = None) -> Job:
        """The job; `known` has read the module's parts before, where the text lacks them."""
        raw = json.loads(text)
        if known is not None:
            raw["master"], raw["release"] = known.master, known.release
            raw["handed_out"] = known.handed_out
        else:
            raw["master"] = _unpacked(raw["master"])
            raw["release"] = _unpacked(raw["release"]) if raw["release"] else None
        raw["submission"] = base64.b64decode(raw["submission"])
        raw["package"] = Path(raw["package"]) if raw["package"] else None
        raw["files"] = [Path(f) for f in raw["files"]]
        raw["secret"] = bytes.fromhex(raw["secret"])
        raw["limits"] = Limits(**raw["limits"])
        return cls(**raw)


def of_module(text: str) -> Job:
    """A job of nobody's, with the module's parts from `Job.module_json`."""
    raw = json.loads(text)
    release = _unpacked(raw["release"]) if raw["release"] else None
    return Job(_unpacked(raw["master"]), b"", release=release)


def as_bytes(notebook: Notebook) -> bytes:
    """A notebook that is loaded already, as a hand-in's file; odd metadata stays as it is."""
    document = {
        "cells": [_cell(c) for c in notebook.cells],
        "metadata": _plain(notebook.metadata),
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document).encode("ascii")


def _cell(cell: Cell) -> dict[str, Any]:
    entry = {"cell_type": cell.kind, "source": cell.source, "metadata": _plain(cell.metadata)}
    return {**entry, "id": cell.id} if cell.id else entry


def _plain(value: Any) -> Any:
    """What is no JSON (only a program can have put it there) as text."""
    return json.loads(json.dumps(value, default=str))


def _packed(notebook: Notebook) -> dict[str, Any]:
    return {
        "cells": [
            {"kind": c.kind, "source": c.source, "metadata": _plain(c.metadata), "id": c.id}
            for c in notebook.cells
        ],
        "metadata": _plain(notebook.metadata),
        "path": str(notebook.path) if notebook.path else None,
    }


def _unpacked(raw: dict[str, Any]) -> Notebook:
    path = Path(raw["path"]) if raw["path"] else None
    return Notebook([Cell(**c) for c in raw["cells"]], raw["metadata"], path)
