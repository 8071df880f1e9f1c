"""A task carries all that a worker needs; its keys tell what decides points from what does not."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.grading.judge.samples import as_file, hand_in, master, solution, test_cell
from tito.grading import task
from tito.grading.limits import Limits
from tito.grading.task import Assignment, grade_one, judging_files, read_package
from tito.notebook import Cell, Notebook

WHOLE = Assignment(
    master(),
    {"loops.py": b"N = 3\n", "simd/__init__.py": b"", "simd/vec.py": b"M = 4\n"},
    {"data.txt": "ä\n".encode()},
    secret=b"\x00\xff",
    engine="spawn",
    limits=Limits(solution=3.5, memory=10**9),
    unconfined=True,
    timing=True,
)


def test_what_is_packed_is_what_is_unpacked():
    again = Assignment.unpacked(WHOLE.packed)
    assert again.packed == WHOLE.packed
    kept = ("package", "files", "secret", "engine", "limits", "unconfined", "timing")
    assert all(getattr(again, name) == getattr(WHOLE, name) for name in kept)
    assert [c.source for c in again.master.cells] == [c.source for c in master().cells]


def test_the_keys_say_which_part_has_changed():
    def changed(**values):
        other = replace(WHOLE, **values)
        return other.master_key != WHOLE.master_key, other.judge_key != WHOLE.judge_key

    mended = master()
    mended.by_id("clamp-test").source += "  # mended"
    assert changed(master=mended) == (True, False)
    assert changed(package={**WHOLE.package, "loops.py": b"N = 4\n"}) == (False, True)
    assert changed(files={}) == (False, True)
    assert changed(secret=b"other") == (False, True)
    assert changed(limits=Limits()) == (False, True)
    assert changed(engine="fork", unconfined=False, timing=False) == (False, False)
    moved = Notebook(master().cells, master().metadata, Path("elsewhere") / "small.ipynb")
    assert changed(master=moved) == (False, False)


def test_all_code_of_tito_that_the_judge_runs_on_is_in_the_key():
    code = (
        "import sys\n"
        "import tito.checks, tito.grading.judge.run, tito.grading.judge.warm\n"
        "import tito.grading.child.warm, tito.grading.engine.spawn, tito.machine\n"
        "files = (getattr(m, '__file__', None) for n, m in sys.modules.items()"
        " if n.partition('.')[0] == 'tito')\n"
        "print(*filter(None, files), sep='\\n')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {Path(line).resolve() for line in done.stdout.splitlines()}
    assert len(loaded) > 50
    assert loaded <= set(judging_files())


def test_the_package_and_the_data_files_are_there_for_the_hand_in():
    cells = [
        Cell("code", "from tinykernels.loops import N\nfrom tinykernels.simd.vec import M"),
        solution(
            "f", "def f():\n    return open('data.txt', encoding='utf-8').read() * (N - M + 2)"
        ),
        test_cell("f-test", 'assert f() == "ä\\n", "the file"'),
    ]
    module = Notebook(cells, path=Path("small.ipynb"))
    whole = replace(WHOLE, master=module, limits=Limits())
    answer = json.loads(grade_one(whole.packed, as_file(module)))
    assert [(c["status"], c["message"]) for c in answer["result"]["cells"]] == [("passed", None)]
    assert answer["cost"]["worker"].partition(":")[0]


def test_a_worker_with_another_tito_does_not_grade(monkeypatch):
    packed = replace(WHOLE, secret=b"asked for elsewhere").packed
    task.judge_code.cache_clear()
    monkeypatch.setattr(task, "JUDGING", ("counted",))
    try:
        answer = json.loads(grade_one(packed, as_file(hand_in())))
    finally:
        task.judge_code.cache_clear()
    assert answer["stop"] == task.ANOTHER_TITO


def test_what_is_no_notebook_is_a_broken_hand_in():
    answer = json.loads(grade_one(WHOLE.packed, b"no notebook"))
    assert answer["result"]["status"] == "broken"


@pytest.mark.parametrize(
    ("modules", "wanted"),
    [
        (None, {"__init__.py", "loops.py", "simd/__init__.py", "simd/vec.py"}),
        (["loops"], {"loops.py"}),
        (["simd"], {"simd/__init__.py", "simd/vec.py"}),
        ([], set()),
    ],
)
def test_of_the_package_only_the_modules_asked_for_travel(tmp_path, modules, wanted):
    for name in ("__init__.py", "loops.py", "simd/__init__.py", "simd/vec.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "simd" / "__pycache__").mkdir()
    (tmp_path / "simd" / "__pycache__" / "vec.pyc").write_text("")
    assert set(read_package(tmp_path, modules)) == wanted
    assert read_package(None, None) is None
