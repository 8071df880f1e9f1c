"""A class in which most hand-ins are hostile or strange: each gets what it earned, no more."""

import copy
import json
import sys

import pytest

from tests.grading.judge.samples import (
    CLAMP,
    CLAMP_WRONG,
    DOUBLE,
    DOUBLE_WRONG,
    as_file,
    hand_in,
    master,
    solution,
    test_cell,
    without_metadata,
)
from tito.grading.batch import Batch
from tito.grading.executors import threads
from tito.grading.handins import Wanted, find_handins
from tito.grading.limits import Limits
from tito.notebook import Cell, Notebook

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="hostile code runs where a sandbox holds it"
)
# So short for what runs for ever. A machine that stands still books seconds on whoever runs: who
# has less than was earned is graded once more, so many times in all; who has more is not.
TRIES = 3
LIMITS = Limits(
    solution=1, given=1, extra=0.5, call=1, test=3, idle=3, wall_factor=30, memory=1 << 30
)
ALL, NOTHING, DOUBLE_ONLY = 7, 0, 4


def wrong(before=""):
    """All answers wrong, with this code in front of the first."""
    return hand_in(before + "\n" + CLAMP_WRONG, DOUBLE_WRONG)


def right(before):
    return hand_in(before + "\n" + CLAMP, DOUBLE)


def with_cells(notebook, *cells, at=None):
    own = copy.deepcopy(notebook.cells)
    at = len(own) if at is None else at
    return Notebook([*own[:at], *cells, *own[at:]], notebook.metadata)


def renamed_metadata(notebook, **changes):
    own = copy.deepcopy(notebook)
    for cell in own.cells:
        if cell.graded:
            cell.nbgrader.update(changes)
    return own


def kernel(name, language):
    own = hand_in()
    own.metadata = {"kernelspec": {"name": name, "language": language, "display_name": name}}
    return own


# what it is -> (the hand-in, the points it earned)
HAND_INS = {
    "honest": (hand_in(), ALL),
    "honestly-wrong": (wrong(), NOTHING),
    # tries to make the tests pass
    "patches-asserts-away": (
        wrong(
            "import ast, sys\nsys.flags\n__debug__\nimport unittest\nAssertionError = ValueError"
        ),
        NOTHING,
    ),
    "patches-builtins": (
        wrong("import builtins\nbuiltins.AssertionError = KeyError\nbuiltins.all = lambda x: True"),
        NOTHING,
    ),
    "transforms-later-cells": (
        wrong("get_ipython().input_transformers_cleanup.append(lambda lines: [])"),
        NOTHING,
    ),
    "replaces-the-shell": (
        wrong("ip = get_ipython()\nip.run_cell = ip.showtraceback = lambda *a, **k: None"),
        NOTHING,
    ),
    "rewrites-the-caller": (
        wrong(
            "import inspect, gc\nfor o in gc.get_objects():\n"
            "    if isinstance(o, dict) and 'assert' in str(o)[:99]: o.clear()"
        ),
        NOTHING,
    ),
    "copies-the-test-after": (
        with_cells(wrong(), test_cell("clamp-test", "pass", 50), at=4),
        NOTHING,
    ),
    "copies-the-test-before": (
        with_cells(wrong(), test_cell("clamp-test", "pass", 50), at=3),
        NOTHING,
    ),
    "raises-the-points": (renamed_metadata(wrong(), points=1000, locked=False), NOTHING),
    "grades-nothing": (renamed_metadata(wrong(), grade=False), NOTHING),
    "looks-for-answers": (
        wrong(
            "import glob, os\nfound = glob.glob('/**/*small*', recursive=True)\n"
            "print(open(found[0]).read(), os.environ)"
        ),
        NOTHING,
    ),
    "exits": (wrong("import os\nos._exit(0)"), NOTHING),
    # strange, and right all the same
    "no-metadata": (without_metadata(hand_in()), ALL),
    "three-hundred-cells": (
        with_cells(hand_in(), *(Cell("code", f"x{i} = {i}") for i in range(300))),
        ALL,
    ),
    "prints-to-stderr": (
        right("import sys, logging\nlogging.error('x')\nsys.stderr.write('y')"),
        ALL,
    ),
    "unknown-kernel": (kernel("my kernel!", "python"), ALL),
    "wrong-pick-in-a-menu": (kernel("zsh", "zsh"), ALL),
    # a mishap costs its own question
    "loops": (right("while True: pass"), DOUBLE_ONLY),
    "sleeps": (right("import time\ntime.sleep(9999)"), DOUBLE_ONLY),
    "recurses": (right("def r(n): return r(n + 1)\nr(0)"), DOUBLE_ONLY),
    "asks": (right("name = input('who are you? ')"), DOUBLE_ONLY),
    "raises": (right("raise RuntimeError('boom')"), DOUBLE_ONLY),
    "leaves": (right("exit()"), DOUBLE_ONLY),
    "wants-a-window": (right("import tkinter\ntkinter.Tk()"), DOUBLE_ONLY),
    "forks": (right("import os\nwhile True:\n    os.fork()"), DOUBLE_ONLY),
    "writes-outside": (right("open('/tmp/tito-was-here', 'w').write('x')"), DOUBLE_ONLY),
}
NOT_GRADED = {
    "empty": (b"", "broken", "empty"),
    "torn": (as_file(hand_in())[:300], "broken", "ends too early"),
    "page": (b"<!DOCTYPE html><html>please log in</html>", "broken", "web page"),
    "latin-1": ('{"cells": ["naïve"]}'.encode("latin-1"), "broken", "not UTF-8"),
    "another-notebook": (
        as_file(Notebook([solution("other", "def other(): pass")])),
        "broken",
        "belongs to small",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Everybody's result, by name; and the folder it was handed in."""
    root = tmp_path_factory.mktemp("class")
    for name, (notebook, _) in HAND_INS.items():
        _put(root, name, as_file(notebook))
    for name, (data, _, _) in NOT_GRADED.items():
        _put(root, name, data)
    _put(root, "shadows-a-module", as_file(hand_in("import math\n" + CLAMP)))
    (root / "shadows-a-module" / "math.py").write_text("raise SystemExit('shadowed')")
    (root / "forgot-it").mkdir()
    (root / "forgot-it" / "notes.txt").write_text("sorry")
    nb = master()
    found = find_handins(root, Wanted("small", tuple(c.grade_id for c in nb.cells if c.grade_id)))
    handins, results = found.handins, {}
    for _ in range(TRIES):
        rows = Batch(nb, limits=LIMITS).run(handins, threads(2))
        results |= {row.student: row.result for row in rows}
        handins = [one for one in handins if _has_less(one.student, results)]
        if not handins:
            break
    return results


def _has_less(student, results):
    return student in HAND_INS and results[student].points < HAND_INS[student][1]


def _put(root, student, data):
    (root / student).mkdir()
    (root / student / "small.ipynb").write_bytes(data)


@pytest.mark.parametrize("name", HAND_INS)
def test_each_gets_what_it_earned(graded, name):
    result = graded[name]
    assert result.status == "graded", result.reason
    told = [(c.id, c.status, c.message) for c in result.cells]
    assert result.points == HAND_INS[name][1], told
    assert result.max_points == ALL


@pytest.mark.parametrize("name", NOT_GRADED)
def test_each_that_cannot_be_graded_has_a_reason(graded, name):
    _, status, reason = NOT_GRADED[name]
    result = graded[name]
    assert result.status == status and reason in result.reason
    assert (result.points, result.max_points) == (0, ALL)


def test_files_beside_the_notebook_are_never_imported(graded):
    assert graded["shadows-a-module"].points == ALL
    assert graded["forgot-it"].status == "missing"


def test_every_lost_point_has_a_reason(graded):
    for name, result in graded.items():
        for cell in result.cells:
            assert cell.points == cell.max_points or cell.message, (name, cell.id)


def test_a_large_output_is_dropped(tmp_path):
    own = hand_in()
    own.cells[2].outputs = [{"output_type": "stream", "name": "stdout", "text": "x" * (8 << 20)}]
    _put(tmp_path, "ann", as_file(own))
    found = find_handins(tmp_path, Wanted("small"))
    [row] = Batch(master()).run(found.handins, threads(1))
    assert row.result.points == ALL
    assert len(json.dumps(row.result.to_json())) < 5000
