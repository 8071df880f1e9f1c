"""`tito doctor` tells what is as it should be, and how to mend what is not."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.release.sample import make_kit
from tito import cli
from tito.commands import checkup
from tito.commands.checkup import NOTE, OK, WRONG


@pytest.fixture
def own(tmp_path, monkeypatch):
    made = make_kit(tmp_path)
    monkeypatch.chdir(made.root)
    return made


def test_all_is_well_in_a_kit(own, capsys):
    assert cli.main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[1] for line in lines[:-1]]
    assert names == [
        "python",
        "packages",
        "folder",
        "tinykernels",
        "kernel",
        "jupyter",
        "blas",
        "cpu",
        "memory",
        "sandbox",
    ]
    assert str(own.root / "tinykernels") in lines[3]
    assert lines[-1] == "next: tito start"


def test_json_is_alone_on_stdout(own, capsys):
    assert cli.main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {f["name"]: f for f in document["findings"]}
    assert document["ok"] is True
    assert found["python"]["facts"]["executable"] == sys.executable
    assert Path(found["tinykernels"]["facts"]["tinykernels"]).parent == own.package


def test_outside_of_a_course_it_says_where_to_go(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "in no course folder" in out and "try: change into your course folder" in out


def spec(folder: Path, argv: list[str], **more) -> None:
    """A kernel "python3" of the user's own, which Jupyter finds first."""
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    text = json.dumps({"argv": argv, "display_name": "x", "language": "python", **more})
    (kernel / "kernel.json").write_text(text)


def test_a_kernel_of_another_python_is_found_with_both_cures(own, tmp_path, monkeypatch):
    other = tmp_path / "other" / "python"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\nexec "{os.path.realpath(sys.executable)}" -I "$@"\n')
    other.chmod(0o755)
    spec(tmp_path / "jupyter", [str(other), "-m", "ipykernel_launcher"])
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    finding = checkup.kernel(own)
    assert finding.state == WRONG
    assert "Jupyter would start" in finding.text and sys.executable in finding.text
    assert "tito lab" in finding.cure and "Select Kernel" in finding.cure


def test_a_kernel_that_takes_another_tinykernels_is_found(own, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "tinykernels").mkdir(parents=True)
    (elsewhere / "tinykernels/__init__.py").write_text("")
    found = {
        "executable": sys.executable,
        "tinykernels": str(elsewhere / "tinykernels/__init__.py"),
    }
    monkeypatch.setattr(checkup, "ask", lambda *a: found)
    finding = checkup.package(own)
    assert finding.state == WRONG and "not this course's" in finding.text


def test_a_kernel_that_does_not_run_is_found(own, tmp_path, monkeypatch):
    spec(tmp_path / "jupyter", [str(tmp_path / "gone"), "-m", "ipykernel_launcher"])
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    assert checkup.kernel(own).state == WRONG


def test_a_bare_python_is_the_one_that_jupyter_runs_under(own, tmp_path, monkeypatch):
    spec(tmp_path / "jupyter", ["python", "-m", "ipykernel_launcher"])
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    finding = checkup.kernel(own)
    assert finding.state == OK and sys.executable in finding.text


def test_missing_packages_come_with_the_command_that_installs_them(own, monkeypatch):
    monkeypatch.setattr(checkup, "NEEDED", ("numpy", "no-such-package-at-all"))
    finding = checkup.packages(own)
    assert finding.state == WRONG and "no-such-package-at-all" in finding.text
    assert sys.executable in finding.cure and "requirements.txt" in finding.cure


def test_an_old_python_is_wrong(own, monkeypatch):
    monkeypatch.setattr(checkup, "OLDEST", (9, 0))
    assert checkup.python(own).state == WRONG


@pytest.mark.parametrize("layers, state", [([], NOTE), (["rlimits"], NOTE)])
def test_no_sandbox_is_a_note_not_a_fault(own, monkeypatch, layers, state):
    monkeypatch.setattr("tito.grading.sandbox.available", lambda: layers)
    finding = checkup.sandbox(own)
    assert finding.state == state and "not confined here" in finding.text


def test_a_check_that_breaks_is_a_finding(own, monkeypatch):
    def broken(course):
        raise ValueError("odd machine")

    assert checkup._guarded(broken, own).state == WRONG


def test_another_jupyter_on_the_path_is_told(own, tmp_path, monkeypatch):
    other = tmp_path / "bin" / "jupyter-lab"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    finding = checkup.jupyter(own)
    assert finding.state == NOTE and finding.cure == "start it with tito lab"


def test_what_the_machine_does_not_tell_is_unknown(monkeypatch):
    """A container without /sys: no check fails for it."""
    import tito.machine
    from tito.machine import Facts

    nothing = Facts(None, None, "Plan9", "3.13.0", None, None, None, None)
    monkeypatch.setattr(tito.machine, "facts", lambda: nothing)
    found = checkup.memory(None)
    assert (found.state, found.text) == ("ok", "caches unknown, memory unknown")
    assert found.facts == {"caches": [], "memory": None}
    assert checkup.cpu(None).text == "unknown model, None usable, Plan9"


def test_caches_are_told_with_who_shares_them(monkeypatch):
    import tito.machine
    from tito.machine import Cache, Facts

    caches = (Cache(1, "data", 2**15, 64, 1), Cache(2, "unified", 2**20, 64, 4))
    some = Facts("CPU", 4, "Linux", "3.13.0", None, None, None, None, caches, (), 2**33)
    monkeypatch.setattr(tito.machine, "facts", lambda: some)
    assert checkup.memory(None).text == "L1 32 KiB, L2 1 MiB (shared by 4), 8 GiB memory"


def test_a_blas_kept_from_its_best_kernels_is_a_note(own, monkeypatch, capsys):
    monkeypatch.setattr("tito.machine.hidden_core", lambda: "SkylakeX")
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "note   blas" in out
    assert "unset OPENBLAS_CORETYPE: it keeps OpenBLAS from its SkylakeX kernels" in out
