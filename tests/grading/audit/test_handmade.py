"""Files of hand-made mutants are data: read, never run."""

from __future__ import annotations

import pytest

from tito.errors import UserError
from tito.grading.audit.handmade import HandMade, read, read_all

FILE = '''\
"""What the student did."""

EXERCISE = "largest"
FAILS_IN = "largest-test"
PHRASE = "expected"
SOURCE = """\\
def largest(values):
    return 0
"""
'''


def write(folder, text, name="m.py"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_file_is_read(tmp_path):
    found = read(write(tmp_path, FILE))
    source = "def largest(values):\n    return 0\n"
    assert found == HandMade("m", "largest", "largest-test", "expected", source)


def test_nothing_in_it_is_run(tmp_path):
    assert read(write(tmp_path, FILE + "\nraise SystemExit\n")).name == "m"


@pytest.mark.parametrize("constant", ["EXERCISE", "FAILS_IN", "PHRASE", "SOURCE"])
def test_a_missing_constant_is_named(tmp_path, constant):
    path = write(tmp_path, FILE.replace(f"{constant} =", "OTHER ="))
    with pytest.raises(UserError, match=f"has no {constant}"):
        read(path)


@pytest.mark.parametrize("value", ["3", "'a' + 'b'", "open('x').read()"])
def test_a_constant_is_a_plain_text(tmp_path, value):
    path = write(tmp_path, FILE + f"\nFORBIDDEN = {value}\n")
    with pytest.raises(UserError, match="plain text"):
        read(path)


def test_a_file_that_does_not_parse_is_named_with_its_line(tmp_path):
    with pytest.raises(UserError) as caught:
        read(write(tmp_path, FILE + "x = ("))
    assert caught.value.line is not None


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path):
    assert read_all(tmp_path / "none") == []
    for name in ("b.py", "a.py"):
        write(tmp_path, FILE, name)
    assert [m.name for m in read_all(tmp_path)] == ["a", "b"]
