"""A new class folder. Names and marks lie in it, so it is made outside every repository."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

from tito.errors import UserError
from tito.files import remove_torn, torn, write_atomic
from tito.grading.book import database
from tito.grading.classroom import (
    CONFIG,
    GRADEBOOK,
    INBOX,
    RESULTS,
    ROSTER,
    SETTINGS,
    TREES,
    is_class,
)
from tito.grading.roster import COLUMNS

OWN_FILES = (CONFIG, ROSTER, GRADEBOOK, SETTINGS)

SETTINGS_TEXT = """\
# The settings of this class: yours to edit. Times need their zone.

course_id = {course_id}
# The folder of the course, with the modules and their tests.
{course}
# Behind the random inputs of hidden tests. Keep it to yourself, and keep it: with another one,
# grading again gives other inputs.
secret = "{secret}"

# What a late hand-in loses, of the points it earned: "none"; "zero", all of them; or "per_day",
# `percent` for each day begun, at most `at_most` percent. Up to `grace_minutes` nothing is lost.
[late]
rule = "none"
percent = 10
at_most = 50
grace_minutes = 0

# When a module is due. A module without a due time is never late.
{due}
# More time for one student: the id as in roster.csv, then the module and the time.
# [extensions."student-id"]
# "{example}" = 2030-02-08T23:59:00+01:00

# What one hand-in may use, in seconds of CPU and in bytes; these are the defaults.
# [limits]
# solution = 20
# notebook = 300
"""

DUE_TEXT = """\
[module."{module}"]
# due = 2030-02-01T23:59:00+01:00
"""

CONFIG_TEXT = '''\
"""nbgrader's settings for this class; the folder may be moved."""

from pathlib import Path

c = get_config()  # noqa: F821 (nbgrader provides it)
root = Path(__file__).resolve().parent

c.CourseDirectory.course_id = {course_id}
c.CourseDirectory.root = str(root)
c.CourseDirectory.db_url = "sqlite:///" + (root / "gradebook.db").as_posix()
# A .py beside a notebook may hold answers, or stand in for a library when student code runs.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.py"]

# Late hand-ins lose what [late] in course.toml says.
c.AssignLatePenalties.plugin_class = "tito.grading.latepenalty.LatePenalty"
c.LatePenalty.settings = str(root / "course.toml")

# Refused, a click on them in formgrader, too: nbgrader's own Autograde, which would run students'
# code with your rights, and its feedback, which would show the hidden tests. `tito grade run` and
# `tito grade feedback` do neither.
c.Autograde.exporter_class = "tito.grading.refused.Autograde"
c.GenerateFeedback.exporter_class = "tito.grading.refused.GenerateFeedback"

c.ExportApp.plugin_class = "nbgrader.plugins.export.CsvExportPlugin"
'''


def make_class(folder: Path, course: Path | None = None, modules: list[str] | None = None) -> bool:
    """Make a class folder; False where it is one already, which is left as it is.

    course : the course's folder, written to course.toml
    modules : get a place for their due times there
    """
    if is_class(folder):
        return False
    refuse_unless_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    os.chmod(folder, 0o700)
    for name in (*TREES, INBOX, RESULTS):
        (folder / name).mkdir(exist_ok=True)
    for name in OWN_FILES:
        remove_torn(folder / name)
    course_id = _word(folder.resolve().name)
    _write_private(folder / CONFIG, CONFIG_TEXT.format(course_id=course_id))
    _write_private(folder / ROSTER, ",".join(COLUMNS) + "\n")
    if not (folder / GRADEBOOK).exists():
        database.create(folder / GRADEBOOK, course_id.strip('"'))
    os.chmod(folder / GRADEBOOK, 0o600)
    # Last: until now it was no class, and the same command can go on where this one was ended.
    _write_private(folder / SETTINGS, _settings(course_id, course, modules or []))
    return True


def _settings(course_id: str, course: Path | None, modules: list[str]) -> str:
    path = f"course = {_toml(str(course.resolve()))}" if course else '# course = "/path/to/it"'
    due = "\n".join(DUE_TEXT.format(module=name) for name in modules or ["02_loops"])
    return SETTINGS_TEXT.format(
        course_id=course_id,
        course=path,
        secret=secrets.token_hex(32),
        due=due,
        example=(modules or ["02_loops"])[0],
    )


def _word(name: str) -> str:
    """A course id of letters, digits, - and _, quoted: nbgrader makes paths of it."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)
    return f'"{plain.strip("-") or "course"}"'


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def refuse_unless_free(folder: Path) -> None:
    """UserError where a class folder may not be made."""
    if folder.exists() and not folder.is_dir():
        raise UserError("a file stands there", path=folder)
    if folder.is_dir() and not {p.name for p in folder.iterdir()} <= _own_names(folder):
        raise UserError(
            "the folder is not empty, and no class folder",
            path=folder,
            hint="name a new or an empty folder",
        )
    repository = repository_around(folder)
    if repository is not None and not _is_ignored(folder, repository):
        raise UserError(
            f"this lies in the git repository {repository}: names and marks could be published",
            path=folder,
            hint="name a folder outside, as tito grade init ../class",
        )


def _own_names(folder: Path) -> set[str]:
    """What an init that was ended in the middle leaves."""
    halves = {left.name for name in OWN_FILES for left in torn(folder / name)}
    return {*TREES, INBOX, RESULTS, *OWN_FILES, *halves}


def repository_around(folder: Path) -> Path | None:
    """The work tree of git that a folder lies in, or would."""
    full = folder.resolve()
    return next((p for p in (full, *full.parents) if (p / ".git").exists()), None)


def _is_ignored(folder: Path, repository: Path) -> bool:
    """Whether git ignores the folder, asked of git itself; without git nobody can say so."""
    git = shutil.which("git")
    if git is None:
        return False
    # With the slash: a rule for folders does not fit a path that is not there yet.
    path = f"{folder.resolve()}/"
    command = [git, "-C", str(repository), "check-ignore", "-q", "--", path]
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _write_private(path: Path, text: str) -> None:
    """A new file that only its owner can read, whole or not at all; one that is there stays."""
    if not path.exists():
        write_atomic(path, text)
    os.chmod(path, 0o600)
