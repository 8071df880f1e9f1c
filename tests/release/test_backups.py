"""reset and restore: whatever was there can be had back."""

from __future__ import annotations

import pytest

from tests.release.sample import RIGHT, fill_in, make_kit
from tito.errors import UsageError
from tito.release import backups, kit
from tito.sync import sync


@pytest.fixture
def own(tmp_path):
    return make_kit(tmp_path)


@pytest.fixture
def ref(own):
    return own.modules[0]


def test_reset_puts_the_release_back_and_keeps_the_work(own, ref):
    fill_in(ref.ipynb, RIGHT)
    mine = ref.ipynb.read_bytes()
    change = backups.reset(own, ref)
    assert ref.ipynb.read_bytes() == kit.released_bytes(own, ref.name)
    assert [p.read_bytes() for p in change.kept] == [mine]


def test_restore_brings_the_work_back_and_keeps_what_was_there(own, ref):
    fill_in(ref.ipynb, RIGHT)
    mine = ref.ipynb.read_bytes()
    backups.reset(own, ref)
    change = backups.restore(own, ref)
    assert ref.ipynb.read_bytes() == mine
    assert [p.read_bytes() for p in change.kept] == [kit.released_bytes(own, ref.name)]


def test_two_resets_within_a_second_keep_two_backups(own, ref):
    for number in range(3):
        fill_in(ref.ipynb, {"weigh": f"x = {number}"})
        backups.reset(own, ref)
    texts = [p.read_text() for p in backups.backups(own, ref)]
    assert len(texts) == 3
    assert all(any(f"x = {n}" in t for t in texts) for n in range(3))


def test_a_named_backup_is_restored(own, ref):
    for number in range(2):
        fill_in(ref.ipynb, {"weigh": f"x = {number}"})
        backups.reset(own, ref)
    oldest = next(p for p in backups.backups(own, ref) if "x = 0" in p.read_text())
    backups.restore(own, ref, oldest.name)
    assert "x = 0" in ref.ipynb.read_text()


def test_reset_of_an_untouched_notebook_keeps_nothing(own, ref):
    assert backups.reset(own, ref).kept == []
    assert backups.backups(own, ref) == []


def test_reset_makes_a_missing_notebook(own, ref):
    ref.ipynb.unlink()
    assert backups.reset(own, ref).kept == []
    assert ref.ipynb.is_file()


def test_the_py_of_a_pair_is_kept_too_and_does_not_come_back(own, ref):
    fill_in(ref.ipynb, RIGHT)
    sync(ref)
    ref.py.write_text(ref.py.read_text() + "\n# %%\nmine = 1\n")
    change = backups.reset(own, ref)
    assert {p.suffix for p in change.kept} == {".py", ".ipynb"}
    assert not ref.py.exists()
    assert ref.ipynb.read_bytes() == kit.released_bytes(own, ref.name)
    backups.restore(own, ref, next(p.name for p in change.kept if p.suffix == ".py"))
    assert "mine = 1" in ref.py.read_text()
    sync(ref)
    assert "mine = 1" in ref.ipynb.read_text()


def test_no_backup_and_no_such_backup_are_wrong_usage(own, ref):
    with pytest.raises(UsageError, match="no backup of 02_demo yet"):
        backups.restore(own, ref)
    fill_in(ref.ipynb, RIGHT)
    backups.reset(own, ref)
    with pytest.raises(UsageError, match="no backup is called"):
        backups.restore(own, ref, "nothing.ipynb")
