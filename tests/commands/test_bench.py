"""tito bench, as an engineer calls it: tables, JSON, CSV, exit codes."""

import csv
import io
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from tests.bench import course
from tests.bench.reports import MACHINE, report
from tito.bench import run
from tito.cli import main
from tito.commands import engineer

HOME = Path(__file__).parents[2]
RELU = "import numpy as np\ndef relu_loops(x):\n    return np.where(x < 0, 0, x).astype(x.dtype)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """In a course folder whose package has one kernel."""
    root = course.make(tmp_path / "my course", loops=RELU)
    monkeypatch.chdir(root / "modules")
    return root


@pytest.fixture
def measured(folder, monkeypatch):
    """What would have been measured, without measuring it: the calls, and one report."""
    calls = []

    def measure_all(*args):
        calls.append(args)
        return report()

    monkeypatch.setattr(run, "measure_all", measure_all)
    return calls


def test_one_workload_from_the_command_to_the_table(folder, capsys):
    """The whole way, through the measuring process; the folder is found from one below it."""
    assert main(["bench", "relu", "--sizes", "50x40", "--peers", "numpy"]) == 0
    out, err = capsys.readouterr()
    assert "relu 50 x 40" in out and "  relu_loops" in out and "  numpy maximum" in out
    assert "not written" not in out and "left out" not in out
    assert "--json bench.json" in out.splitlines()[-1] and out.splitlines()[-1].startswith("next: ")
    assert err == ""


def test_json_to_stdout_is_alone_there(measured, capsys):
    assert main(["bench", "gemm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["workload"] == "gemm"


def test_csv_to_stdout_is_alone_there(measured, capsys):
    assert main(["bench", "--csv"]) == 0
    assert len(list(csv.reader(io.StringIO(capsys.readouterr().out)))) == 6


def test_files_are_written_and_the_table_is_shown_too(measured, folder, capsys):
    assert main(["bench", "gemm", "--json", "b.json", "--csv", "b.csv"]) == 0
    assert json.loads((folder / "modules/b.json").read_text())["version"] == 1
    assert (folder / "modules/b.csv").read_text().startswith("workload,")
    out = capsys.readouterr().out
    assert "% roof" in out and out.splitlines()[-1] == "every sample stands in b.json"


def test_a_hidden_core_type_is_warned_of_beside_json_too(measured, capsys, monkeypatch):
    hidden = report(machine={**MACHINE, "hidden_core": "SkylakeX"})
    monkeypatch.setattr(run, "measure_all", lambda *args: hidden)
    assert main(["bench", "gemm", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) and "OPENBLAS_CORETYPE" in err


def test_without_a_name_everything_is_measured(measured, folder):
    assert main(["bench"]) == main(["bench", "all"]) == main(["bench", "relu", "all"]) == 0
    for root, tasks, _, threads, _ in measured:
        assert root == folder.resolve() and threads == 1
        floats = {"gemm", "softmax", "layernorm", "relu", "conv"}
        assert {w.name for w, _ in tasks} == floats | {"int8", "q4"}


def test_what_is_asked_for_is_what_is_measured(measured):
    main(["bench", "relu", "gemm", "relu", "--sizes", "8,9", "--threads", "1", "--peers", "numpy"])
    [(_, tasks, libraries, threads, _)] = measured
    assert [(w.name, dims) for w, dims in tasks] == [
        ("relu", (8, 8)),
        ("relu", (9, 9)),
        ("gemm", (8, 8, 8)),
        ("gemm", (9, 9, 9)),
    ]
    assert (libraries, threads) == (["numpy"], 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["matmul"], "nothing to bench is called 'matmul'"),
        (["gemm", "--sizes", "0"], "sizes begin at 1"),
        (["gemm", "--sizes", "-4"], "'-4' is no size"),
        (["gemm", "--sizes", "3x4"], "gemm has 3 dimensions"),
        (["gemm", "--sizes", "50000"], "of memory"),
        (["gemm", "--threads", "0"], "at least one thread"),
        (["gemm", "--threads", "-2"], "at least one thread"),
        (["gemm", "--threads", "100000"], "cores"),
        (["gemm", "--peers", "mkl"], "no peer is called 'mkl'"),
        (["gemm", "--json", "--csv"], "cannot both go to stdout"),
        (["gemm", "--json", "."], "is a folder"),
        (["gemm", "--plot", "."], "is a folder"),
        (["gemm", "--plot", "a.jpg"], "a picture ends in"),
        (["memory", "--plot"], "is a set of lessons"),
        (["compare", "a.json"], "compare takes two files, 1 were given"),
        (["compare", "a.json", "b.json"], "no such file"),
        (["compare", "a.json", "b.json", "--threads", "2"], "compare measures nothing"),
    ],
)
def test_a_mistake_is_said_at_once_and_exits_2(measured, capsys, words, message):
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert message in err and "Traceback" not in err and out == ""
    assert measured == []


def test_a_peer_that_is_not_installed_exits_2(measured, capsys, monkeypatch):
    monkeypatch.setattr("tito.bench.peers.installed", lambda name: name == "numpy")
    assert main(["bench", "gemm", "--peers", "torch"]) == 2
    assert "torch is not installed here" in capsys.readouterr().err


def test_outside_a_course_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "relu"]) == 2
    assert "no course here" in capsys.readouterr().err


def test_nothing_timed_is_a_failure(measured, monkeypatch):
    from tests.bench.reports import row

    nothing = report(gemm=[row("a", left_out="wrong result")])
    monkeypatch.setattr(run, "measure_all", lambda *args: nothing)
    assert main(["bench", "gemm"]) == 1


def test_the_last_line_repeats_what_was_asked_for():
    args = Namespace(what=["gemm"], sizes="7,1x2x3", threads=2, peers=None, json=None, repeat=None)
    assert "bench gemm --sizes 7,1x2x3 --threads 2 --json bench.json" in engineer._next(args)


class Screen(io.StringIO):
    def __init__(self, tty):
        super().__init__()
        self.isatty = lambda: tty


@pytest.mark.parametrize("tty", [True, False])
def test_the_bar_is_drawn_on_a_terminal_only_and_wiped(monkeypatch, tty):
    screen = Screen(tty)
    monkeypatch.setattr(sys, "stderr", screen)
    with engineer._Progress() as progress:
        progress(1, 4, "gemm 64x64x64: " + "long " * 50)
    drawn = screen.getvalue()
    if not tty:
        assert drawn == ""
        return
    assert "[#####...............] 1 of 4  gemm 64x64x64" in drawn
    assert all(len(part) <= progress._columns for part in drawn.split("\r"))
    assert drawn.split("\r")[-2].strip() == "" and "\n" not in drawn


def test_a_terminal_without_unicode_or_colours_survives(folder):
    done = subprocess.run(
        [sys.executable, "-m", "tito", "bench", "relu", "--sizes", "4", "--peers", "numpy"],
        env={
            **os.environ,
            "PYTHONPATH": str(HOME),
            "PYTHONIOENCODING": "ascii",
            "PYTHONUTF8": "0",
            "NO_COLOR": "1",
        },
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"relu 4 x 4" in done.stdout and b"\x1b" not in done.stdout


def test_pictures_are_written_beside_the_table(measured, folder, capsys):
    assert main(["bench", "all", "--csv", "--plot", "my plots.svg"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("workload,")
    assert "the pictures are in my plots.svg" in err
    assert (folder / "modules" / "my plots.svg").read_text().startswith("<?xml")


def test_two_reports_are_compared(measured, capsys):
    for name in ("before.json", "after.json"):
        assert main(["bench", "gemm", "--json", name]) == 0
    capsys.readouterr()
    assert main(["bench", "compare", "before.json", "after.json"]) == 0
    assert "after.json: 2 same" in capsys.readouterr().out
    assert main(["bench", "compare", "before.json", "after.json", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["changes"]) == 4


def test_roofline_says_roofs_and_points(measured, capsys):
    assert main(["roofline", "gemm"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("roofs of one core") and "gemm 100x100x100 loops" in out
    assert out.splitlines()[-1].startswith("next: ")
    assert main(["roofline", "gemm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["peak_flops"] == 100e9
    assert main(["roofline", "memory"]) == 2
    assert "only kernels stand under a roof" in capsys.readouterr().err
