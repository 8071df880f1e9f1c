"""The zip that Moodle takes back."""

from __future__ import annotations

import io
import zipfile

import pytest

from tito.errors import UserError
from tito.grading.book import moodle_zip, participant_folder

FOLDER = "Ann Arendt_2001_assignsubmission_file_"


def test_files_stand_in_the_participants_folders():
    own = participant_folder("Ben_B / x", "2002")
    data = moodle_zip({FOLDER: {"feedback.html": b"1"}, own: {"feedback.html": b"2"}})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == [
            f"{FOLDER}/feedback.html",
            "Ben B   x_2002_assignfeedback_file/feedback.html",
        ]
        assert archive.read(f"{FOLDER}/feedback.html") == b"1"
    assert moodle_zip({own: {"feedback.html": b"2"}, FOLDER: {"feedback.html": b"1"}}) == data


def test_the_number_stands_where_moodle_looks_for_it():
    """It parts the name at underscores: the number is the second part, the plugin the next two."""
    for folder in (FOLDER, participant_folder("A_B", "7")):
        name, number, kind, plugin = folder.split("_")[:4]
        assert number.isdigit()
        assert kind in ("assignsubmission", "assignfeedback")
        assert plugin == "file"


@pytest.mark.parametrize(
    "folder", ["ann", "a_b_1_assignsubmission_file_", "../x_1_assignfeedback_file"]
)
def test_a_folder_that_moodle_would_not_know(folder):
    with pytest.raises(UserError, match="Moodle would not know"):
        moodle_zip({folder: {"a.html": b""}})


@pytest.mark.parametrize("name", [".a", "~a", "a/b", "a\\b", ""])
def test_a_file_that_moodle_would_pass_over(name):
    with pytest.raises(UserError, match="no file called"):
        moodle_zip({FOLDER: {name: b""}})
