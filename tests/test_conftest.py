"""Skipped attacks are counted as skipped, and fail where the sandbox is required."""

from types import SimpleNamespace

import pytest

from tests import conftest
from tests.conftest import LONG, count, long_first, missing

pytest_plugins = ["pytester"]


def report(name, outcome, when="call"):
    return SimpleNamespace(nodeid=name, outcome=outcome, when=when)


def test_a_skipped_attack_is_no_attack_withstood():
    reports = [
        report("tests/hostile/test_a.py::one", "passed", "setup"),
        report("tests/hostile/test_a.py::one", "passed"),
        report("tests/hostile/test_a.py::two", "failed"),
        report("tests/hostile/test_a.py::three", "skipped"),
        report("tests/grading/sandbox/test_b.py::four", "skipped", "setup"),
        report("tests/notebook/test_c.py::five", "passed"),
    ]
    assert count(reports) == (2, 2)


@pytest.mark.parametrize(
    ("layers", "lacking"),
    [
        (["tmpfs", "landlock7", "rlimits", "seccomp"], []),
        (["rlimits", "seccomp"], ["landlock"]),
        ([], ["landlock", "seccomp", "rlimits"]),
    ],
)
def test_the_floor_is_what_must_not_be_missing(layers, lacking):
    assert missing(layers) == lacking


@pytest.mark.parametrize(("required", "outcome"), [("", "skipped"), ("1", "failed")])
def test_an_attack_skipped_for_want_of_a_layer(pytester, monkeypatch, required, outcome):
    monkeypatch.setenv("TITO_REQUIRE_SANDBOX", required)
    attack = pytester.mkpydir("tests").joinpath("hostile")
    attack.mkdir()
    attack.joinpath("test_it.py").write_text(
        "import pytest\n\ndef test_it():\n    pytest.skip(\"needs one of ('landlock',)\")\n"
    )
    hooks = SimpleNamespace(pytest_runtest_makereport=conftest.pytest_runtest_makereport)
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(pytester.path),
        "tests/hostile", plugins=[hooks],
    )  # fmt: skip
    result.assert_outcomes(**{outcome: 1})


@pytest.mark.parametrize(
    ("long", "short", "workers"), [(5, 20, 4), (0, 7, 3), (3, 0, 2), (9, 2, 4)]
)
def test_each_worker_begins_with_its_share_of_what_is_long(long, short, workers):
    names = [*(f"tests/a.py::{n}" for n in range(short)), *(f"{LONG[0]}{n}" for n in range(long))]
    items = [SimpleNamespace(nodeid=name) for name in names]
    ordered = [item.nodeid for item in long_first(items, workers)]
    assert sorted(ordered) == sorted(names), "none is lost, none comes twice"
    if short > long:
        size = len(names) // workers
        for number in range(workers):
            part = ordered[number * size : (number + 1) * size]
            shared = [name for name in names if name.startswith(LONG)][number::workers]
            assert part[: len(shared)] == shared
        rest = [name for name in ordered if not name.startswith(LONG)]
        assert rest == names[:short], "the others keep their order"


CLOCKED = """
import pytest

tries, shared = [], []

@pytest.fixture(scope="module")
def of_module():
    shared.append(None)
    yield
    shared.append(None)

@pytest.fixture
def fresh(of_module):
    tries.append(None)
    yield
    tries.append(None)

@pytest.mark.parametrize("needed", [1, 2, 3, 4])
@pytest.mark.clock
def test_it(fresh, needed):
    made = 2 * (needed - 1) + 1
    assert len(tries) >= made and len(shared) == 2 * sum(range(needed)) + 1
    tries.clear()

def test_other():
    assert False
"""


def test_what_hangs_on_a_clock_fails_if_it_fails_three_times(pytester, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(conftest, "time", SimpleNamespace(sleep=slept.append))
    pytester.makepyfile(CLOCKED)
    hooks = SimpleNamespace(
        pytest_runtest_protocol=conftest.pytest_runtest_protocol,
        pytest_terminal_summary=conftest.pytest_terminal_summary,
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[hooks])
    result.assert_outcomes(passed=3, failed=2)
    again = [line for line in result.outlines if line.startswith("passed at try")]
    assert [line.split(": ")[0][-1] for line in again] == ["2", "3"]
    assert all("test_it" in line for line in again)
    first, second = conftest.PAUSES
    assert slept == [first, first, second, first, second], "each try waits longer than the last"
