"""Files of people: read whatever their editor wrote, never half written, never lost."""

from __future__ import annotations

import os
import stat
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito import files
from tito.errors import UserError
from tito.files import back_up, decode, read_text, write_atomic


def test_write_makes_folders_and_says_whether_anything_changed(tmp_path):
    path = tmp_path / "a b" / "ü.py"
    assert write_atomic(path, "x = 'é'\n") is True
    assert path.read_bytes() == "x = 'é'\n".encode()
    assert write_atomic(path, "x = 'é'\n") is False
    assert write_atomic(path, b"\x00\r\n") is True
    assert path.read_bytes() == b"\x00\r\n"


def test_an_unchanged_file_is_not_touched(tmp_path):
    path = tmp_path / "a.py"
    write_atomic(path, "x")
    os.utime(path, ns=(1, 1))
    write_atomic(path, "x")
    assert path.stat().st_mtime_ns == 1


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    write_atomic(path, "old")

    def fails(*_):
        raise OSError("no space left")

    for step in ("fsync", "replace"):
        monkeypatch.setattr(files.os, step, fails)
        with pytest.raises(OSError, match="no space left"):
            write_atomic(path, "new")
        monkeypatch.undo()
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_a_file_keeps_its_mode_and_a_new_one_gets_the_umask_s(tmp_path):
    path = tmp_path / "a.py"
    before = os.umask(0o026)
    try:
        write_atomic(path, "1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o755)
        write_atomic(path, "2")
        assert stat.S_IMODE(path.stat().st_mode) == 0o755
    finally:
        os.umask(before)


def test_backups_never_overwrite_each_other(tmp_path):
    path = tmp_path / "02_loops.ipynb"
    folder = tmp_path / "backups"
    copies = []
    for number in range(4):
        path.write_text(str(number))
        copies.append(back_up(path, folder))
    assert [c.read_text() for c in copies] == ["0", "1", "2", "3"]
    assert len(set(copies)) == 4
    assert all(c.parent == folder and c.suffix == ".ipynb" for c in copies)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("encoding", "notes"), [("utf-8", 0), ("utf-8-sig", 0), ("utf-16", 1), ("latin-1", 1)]
)
def test_every_encoding_and_line_end_reads_alike(ends, encoding, notes):
    text, remarks = decode(f"é = 1{ends}{ends}x{ends}".encode(encoding))
    assert text == "é = 1\n\nx\n"
    assert len(remarks) == notes


def test_line_ends_that_only_splitlines_knows_stay():
    text, _ = decode("a\x0cb\u2028c\x85d\r\n".encode())
    assert text == "a\x0cb\u2028c\x85d\n"


@given(st.binary(max_size=60))
def test_any_bytes_can_be_read(data):
    text, _ = decode(data)
    assert "\r" not in text


@given(st.text(max_size=40))
def test_utf_8_is_read_as_written(text):
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith("\ufeff"):
        assert decode(text.encode("utf-8")) == (plain, [])


def test_a_missing_file_and_a_folder_are_user_errors(tmp_path):
    with pytest.raises(UserError, match="no such file") as caught:
        read_text(tmp_path / "no.py")
    assert caught.value.code == 2
    with pytest.raises(UserError) as caught:
        read_text(tmp_path)
    assert caught.value.code in (1, 2)
