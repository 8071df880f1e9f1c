"""`tito export` as people call it: what it prints, what it writes, its exit code."""

from __future__ import annotations

import pytest

from tests.export.modules import course, percent, write
from tito.cli import main

LOOPS = percent("#| export\ndef f(x):\n    return x", target="loops")
BROKEN = percent("#| export\ndef g(x):\n    return (x +", target="broken")
STUB = percent(
    "#| export\ndef h(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()", target="h"
)
STUB = STUB.replace(
    "# %%\n#| export", '# %% nbgrader={"grade_id": "h", "solution": true}\n#| export'
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    of = course(tmp_path, loops_02=LOOPS)
    monkeypatch.chdir(tmp_path)
    return of


def test_export_says_what_it_read_and_wrote_and_what_comes_next(folder, capsys):
    assert main(["export", "02"]) == 0
    out = capsys.readouterr().out.replace("\\", "/").split("\n")
    assert out[0].startswith("02_loops: reading modules/02_loops/02_loops.py, saved ")
    assert out[1] == "tinykernels/loops.py: new"
    assert out[2] == "next: tito test 02_loops"
    assert main(["export"]) == 0
    assert "nothing to change" in capsys.readouterr().out


def test_check_writes_nothing_and_exits_1_until_all_is_exported(folder, capsys):
    assert main(["export", "--check"]) == 1
    assert "would be new" in capsys.readouterr().out
    assert not (folder.package / "loops.py").exists()
    main(["export"])
    assert main(["export", "--check"]) == 0


def test_all_exports_the_rest_and_names_the_failed_module(folder, capsys):
    write(folder.root, "broken_03", BROKEN)
    assert main(["export", "--all"]) == 1
    out, err = capsys.readouterr()
    assert (folder.package / "loops.py").exists()
    assert not (folder.package / "broken.py").exists()
    assert "03_broken.py:cell 2:3: does not parse" in err
    assert "    return (x +" in err
    assert "not exported: 03_broken;" in err
    assert out.rstrip().split("\n")[-1] == "next: mend it, then tito export 03_broken"


def test_what_is_not_written_yet_is_listed(folder, capsys):
    write(folder.root, "h_03", STUB)
    assert main(["export", "03"]) == 0
    out = capsys.readouterr().out
    assert "03_h: not written yet, exported as stubs: h (exercise 1)" in out
    assert out.rstrip().endswith("next: tito start 03_h")


def test_an_old_file_of_somebody_is_kept_and_said(folder, capsys):
    (folder.package / "loops.py").write_text("mine = 1\n")
    assert main(["export"]) == 0
    out = capsys.readouterr().out.replace("\\", "/")
    assert (
        "tinykernels/loops.py was not as tito export left it; the old file: .tito/backups/" in out
    )


def test_warnings_go_to_stderr_and_do_not_fail(folder, capsys):
    write(folder.root, "loops_02", LOOPS + "\n# %%\n# | export\nx = 1\n")
    assert main(["export"]) == 0
    assert "warning: " in capsys.readouterr().err


def test_an_unknown_module_and_a_place_outside_a_course_exit_2(
    folder, capsys, monkeypatch, tmp_path
):
    assert main(["export", "99"]) == 2
    (tmp_path / "elsewhere").mkdir()
    folder.package.rename(tmp_path / "gone")
    assert main(["export"]) == 2
    assert "no course here" in capsys.readouterr().err
