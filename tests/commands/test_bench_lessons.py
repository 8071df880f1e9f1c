"""tito bench memory|blocking|threads: exit code 1 when a ratio leaves its band, and which."""

import csv
import io
import json
from dataclasses import replace

import pytest

from tests.bench.lessons.outcomes import FOUND
from tito import machine
from tito.bench import lessons
from tito.bench.lessons import lesson
from tito.cli import main


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """What would have been measured, without measuring it: (set, repeats). In no course folder."""
    monkeypatch.chdir(tmp_path)
    calls = []
    monkeypatch.setattr(lessons, "lessons_of", lambda name: name)

    def measure_lessons(name, repeats, progress):
        calls.append((name, repeats))
        return FOUND[name]

    monkeypatch.setattr(lesson, "measure_lessons", measure_lessons)
    return calls


def test_lessons_that_hold(measured, capsys):
    assert main(["bench", "threads", "--repeat", "2"]) == 0
    out, err = capsys.readouterr()
    assert measured == [("threads", 2)] and err == ""
    assert "ticks" in out and "machine: " in out
    assert "bench threads --repeat 2 --json bench.json" in out.splitlines()[-1]


def test_a_lesson_that_left_its_band(measured, capsys):
    assert main(["bench", "memory", "threads", "memory"]) == 1
    out, err = capsys.readouterr()
    assert [name for name, _ in measured] == ["memory", "threads"]
    assert err == "tito: memory: equal left its band (0.5 to 2): 2.5\n"
    assert "NO" in out.split()


def test_json_is_alone_on_stdout(measured, capsys):
    assert main(["bench", "memory", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["holds"] is False and "equal left its band" in err


def test_csv_and_files(measured, capsys, tmp_path):
    assert main(["bench", "threads", "--csv"]) == 0
    assert len(list(csv.reader(io.StringIO(capsys.readouterr().out)))) == 2
    assert main(["bench", "threads", "--json", "t.json", "--csv", "t.csv"]) == 0
    assert json.loads((tmp_path / "t.json").read_text())["version"] == 1
    assert (tmp_path / "t.csv").read_text().startswith("set,lesson,")
    assert capsys.readouterr().out.splitlines()[-1] == "every sample stands in t.json"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["memory", "gemm"], "memory is a set of lessons, gemm is not"),
        (["all", "threads"], "threads is a set of lessons, all is not"),
        (["memory", "--repeat", "0"], "at least one repeat"),
        (["memory", "--sizes", "64"], "has its own sizes and threads"),
        (["threads", "--threads", "2"], "has its own sizes and threads"),
        (["blocking", "--peers", "numpy"], "has its own sizes and threads"),
        (["gemm", "--repeat", "3"], "--repeat is for memory, blocking, threads and jit"),
        (["--repeat", "3"], "--repeat is for memory, blocking, threads and jit"),
        (["cache"], "relu, conv, int8, q4, all, memory, blocking, threads, jit"),
    ],
)
def test_a_mistake_is_said_before_anything_is_measured(
    measured, capsys, monkeypatch, words, message
):
    two_cores = replace(machine.facts(), cores=2)
    monkeypatch.setattr(machine, "facts", lambda: two_cores)
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert message in err and out == "" and measured == []


@pytest.mark.parametrize("name", lessons.SETS)
def test_every_set_has_lessons_with_bands_and_reasons(name):
    found = lessons.lessons_of(name)
    assert len(found) > 3 and len({each.name for each in found}) == len(found)
    for each in found:
        assert each.band.why and each.compared
        assert (each.prepare is None) == (each.left_out is not None)
