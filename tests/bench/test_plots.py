"""Pictures: what is drawn in them, asked of the figure before it becomes pixels."""

import builtins
from pathlib import Path

import pytest

from tests.bench.reports import MACHINE, report, row
from tito.bench import plots
from tito.bench.ladders import WORKLOADS
from tito.bench.results import Report, Table
from tito.errors import UserError

pytest.importorskip("matplotlib")


def axes_of(found):
    return plots.draw(found).axes


def labels(axes):
    return [t.get_text() for t in axes.get_yticklabels()]


def texts(axes):
    return [t.get_text() for t in axes.texts]


def test_a_workload_has_a_ladder_a_sweep_and_a_roofline():
    ladder, sweep, roofline = axes_of(report())
    assert ladder.get_title() == "gemm 100x100x100: the ladder"
    assert labels(ladder) == ["loops", "blocked", "numpy matmul", "torch matmul"]
    assert {"0.2", "2", "4", "8", "roof "} == set(texts(ladder))
    assert [line.get_label() for line in sweep.get_lines()] == labels(ladder)
    assert {"L2", "memory", "128 bit", "256 bit"} == set(texts(roofline))


def test_points_stand_at_their_intensity_and_rate():
    points = {line.get_label(): line for line in axes_of(report())[2].get_lines()}
    (x,), (y,) = points["loops"].get_data()
    assert x == pytest.approx(2e6 / 120e3)
    assert y == pytest.approx(0.2)


def test_the_ladder_shows_the_size_with_most_rungs():
    small = Table.of(WORKLOADS["gemm"], (8, 8, 8), {"rows": [row("a", 2), row("b", 1)]})
    large = Table.of(WORKLOADS["gemm"], (64, 64, 64), {"rows": [row("b", 1)]})
    found = Report.of(MACHINE, 1, [], [large, small])
    ladder, sweep, _ = axes_of(found)
    assert labels(ladder) == ["a", "b"]
    assert [t.get_text() for t in sweep.get_xticklabels()] == ["8x8x8", "64x64x64"]


def test_a_workload_without_arithmetic_stands_under_the_bandwidths():
    found = report(gemm=[], relu=[row("relu", 1.0)])
    assert axes_of(found)[2].get_title().startswith("no arithmetic counted")
    assert {"L2", "memory"} == set(texts(axes_of(found)[2]))


def test_without_roofs_and_without_times_there_is_still_a_picture():
    bare = {**MACHINE, "peaks": {}}
    assert len(axes_of(report(machine=bare))) == 3
    assert axes_of(report(gemm=[row("a", left_out="not written yet")]))[1].get_title() == (
        "nothing was timed"
    )


def test_every_rung_can_be_told_apart_without_colour():
    rows = [row(f"rung {i}", 1 + i) for i in range(7)]
    lines = axes_of(report(gemm=rows))[1].get_lines()
    assert len({line.get_marker() for line in lines}) == 7
    assert len({line.get_color() for line in lines}) == 7


@pytest.mark.parametrize("name, start", [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_the_files_ending_chooses_the_format(name, start):
    assert plots.plot(report(), Path(name)).startswith(start)


@pytest.mark.parametrize("name", ["bench", "bench.jpg", "bench.json"])
def test_another_ending_is_refused(name):
    with pytest.raises(UserError, match=r"\.png, \.svg, \.pdf"):
        plots.check_name(Path(name))


def test_without_matplotlib_it_says_what_to_do(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "matplotlib":
            raise ImportError
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UserError, match="pip install matplotlib"):
        plots.check_name(Path("a.png"))
