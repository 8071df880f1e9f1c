"""One hand-in as a task for any worker: bytes in, JSON text out.

A worker has tito installed and needs nothing else: master, package and data files travel with the
task. Its warm judge is started by its first task and serves all that follow.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.grading.executors import stopping
from tito.grading.judge import Cancelled, Result, Unconfined, grade, pool
from tito.grading.judge.job import Job, of_module
from tito.grading.limits import Limits
from tito.notebook import Notebook

TITO = Path(__file__).resolve().parents[1]
# The parts of tito that decide what a hand-in earns: files, and folders with all below them.
JUDGING = (
    "__init__",
    "checks",
    "counted",
    "errors",
    "files",
    "forbid",
    "inside",
    "machine",
    "notebook",
    "strip",
    "grading/__init__",
    "grading/child",
    "grading/engine",
    "grading/forkserver",
    "grading/judge",
    "grading/lanes",
    "grading/limits",
    "grading/sandbox",
    "grading/stage",
    "grading/wire",
)
# Why a task came back without a result that counts.
UNCONFINED, CANCELLED, ANOTHER_TITO = "unconfined", "cancelled", "another tito"

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Assignment:
    """What all hand-ins of a module are graded with, and all that a worker is told of it.

    package : the modules before this one, by path below tinykernels/; None where there are none
    files : data files of the master, by name
    """

    master: Notebook
    package: Files | None = None
    files: Files = field(default_factory=dict)
    secret: bytes = b""
    engine: str | None = None
    limits: Limits = field(default_factory=Limits)
    unconfined: bool = False
    timing: bool = False

    @cached_property
    def packed(self) -> bytes:
        """As bytes, the same for the same contents."""
        text = json.dumps({**self._content(), **self._ways(), "judge": judge_code()})
        return zlib.compress(text.encode("ascii"))

    @cached_property
    def master_key(self) -> str:
        """A hash of the module with its tests; where it lies does not matter."""
        return _hash(Job(Notebook(self.master.cells, self.master.metadata), b"").module_json())

    @cached_property
    def judge_key(self) -> str:
        """A hash of all else that decides points: tito's own code, package, secret, limits."""
        content = {**self._content(), "master": None, "judge": judge_code()}
        return _hash(json.dumps(content, sort_keys=True))

    def _content(self) -> dict[str, Any]:
        return {
            "master": Job(self.master, b"").module_json(),
            "package": None if self.package is None else _as_text(self.package),
            "files": _as_text(self.files),
            "secret": self.secret.hex(),
            "limits": asdict(self.limits),
        }

    def _ways(self) -> dict[str, Any]:
        """What decides how, not what comes out."""
        return {"engine": self.engine, "unconfined": self.unconfined, "timing": self.timing}

    @classmethod
    def unpacked(cls, packed: bytes) -> Assignment:
        raw = json.loads(zlib.decompress(packed))
        del raw["judge"]
        return cls(
            **{
                **raw,
                "master": of_module(raw["master"]).master,
                "package": None if raw["package"] is None else _as_bytes(raw["package"]),
                "files": _as_bytes(raw["files"]),
                "secret": bytes.fromhex(raw["secret"]),
                "limits": Limits(**raw["limits"]),
            }
        )


def read_package(folder: Path | None, modules: list[str] | None) -> Files | None:
    """The files of the package that belong to these of its modules, all where it is None."""
    if folder is None:
        return None
    found = {}
    for path in _regular_files(folder):
        parts = path.relative_to(folder).parts
        if modules is None or Path(parts[0]).stem in modules:
            found["/".join(parts)] = path.read_bytes()
    return found


def _regular_files(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.is_symlink() or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _regular_files(entry)
        elif entry.is_file():
            yield entry


@lru_cache(maxsize=1)
def judge_code() -> str:
    """A hash of the files of tito that decide what a hand-in earns."""
    found = hashlib.sha256()
    for path in judging_files():
        data = path.read_bytes()
        found.update(f"{path.relative_to(TITO).as_posix()}\0{len(data)}\0".encode() + data)
    return found.hexdigest()


def judging_files() -> list[Path]:
    found = [TITO / f"{part}.py" for part in JUDGING]
    for part in JUDGING:
        found += (TITO / part).rglob("*.py")
    return sorted(path for path in found if path.is_file())


def grade_one(packed: bytes, handin: bytes) -> str:
    """Grade one hand-in; the task of a worker.

    packed : an Assignment's
    returns JSON: {"result": Result.to_json(), "cost": {...}}, or {"broken": why} where it cannot
    be graded, or {"stop": why} where nothing can be
    """
    return json.dumps(_answer(packed, handin))


def _answer(packed: bytes, handin: bytes) -> dict[str, Any]:
    try:
        if stopping():
            raise Cancelled
        setup = _setup(packed)
        if setup is None:
            return {"stop": ANOTHER_TITO, "where": _where()}
        result = setup.grade(handin)
    except Unconfined:
        return {"stop": UNCONFINED}
    except Cancelled:
        return {"stop": CANCELLED}
    except UserError as error:
        return {"broken": error.message}
    except Exception as error:  # a mistake of ours costs one row and is named in it
        return {"broken": f"could not be graded: {error!r}"}
    return {"result": result.to_json(), "cost": _cost(result)}


def _cost(result: Result) -> dict[str, Any]:
    return {
        "worker": _where(),
        "student": result.student_seconds,
        "module": result.module_seconds,
        "judge_memory": pool.peak_memory(),
    }


def _where() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


class _Setup:
    """An assignment with its files on the disk of this worker."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._folder = tempfile.TemporaryDirectory(prefix="tito-task-")
        root = Path(self._folder.name)
        self._package = None
        if assignment.package is not None:
            self._package = root / "tinykernels"
            self._package.mkdir()
            _write(self._package, assignment.package)
        self._files = _write(root / "files", assignment.files)

    def grade(self, handin: bytes) -> Result:
        own = self._assignment
        return grade(
            own.master,
            handin,
            package=self._package,
            files=self._files,
            secret=own.secret,
            engine=own.engine,
            limits=own.limits,
            unconfined=own.unconfined,
            timing=own.timing,
            cancelled=stopping,
        )


_lock = threading.Lock()
_setups: dict[bytes, _Setup | None] = {}


def _setup(packed: bytes) -> _Setup | None:
    """What this worker made of the assignment, once; None where its tito is another one."""
    with _lock:
        if packed not in _setups:
            asked = json.loads(zlib.decompress(packed))["judge"]
            same = asked == judge_code()
            _setups[packed] = _Setup(Assignment.unpacked(packed)) if same else None
        return _setups[packed]


def _write(folder: Path, files: Files) -> list[Path]:
    written = []
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        written.append(path)
    return written


def _as_text(files: Files) -> dict[str, str]:
    return {name: base64.b64encode(files[name]).decode("ascii") for name in sorted(files)}


def _as_bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: base64.b64decode(text) for name, text in files.items()}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
