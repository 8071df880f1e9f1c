"""Two reports: a change is told from noise, and from a machine that was slower throughout."""

import json

import pytest

from tests.bench.reports import report, row
from tito.bench import comparison_text
from tito.bench.compare import FASTER, SAME, SLOWER, UNCLEAR, compare, read
from tito.bench.export import to_json
from tito.errors import UserError


def measured(factor=1.0, peers=(0.5, 0.25), loops=(9.8, 10, 10.2), **more):
    """A report in which everything took `factor` times as long."""
    rows = [
        row("loops", *(factor * ms for ms in loops)),
        row("numpy matmul", *(factor * peers[0] * n for n in (0.99, 1, 1.01)), library="numpy"),
        row("torch matmul", *(factor * peers[1] * n for n in (0.99, 1, 1.01)), library="torch"),
    ]
    return json.loads(to_json(report(gemm=rows, **more)))


def verdict_of(before, after, rung="loops"):
    return next(c for c in compare(before, after).changes if c.key[2] == rung).verdict


def test_the_same_twice_is_no_change():
    found = compare(measured(), measured())
    assert {c.verdict for c in found.changes} == {SAME}
    assert found.drift == found.floor == 1


def test_a_kernel_that_became_faster_or_slower_is_named():
    fast = measured(loops=(4.9, 5, 5.1))
    assert verdict_of(measured(), fast) == FASTER
    assert verdict_of(fast, measured()) == SLOWER
    (change,) = compare(measured(), fast).those(FASTER)
    assert change.ratio == pytest.approx(2)
    assert change.low < 2 < change.high


def test_a_machine_that_is_slower_throughout_changes_nothing():
    found = compare(measured(), measured(factor=1.7))
    assert found.drift == pytest.approx(1.7)
    assert {c.verdict for c in found.changes} == {SAME}
    assert verdict_of(measured(), measured(factor=1.7, loops=(4.9, 5, 5.1))) == FASTER


def test_what_the_peers_do_too_is_noise():
    """NumPy read 15 % apart from the other peer: 10 % of a rung then say nothing."""
    loud = measured(peers=(0.5 * 1.15, 0.25 / 1.15), loops=(9.0, 9.0, 9.0))
    assert compare(measured(), loud).floor == pytest.approx(1.15)
    assert verdict_of(measured(), loud) == SAME
    assert verdict_of(measured(), measured(loops=(9.0, 9.0, 9.0))) == FASTER


def test_bands_that_overlap_are_no_change():
    wide = measured(loops=(5, 8, 11))
    assert verdict_of(measured(), wide) == SAME


def test_without_peers_nothing_is_called_faster():
    rows = {"before": [row("loops", 10, 10, 10)], "after": [row("loops", 5, 5, 5)]}
    before, after = (json.loads(to_json(report(gemm=r))) for r in rows.values())
    found = compare(before, after)
    assert [c.verdict for c in found.changes] == [UNCLEAR]
    assert "--peers numpy" in comparison_text.text(found, "a.json", "b.json")


def test_what_only_one_has_is_listed_with_the_reason():
    old = [row("loops", 10, 10), row("blocked", left_out="not written yet")]
    new = [row("blocked", 1, 1), row("loops", 10, 10)]
    before, after = (json.loads(to_json(report(gemm=r))) for r in (old, new))
    found = compare(before, after)
    assert found.only == ((), ((("gemm", "100x100x100", "blocked"), "not written yet"),))
    shown = comparison_text.text(found, "a.json", "b.json")
    assert "gemm 100x100x100 blocked: only in b.json; in a.json: not written yet" in shown


def test_other_machines_threads_and_libraries_are_said_first():
    other = measured(threads=2)
    other["machine"]["facts"]["blas_core"] = "SkylakeX"
    shown = comparison_text.text(compare(measured(), other), "a", "b")
    assert shown.startswith("not measured alike (a -> b)")
    assert "threads    1 -> 2" in shown and "blas_core  Haswell -> SkylakeX" in shown


def test_two_reports_without_a_common_row_are_compared_all_the_same():
    before = json.loads(to_json(report(gemm=[row("a", 1)])))
    after = json.loads(to_json(report(gemm=[row("b", 1)])))
    assert "no rung was timed in both" in comparison_text.text(compare(before, after), "a", "b")


def test_programs_get_the_same():
    found = json.loads(comparison_text.to_json(compare(measured(), measured(factor=2))))
    assert found["drift"] == pytest.approx(2)
    assert found["changes"][0]["rung"] == "loops" and found["changes"][0]["verdict"] == SAME


@pytest.mark.parametrize(
    "content, words",
    [
        (None, "no such file"),
        ("", "no report of tito bench"),
        ("[1]", "no results"),
        ('{"results": [], "version": 99}', "version 99"),
        ('{"results": [{"rows": [{}]}], "version": 1}', "damaged"),
        ("\0", "no report"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, content, words):
    path = tmp_path / "a b.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=words) as refused:
        read(path)
    assert "a b.json" in str(refused.value)
