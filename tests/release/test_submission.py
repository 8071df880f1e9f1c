"""The zip that a student hands in, and what is said about it."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from tests.release.sample import RIGHT, fill_in, make_kit
from tito.errors import UserError
from tito.release import kit, submission


@pytest.fixture
def own(tmp_path):
    return make_kit(tmp_path)


def test_the_zip_holds_the_notebook_and_a_note_of_it(own):
    ref = own.modules[0]
    fill_in(ref.ipynb, RIGHT)
    packed = submission.pack(own, ref)
    assert packed.path == own.root / "submit" / "02_demo.zip"
    with zipfile.ZipFile(packed.path) as archive:
        assert archive.namelist() == ["02_demo.ipynb", "manifest.json"]
        assert archive.read("02_demo.ipynb") == ref.ipynb.read_bytes()
        note = json.loads(archive.read("manifest.json"))
    assert note["sha256"] == hashlib.sha256(ref.ipynb.read_bytes()).hexdigest()
    assert note["module"] == "02_demo"
    assert note["release"] == kit.read_manifest(own)["modules"]["02_demo"]["sha256"]
    assert note["not_written"] == [] and note["not_answered"] == ["reflect-1"]


def test_what_is_open_is_named(own):
    packed = submission.pack(own, own.modules[0])
    assert packed.open.exercises == ["weigh"] and packed.open.reflections == ["reflect-1"]
    assert packed.missing == []


def test_a_deleted_test_cell_is_named(own):
    ref = own.modules[0]
    document = json.loads(ref.ipynb.read_text())
    document["cells"] = [c for c in document["cells"] if c["id"] != "weigh-test"]
    ref.ipynb.write_text(json.dumps(document))
    assert submission.pack(own, ref).missing == ["weigh-test"]


def test_the_same_notebook_gives_the_same_bytes(own):
    ref = own.modules[0]
    first = submission.pack(own, ref).path.read_bytes()
    assert submission.pack(own, ref).path.read_bytes() == first


def test_no_notebook_no_zip(own):
    own.modules[0].ipynb.unlink()
    with pytest.raises(UserError, match="no such notebook") as error:
        submission.pack(own, own.modules[0])
    assert error.value.code == 2
    assert not (own.root / "submit").exists()


def test_a_broken_notebook_is_not_packed(own):
    own.modules[0].ipynb.write_text("{")
    with pytest.raises(UserError, match="not a notebook"):
        submission.pack(own, own.modules[0])
    assert not (own.root / "submit").exists()
