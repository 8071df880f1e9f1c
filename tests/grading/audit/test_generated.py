"""Generated mutants against tests, in the warm child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.grading.audit.sample import LARGEST, TEST, small_master
from tito.errors import UserError
from tito.grading.audit import generated, warm
from tito.grading.audit.generated import Equivalent
from tito.grading.engine.base import wants_cpu

WEAK = 'assert largest([]) == -math.inf, "nothing"\n'
SAME = Equivalent(
    "largest", "if values[i] > best:", "if (values[i] >= best):", "an equal number is as large"
)


def titles(found):
    return [(m.was, m.becomes) for m in found]


def test_good_tests_leave_only_what_changes_nothing():
    outcome = generated.run(small_master(), Path(), [])
    assert outcome.tried > 5
    assert outcome.red == []
    assert titles(outcome.survivors) == [(SAME.was, SAME.becomes)]


def test_an_entry_with_its_reason_excuses_a_survivor():
    outcome = generated.run(small_master(), Path(), [SAME])
    assert outcome.survivors == []
    assert titles(outcome.excused) == [(SAME.was, SAME.becomes)]
    assert outcome.unused == []


def test_an_entry_that_excuses_nothing_is_told():
    other = Equivalent("largest", "no such line", "none", "no reason")
    assert generated.run(small_master(), Path(), [SAME, other]).unused == [other]


def test_weak_tests_let_mutants_live():
    weak = small_master(largest_test=WEAK, largest_hidden=WEAK)
    assert len(generated.run(weak, Path(), []).survivors) > 3


def test_points_that_are_not_full_kill_a_mutant():
    partial = WEAK + "2 if largest([1.0, 2.0, 0.5]) == 2.0 else 0\n"
    master = small_master(largest_test=partial, largest_hidden=WEAK)
    survivors = titles(generated.run(master, Path(), []).survivors)
    assert ("best = -math.inf", "best = math.inf") not in survivors
    assert ("if values[i] > best:", "if (values[i] <= best):") not in survivors


def test_a_mutant_that_never_ends_is_stopped_and_counts_as_found(monkeypatch):
    monkeypatch.setattr(generated, "SECONDS", 1.0)
    counting = """\
def largest(values):
    ### BEGIN SOLUTION
    n = len(values)
    while n == 3:
        n = 4
    return max(values, default=-math.inf)
    ### END SOLUTION
"""
    outcome = generated.run(small_master(largest=counting), Path(), [])
    assert outcome.tried > 3
    assert ("while n == 3:", "while (n != 3):") not in titles(outcome.survivors)


def test_a_red_reference_is_named():
    wrong = small_master(largest=LARGEST.replace("> best", "< best"))
    assert "largest-test" in generated.run(wrong, Path(), []).red


def test_a_given_cell_that_fails_is_an_error_of_the_user():
    with pytest.raises(UserError, match="no_such_module"):
        generated.run(small_master(given="import no_such_module"), Path(), [])


def job(*mutants, **changed):
    return {
        "root": ".",
        "seconds": 0.3,
        "jobs": 2,
        "cells": [{"label": "given", "source": "import math"}, {"label": "f", "source": LARGEST}],
        "tests": {"largest": [{"id": "t", "points": "2", "source": _local(TEST)}]},
        "mutants": [{"exercise": "largest", "source": source} for source in mutants],
        **changed,
    }


def fates(events):
    found = {e["mutant"]: e["killed by"] for e in events if "mutant" in e}
    return [found[number] for number in sorted(found)]


def in_a_child(job):
    done = subprocess.run(
        [sys.executable, "-m", "tito.grading.audit.warm"],
        input=json.dumps(job).encode(),
        capture_output=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_without_fork_the_fate_is_the_same(monkeypatch):
    several = job(
        LARGEST,
        LARGEST.replace("> best", "< best"),
        "def largest(v):\n    while True:\n        pass\n",
        "1 / 0",
    )
    assert fates(in_a_child(several)) == ["survived", "t", "time", "cell"]
    with monkeypatch.context() as without:
        without.delattr(warm.os, "fork", raising=False)
        runtime = warm._Runtime()
        with warm.use(runtime):
            assert fates(warm._run(several, runtime)) == ["survived", "t", "time", "cell"]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants run one after another")


@needs_fork
@pytest.mark.parametrize(("jobs", "first"), [(1, "time"), (2, "survived")])
def test_so_many_mutants_as_the_job_says_run_at_a_time(tmp_path, jobs, first):
    place = str(tmp_path / "came")
    waits = f"import os, time\nwhile not os.path.exists({place!r}):\n    time.sleep(0.05)\n"
    comes = f"open({place!r}, 'w').close()\n"
    two = job(waits + LARGEST, comes + LARGEST, jobs=jobs, seconds=0.3)
    assert fates(in_a_child(two)) == [first, "survived"]


@needs_fork
def test_what_sleeps_is_ended_and_what_waits_for_a_cpu_is_not():
    sleeps = job("import time\ntime.sleep(1000)\n" + LARGEST, seconds=0.1)
    assert fates(in_a_child(sleeps)) == ["time"]
    if sys.platform == "linux":
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
            assert any(wants_cpu(busy.pid) for _ in range(1000))
            busy.kill()
        reads = "print(flush=True); input()"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([sys.executable, "-c", reads], **pipes) as idle:
            idle.stdout.readline()
            # A moment later it reads; only a machine that never lets it would keep this waiting.
            while wants_cpu(idle.pid):
                time.sleep(0.05)
            idle.kill()


def test_the_child_says_its_cpu_time_and_that_of_its_mutants():
    burns = "sum(range(10_000_000))\n" + LARGEST
    *_, last = in_a_child(job(burns, burns, burns, seconds=3.0))
    assert last["cpu"] > 0.3


def _local(test):
    return test.replace("specification(values)", "max(values)")


@pytest.mark.parametrize("key", ["exercise", "was", "becomes", "reason"])
def test_an_entry_needs_all_its_parts(tmp_path, key):
    parts = {"exercise": "f", "was": "a", "becomes": "b", "reason": "why"}
    parts[key] = " "
    lines = [f'{k} = "{v}"' for k, v in parts.items()]
    (tmp_path / "equivalent.toml").write_text("[[equivalent]]\n" + "\n".join(lines), "utf-8")
    with pytest.raises(UserError, match=f"has no {key}"):
        generated.read_equivalent(tmp_path)


def test_entries_are_read(tmp_path):
    assert generated.read_equivalent(tmp_path) == []
    text = '[[equivalent]]\nexercise = "f"\nwas = "a"\nbecomes = "b"\nreason = "why"\n'
    (tmp_path / "equivalent.toml").write_text(text, "utf-8")
    assert generated.read_equivalent(tmp_path) == [Equivalent("f", "a", "b", "why")]
    (tmp_path / "equivalent.toml").write_text("[[", "utf-8")
    with pytest.raises(UserError, match="TOML"):
        generated.read_equivalent(tmp_path)
