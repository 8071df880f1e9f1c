"""Where a course lies and which module a word means."""

from __future__ import annotations

import pytest

from tito.course import Course, find_course, find_root
from tito.errors import UsageError


@pytest.fixture
def root(tmp_path):
    for name in ("02_loops", "10_fusion", "05_blocking"):
        folder = tmp_path / "modules" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text("# %%\n")
        (folder / f"{name}.ipynb").write_text("{}")
    (tmp_path / "tinykernels").mkdir()
    return tmp_path


def test_modules_stand_in_the_order_of_their_numbers(root):
    (root / "modules" / "drafts").mkdir()
    (root / "modules" / "03_file.txt").write_text("")
    assert [m.name for m in Course(root).modules] == ["02_loops", "05_blocking", "10_fusion"]
    assert [m.number for m in Course(root).modules] == [2, 5, 10]


@pytest.mark.parametrize("word", ["5", "05", "blocking", "05_blocking", "Blocking", "05_blocking/"])
def test_a_module_has_many_names(root, word):
    assert Course(root).resolve(word).name == "05_blocking"


def test_a_folder_and_a_file_name_a_module(root, monkeypatch):
    course = Course(root)
    assert course.resolve(str(root / "modules/05_blocking")).name == "05_blocking"
    path = root / "modules/05_blocking/05_blocking.ipynb"
    ref = course.resolve(str(path))
    assert (ref.name, ref.source) == ("05_blocking", path)
    monkeypatch.chdir(root)
    assert course.resolve("modules/05_blocking/05_blocking.py").name == "05_blocking"
    assert course.resolve("modules/05_blocking").name == "05_blocking"


def test_a_file_elsewhere_is_a_module_of_its_own(root, tmp_path):
    other = tmp_path / "Downloads" / "05_blocking.ipynb"
    other.parent.mkdir()
    other.write_text("{}")
    assert Course(root).resolve(str(other)).source == other


@pytest.mark.parametrize("word", ["7", "block", "", "no.py", "0", "../05_blocking"])
def test_an_unknown_word_exits_2_and_lists_what_there_is(root, word):
    with pytest.raises(UsageError) as caught:
        Course(root).resolve(word)
    assert caught.value.code == 2
    if not word.endswith(".py"):
        assert "02_loops, 05_blocking, 10_fusion" in str(caught.value)


def test_the_root_is_the_nearest_folder_upwards(root, monkeypatch):
    inner = root / "modules" / "02_loops"
    assert find_root(inner) == root.resolve()
    kit = root / "kit"
    (kit / "modules" / "02_loops").mkdir(parents=True)
    (kit / "tinykernels").mkdir()
    assert find_root(kit / "modules") == kit.resolve()
    monkeypatch.chdir(inner)
    assert find_course().root == root.resolve()


def test_no_root_is_a_usage_error_with_advice(tmp_path):
    with pytest.raises(UsageError, match="no course here") as caught:
        find_root(tmp_path)
    assert "cd" in caught.value.hint


def test_the_repository_reads_py_and_a_kit_reads_ipynb(root):
    assert Course(root).resolve("2").source.suffix == ".py"
    (root / ".tito" / "released").mkdir(parents=True)
    course = Course(root)
    assert course.is_kit
    assert course.resolve("2").source.suffix == ".ipynb"


def test_without_a_py_the_notebook_is_read(root):
    (root / "modules/02_loops/02_loops.py").unlink()
    assert Course(root).resolve("2").source.suffix == ".ipynb"
