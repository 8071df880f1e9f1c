"""What the test cells of a module import.

    from tito.checks import expect_close, expect_raises, expect_unchanged, expect_fresh

A failed check raises `CheckFailed`, whose text is the whole message for the student: the case, what
came out, what was expected, a likely cause, what to try. A check that is used wrongly (nothing to
compare, an expected value that is no number) raises ValueError or TypeError: that is the author's
mistake, not the student's.
"""

from tito.checks.assembly import Code, all_code, inner_loops
from tito.checks.cache import cache_misses
from tito.checks.claims import claim
from tito.checks.counting import (
    Trace,
    at_most,
    contents,
    expect_reads,
    is_copied,
    trace,
)
from tito.checks.display import install_in_notebook
from tito.checks.expect import (
    expect_close,
    expect_equal,
    expect_fresh,
    expect_raises,
    expect_returns,
    expect_unchanged,
    expect_written,
)
from tito.checks.failure import CheckFailed
from tito.checks.meeting import Meeting
from tito.checks.patience import wait_for
from tito.checks.runtime import Counts
from tito.checks.speed import Speed, speed
from tito.checks.tools import counts, points, remote_array, rng, worker

__all__ = [
    "CheckFailed",
    "Code",
    "Counts",
    "Meeting",
    "Speed",
    "Trace",
    "all_code",
    "at_most",
    "cache_misses",
    "claim",
    "contents",
    "counts",
    "expect_close",
    "expect_equal",
    "expect_fresh",
    "expect_raises",
    "expect_reads",
    "expect_returns",
    "expect_unchanged",
    "expect_written",
    "inner_loops",
    "is_copied",
    "points",
    "remote_array",
    "rng",
    "speed",
    "trace",
    "wait_for",
    "worker",
]

# A student may run the first cell, which does this too, after a test cell or not at all.
install_in_notebook()
