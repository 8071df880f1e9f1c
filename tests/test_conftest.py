"""Skipped attacks are counted as skipped, and fail where the sandbox is required."""

from types import SimpleNamespace

import pytest

from tests import conftest
from tests.conftest import count, missing

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
