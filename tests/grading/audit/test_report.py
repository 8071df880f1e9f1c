"""CPU time of an audit: of processes that ended and of those that still run."""

from __future__ import annotations

import subprocess
import sys

from tito.grading import audit
from tito.grading.audit.report import Report, cpu_seconds

BURN = "import time\nwhile time.process_time() < 0.4: pass\nprint(1, flush=True)\ninput()\n"


def test_the_work_of_a_child_counts_while_it_runs_and_when_it_has_ended():
    before = cpu_seconds()
    child = subprocess.Popen(
        [sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    child.stdout.readline()
    assert cpu_seconds() - before > 0.3
    child.communicate(b"\n")
    assert cpu_seconds() - before > 0.3


def test_what_runs_beside_a_part_is_not_counted_to_it():
    class Beside:
        def cpu_seconds(self):
            return cpu_seconds(child.pid)

    def wait():
        child.stdout.readline()
        yield "found"

    report = Report("m")
    with subprocess.Popen(
        [sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        part = audit._Parts(report, lambda text: None)
        part.beside = Beside()
        part("a part", "nothing", wait())
        assert Beside().cpu_seconds() > 0.3
        child.stdin.write(b"\n")
    assert report.problems == ["found"]
    [(name, tried, seconds)] = report.parts
    assert seconds < 0.3


def test_a_report_is_green_without_problems_and_adds_its_parts_up():
    report = Report("m", parts=[("a", "", 1.5), ("b", "", 2.0)])
    assert report.green
    assert report.cpu_seconds == 3.5
    assert not Report("m", ["one"]).green
