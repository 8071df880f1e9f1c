"""The staging folder holds what a student's process may know, and goes away."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tito.grading.stage import SOURCES, make_package, make_stage, remove_folder


def files(folder: Path) -> set[str]:
    found = (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(folder).with_suffix("").as_posix() for p in found}


def test_of_tito_only_the_students_side_is_staged():
    with make_stage() as stage:
        staged = files(stage.library / "tito")
    assert {"counted", "grading/wire/link", "grading/lanes", "grading/child/main"} <= staged
    assert {"checks", "machine", "here"} <= staged
    allowed = ("counted", "inside", "checks", "machine", "here", "__init__")
    for name in staged:
        inside = name.startswith(("grading/child/", "grading/sandbox/", "grading/wire/"))
        assert inside or name in allowed or name.startswith("grading/"), name
    assert not [name for name in staged if "judge" in name]


def test_no_file_of_the_checkout_is_readable_as_source():
    with make_stage() as stage:
        texts = [p.read_bytes() for p in stage.root.rglob("*") if p.is_file()]
    assert not [t for t in texts if str(SOURCES).encode() in t and b"def " in t]


def test_without_a_package_an_empty_one_hides_the_installed():
    with make_stage() as stage:
        assert files(stage.library / "tinykernels") == {"__init__"}


def test_links_and_caches_of_a_package_are_left_behind(tmp_path):
    package = tmp_path / "tinykernels"
    (package / "simd" / "__pycache__").mkdir(parents=True)
    (package / "simd" / "vec.py").write_text("")
    (package / "simd" / "__pycache__" / "vec.pyc").write_text("")
    (package / "loops.py").write_text("")
    try:
        (package / "other.py").symlink_to(tmp_path / "secret")
        (package / "simd" / "link.py").symlink_to(tmp_path / "secret")
    except OSError:
        pytest.skip("this system makes no links")
    with make_stage(package) as stage:
        assert files(stage.library / "tinykernels") == {"__init__", "loops", "simd/vec"}


def test_data_files_lie_in_the_working_folder(tmp_path):
    (tmp_path / "data.csv").write_text("1,2")
    with make_stage(files=[tmp_path / "data.csv", tmp_path / "missing.csv"]) as stage:
        assert (stage.scratch / "data.csv").read_text() == "1,2"
        assert not (stage.scratch / "missing.csv").exists()


def test_a_stage_is_removed_with_what_was_made_read_only():
    with make_stage() as stage:
        folder = stage.scratch / "locked"
        folder.mkdir()
        (folder / "file").write_text("")
        folder.chmod(0o500)
        assert stage.root.exists()
    assert not stage.root.exists()
    stage.remove()


def test_removing_leaves_the_folder_above_and_what_a_link_shows_as_they_are(tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "elsewhere").mkdir(mode=0o500)
    stage = tmp_path / "stage"
    stage.mkdir()
    (stage / "link").symlink_to(tmp_path / "elsewhere")
    remove_folder(stage)
    remove_folder(stage)  # what is gone already is no reason to touch its parent
    assert not stage.exists()
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o500


def test_the_thin_checks_give_every_name_and_raise_when_used():
    with make_stage() as stage:
        code = (
            "from tito.checks import *\nimport tito.here\nfrom tito.checks import expect_close\n"
            "from tito.machine import anything\n"
            "try: expect_fresh(print)\nexcept RuntimeError as error: print(error)\n"
            "print(issubclass(CheckFailed, AssertionError))"
        )
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[0] = ''\n{code}"],
            cwd=stage.library, env=dict(os.environ, PYTHONPATH=""), capture_output=True, text=True,
        )  # fmt: skip
    said = done.stdout + done.stderr
    assert "tito.checks.expect_fresh cannot be used here" in said
    assert said.endswith("True\n")


def test_a_package_for_many_stages_is_read_from_its_bytecode_and_keeps_its_source(tmp_path):
    package = tmp_path / "tinykernels"
    package.mkdir()
    (package / "loops.py").write_text("def add(a, b):\n    return a + b\n")
    (package / "later.py").write_text("")
    library = make_package(package, ["loops"])
    try:
        assert files(library / "tinykernels") == {"__init__", "loops"}
        look = (
            "import inspect, tinykernels.loops as m;"
            "print(m.__cached__, m.add(1, 2), m.add.__code__.co_filename, inspect.getsource(m.add))"
        )
        run = [sys.executable, "-B", "-v", "-c", look]
        done = subprocess.run(run, cwd=library, capture_output=True, text=True, check=True)
        assert f" 3 {library / 'tinykernels' / 'loops.py'} def add(a, b):" in done.stdout
        assert f"code object from '{library}/tinykernels/__pycache__/loops" in done.stderr
        with make_stage(packages=library) as stage:
            assert stage.libraries == [stage.library, library]
            assert not (stage.library / "tinykernels").exists()
    finally:
        remove_folder(library)
