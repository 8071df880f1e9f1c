"""What confined student code while the tests ran is said at their end, and what was not tried."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

# By the clock on the wall a busy machine is slow: no deadline may fail right code.
settings.register_profile("tito", deadline=None)
settings.load_profile("tito")

# As tito itself does: the grammars of a URI checker, which nbformat and nbgrader would import, take
# longer than all the rest of them, in each process that runs tests.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

REQUIRE = "TITO_REQUIRE_SANDBOX"  # set in CI: a missing layer is a failure there
FLOOR = ("landlock", "seccomp", "rlimits")  # what every Linux we promise has
# Folders whose tests are attacks: one that is skipped has not been withstood.
ATTACKS = ("tests/hostile/", "tests/grading/sandbox/")
NEEDS = "needs one of"  # the words of every skip for want of a layer


def is_attack(nodeid: str) -> bool:
    return nodeid.startswith(ATTACKS)


def count(reports: Iterable[Any]) -> tuple[int, int]:
    """(attacks tried, attacks skipped) among the reports of a run."""
    reports = [r for r in reports if is_attack(getattr(r, "nodeid", ""))]
    skipped = {r.nodeid for r in reports if r.outcome == "skipped"}
    return len({r.nodeid for r in reports if r.when == "call"} - skipped), len(skipped)


def missing(layers: Sequence[str]) -> list[str]:
    """The layers of the floor that are not there."""
    return [name for name in FLOOR if not any(layer.startswith(name) for layer in layers)]


def active_layers() -> list[str]:
    """The layers of a student's process here, asked of a real one."""
    from tito.grading.engine.spawn import SpawnEngine
    from tito.grading.judge.world import World
    from tito.grading.stage import make_stage

    with make_stage() as stage:
        world = World(SpawnEngine(), stage)
        try:
            return list(world.layers)
        finally:
            world.close()


def _reports(terminal: Any) -> list[Any]:
    return [r for kind in terminal.stats.values() for r in kind if hasattr(r, "when")]


# Few tests cannot do without a clock or a limit of a second. A machine that stands still fails
# such a test for once, and not thrice in a row. What came right at a later try is named in the
# end: what is there in every run has a fault that is no machine's. No attack that could win by
# luck may be marked.
PAUSES = (10, 40)  # seconds before each further try: a machine is busy for minutes, not for moments
MOST_TRIES = 1 + len(PAUSES)
TRIES = "tries"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Tests marked `clock` fail if they fail MOST_TRIES times, each with fixtures of its own."""
    if item.get_closest_marker("clock") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    tried, failed = 0, True
    while failed and tried < MOST_TRIES:
        if tried:  # what a module shares is made anew, too
            time.sleep(PAUSES[tried - 1])
            item.session._setupstate.teardown_exact(None)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        tried, failed = tried + 1, any(report.failed for report in reports)
    for report in reports:
        report.user_properties.append((TRIES, tried))
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def tried_again(reports: Iterable[Any]) -> list[str]:
    """Which tests passed at a later try, with the number of tries."""
    tries = {r.nodeid: dict(r.user_properties).get(TRIES, 1) for r in reports if r.passed}
    return [f"passed at try {n}: {nodeid}" for nodeid, n in tries.items() if n > 1]


# Each of them takes as long as hundreds of others: whole notebooks, and a browser.
LONG = ("tests/browser/", "tests/test_modules.py")


def long_first(items: Sequence[Any], workers: int) -> list[Any]:
    """The tests in an order in which no worker is left with a long one when others have ended.

    Of so many equal parts pytest-xdist gives each worker one to begin with; others that have
    nothing left take from its end. Here each begins with its share of the long ones.
    """
    long = [item for item in items if item.nodeid.startswith(LONG)]
    short = iter([item for item in items if not item.nodeid.startswith(LONG)])
    found: list[Any] = []
    for number in range(workers):
        size = (len(items) - len(found)) // (workers - number)
        mine = long[number::workers]
        found += [*mine, *islice(short, max(0, size - len(mine)))]
    return [*found, *short]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is collected stays: to look for garbage in it takes a fifth of the time, in each worker
    anew, and later in each test that looks."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = getattr(config, "workerinput", {}).get("workercount", 0)
    if workers:
        items[:] = long_first(items, workers)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the sandbox is required, a run of attacks without its floor has failed."""
    config = session.config
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(config, "workerinput"):
        return
    tried, skipped = count(_reports(terminal))
    if not tried + skipped:
        return
    layers = active_layers()
    lines = [
        f"sandbox layers: {', '.join(layers) or 'none'}; attacks tried: {tried}; "
        f"attacks skipped: {skipped}"
    ]
    lacking = missing(layers) if sys.platform == "linux" else []
    if os.environ.get(REQUIRE) and lacking:
        lines.append(f"{REQUIRE} is set and there is no {', no '.join(lacking)}: the run failed")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    config.stash[_LINES] = lines


_LINES = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    again = tried_again(terminalreporter.stats.get("passed", []))
    for line in [*config.stash.get(_LINES, []), *again]:
        terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Where the sandbox is required, an attack skipped for want of a layer has failed."""
    report = yield
    if report.skipped and os.environ.get(REQUIRE) and is_attack(item.nodeid):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if NEEDS in reason:
            report.outcome = "failed"
            report.longrepr = f"{REQUIRE} is set; {reason}"
    return report


@pytest.fixture(params=["fork", "spawn"])
def any_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What grades, grades with each engine in turn, and what the test says holds with both."""
    from tito.grading.engine.warm import forking_works

    if request.param == "fork" and not forking_works():
        pytest.skip("this system cannot fork as the fork engine needs it")
    monkeypatch.setenv("TITO_ENGINE", request.param)
    return request.param


@pytest.fixture(scope="session")
def _ready() -> Iterator[Any]:
    from tests.grading.ready import start_ready
    from tito.grading.engine.warm import forking_works

    ready = start_ready() if forking_works() else None
    yield ready
    if ready is not None:
        ready.close()


@pytest.fixture
def ready_judges(_ready: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that is spawned has loaded already, where this system can fork one that has."""
    if _ready is not None:
        from tests.grading.ready import ReadyJudge

        monkeypatch.setattr(ReadyJudge, "ready", _ready, raising=False)
        monkeypatch.setattr("tito.grading.judge.pool.SpawnedJudge", ReadyJudge)
