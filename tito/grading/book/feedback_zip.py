"""Files for students as the zip that Moodle takes back ("Upload multiple feedback files in a zip").

Moodle knows whose a file is by its folder: the name as it stood in the download of the hand-ins,
`Full Name_12345_assignsubmission_file_`, where the number is the participant's in that assignment.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

from tito.errors import UserError

_FOLDER = re.compile(r"[^_/\\]*_\d+_assign(?:submission|feedback)_[a-z]+_?")
# The same bytes for the same files: zip holds no earlier time than this.
_DATE = (1980, 1, 1, 0, 0, 0)


def participant_folder(name: str, participant: str) -> str:
    """The folder of a participant whose hand-in was not downloaded.

    >>> participant_folder("Ann_Marie Arendt", "2001")
    'Ann Marie Arendt_2001_assignfeedback_file'
    """
    plain = re.sub(r"[_/\\\x00-\x1f]+", " ", name).strip()
    return f"{plain}_{participant}_assignfeedback_file"


def moodle_zip(files: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """The zip as bytes.

    files : participant's folder -> {name of a file: its content}
    """
    for folder, inside in files.items():
        if not _FOLDER.fullmatch(folder):
            raise UserError(
                f"Moodle would not know whose folder {folder!r} is",
                hint="it takes the names of the folders in the hand-ins it gave out",
            )
        for name in inside:
            # Moodle passes over names that begin with a dot or ~.
            if not name or name.startswith((".", "~")) or "/" in name or "\\" in name:
                raise UserError(f"Moodle takes no file called {name!r}")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in sorted(files):
            for name in sorted(files[folder]):
                info = zipfile.ZipInfo(f"{folder}/{name}", _DATE)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                archive.writestr(info, files[folder][name])
    return out.getvalue()
