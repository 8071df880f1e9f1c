"""What a student hands in: the notebook as it was saved, with a note of what it is."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import tito
from tito.course import Course, ModuleRef
from tito.errors import UserError
from tito.files import write_atomic
from tito.notebook import Notebook, load
from tito.release import kit, progress
from tito.release.progress import Unanswered, broken_cells

MANIFEST = "manifest.json"
FOLDER = "submit"


@dataclass(frozen=True)
class Submission:
    """A packed hand-in and what it leaves open."""

    path: Path
    notebook: Path
    open: Unanswered
    missing: list[str]  # test cells of the release that the notebook lacks
    troubles: list[str]  # cells of code that is no Python: nothing in them will run


def pack(course: Course, ref: ModuleRef, folder: Path | None = None) -> Submission:
    """Make the zip of a module's notebook in `folder` (default: submit/ of the kit)."""
    if not ref.ipynb.is_file():
        raise UserError(
            "no such notebook", path=ref.ipynb, hint=f"tito start {ref.name[:2]}", code=2
        )
    release, own = kit.released(course, ref.name), load(ref.ipynb)
    left = progress.unanswered(release, own)
    data = ref.ipynb.read_bytes()
    path = (folder or course.root / FOLDER) / f"{ref.name}.zip"
    write_atomic(path, _zip(ref, data, manifest(course, ref, data, left)))
    return Submission(path, ref.ipynb, left, _missing_tests(release, own), broken_cells(own))


def _missing_tests(release: Notebook, own: Notebook) -> list[str]:
    graded = [c.grade_id for c in release.cells if c.graded and c.grade_id]
    return [g for g in graded if own.by_id(g) is None]


def manifest(course: Course, ref: ModuleRef, data: bytes, left: Unanswered) -> dict:
    """The note in the zip: enough to see which release was answered and how far."""
    saved = datetime.fromtimestamp(ref.ipynb.stat().st_mtime, timezone.utc)
    return {
        "version": 1,
        "module": ref.name,
        "notebook": ref.ipynb.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "saved": saved.isoformat(timespec="seconds"),
        "release": kit.read_manifest(course)["modules"][ref.name]["sha256"],
        "tito": tito.__version__,
        "not_written": left.exercises,
        "not_answered": left.reflections,
    }


def _zip(ref: ModuleRef, data: bytes, note: dict) -> bytes:
    """The same bytes for the same notebook: a second submit changes nothing."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (
            (ref.ipynb.name, data),
            (MANIFEST, json.dumps(note, indent=1).encode() + b"\n"),
        ):
            # A fixed time and mode; the true time stands in the manifest.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()
