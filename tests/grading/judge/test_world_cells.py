"""Cells of a hand-in: what an honest student does works, what ends the process costs little."""

import contextlib
from dataclasses import replace

import pytest

from tito.grading.judge.session import Session
from tito.grading.judge.world import StudentDied, World
from tito.grading.limits import Limits
from tito.grading.stage import make_stage

STUDENT = "import numpy as np"


def run(shared, source, **options):
    run.count += 1
    return shared.world.run_cell(f"cell {run.count}", source, **options)


run.count = 0


def value(shared, name):
    with shared.test(name) as found:
        return found


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("print('a'); 1 + 1", "a\n2\n"),
        ("2;", ""),
        ("display([1, 2])", "[1, 2]\n"),
        ("import sys; print('err', file=sys.stderr)\nsys.stdout.buffer.write(b'raw');", "err\nraw"),
        ("import warnings; warnings.warn('mind')", "UserWarning: mind\n"),
        ("import os; os.write(1, b'fd');", "fd"),
        (
            "class A:\n    def __repr__(self): 1 / 0\nA()",
            "(a value whose repr raises ZeroDivisionError)\n",
        ),
        ("print('é\\ud800')", "é\\ud800\n"),
        ("", ""),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_cell_prints_what_a_notebook_shows(shared, source, output):
    outcome = run(shared, source)
    assert (outcome.status, outcome.output) == ("ok", output)


@pytest.mark.parametrize(
    ("source", "notices"),
    [
        ("%matplotlib inline\na = 1", ("%matplotlib inline was not run",)),
        ("!pip install nothing\na = 1", ("!pip install nothing was not run",)),
        ("files = !ls\na = 1 + len(files)", ("!ls was not run",)),
        ("%%time\na = 1", ()),
        ("%%capture out\nprint('x')\na = 1 if out is None else 2", ()),
        ("%time a = 1", ()),
        ("a = %time 1", ()),
        ("%prun -s cumulative a = 1", ()),
        ("a = 1\n%timeit a", ("%timeit a was not run",)),
        ("%%timeit\na = 2", ("%%timeit was not run",)),
        ("get_ipython().run_line_magic('load_ext', 'x')\na = 1", ("%load_ext x was not run",)),
        ("from IPython import get_ipython\nget_ipython().magic('pylab')\na = 1",
         ("%pylab was not run",)),
        ("import asyncio\nawait asyncio.sleep(0)\na = 1", ()),
        ("a = 1\na?", None),
    ],
)  # fmt: skip
def test_notebook_syntax_runs_or_does_nothing(shared, source, notices):
    run(shared, "a = 1; out = None")
    outcome = run(shared, source)
    assert outcome.status == "ok", outcome.message
    assert value(shared, "a") == 1
    if notices is not None:
        assert outcome.notices == notices


def test_the_body_of_a_time_magic_runs_once(shared):
    run(shared, "hits = []")
    run(shared, "%%time\nhits.append(1)\ndef timed(): return len(hits)")
    run(shared, "%time hits.append(2)")
    run(shared, "%prun hits.append(3)")
    run(shared, "%%capture text\nhits.append(4)\nprint('shown later')")
    assert value(shared, "hits") == [1, 2, 3, 4]
    assert run(shared, "text.show()").output == "shown later\n"


def test_a_failed_cell_keeps_its_first_half_and_its_line(shared):
    outcome = run(shared, "half = 1\n\nhalf = half / 0\nother = 2", defines=["half", "other"])
    assert outcome.status == "error"
    assert outcome.message == "ZeroDivisionError: division by zero"
    assert outcome.line == 3
    assert value(shared, "half") == 1
    assert "stopped at line 3: ZeroDivisionError" in shared.world.missing("other")


def test_a_cell_that_does_not_parse_tells_its_line(shared):
    outcome = run(shared, "x = 1\ny = (2,\nz = 3", defines=["y"])
    assert outcome.status == "error"
    assert outcome.message.startswith("SyntaxError")
    assert outcome.line in (2, 3)


@pytest.mark.parametrize(
    "source", ["exit()", "quit()", "import sys; sys.exit(3)", "raise SystemExit"]
)
def test_leaving_ends_the_cell_only(shared, source):
    assert run(shared, f"left = 1\n{source}").status == "error"
    assert value(shared, "left") == 1


def test_nobody_answers_input(shared):
    outcome = run(shared, "name = input('who? ')")
    assert outcome.status == "error"
    assert "input() cannot be answered" in outcome.message


def test_cells_have_files_for_inspect_and_tracebacks(shared):
    run(shared, "def f(x):\n    return x + 1  # one\nimport inspect\nsource = inspect.getsource(f)")
    assert value(shared, "source") == "def f(x):\n    return x + 1  # one\n"


def test_a_future_import_holds_for_later_cells(shared):
    run(shared, "from __future__ import annotations")
    assert run(shared, "def f(x: NotThere) -> Neither: return x").status == "ok"


def test_dataclasses_and_pickle_find_their_module(shared):
    outcome = run(
        shared,
        "import pickle\nfrom dataclasses import dataclass\n@dataclass\nclass D:\n    x: int\n"
        "assert pickle.loads(pickle.dumps(D(3))) == D(3)\nassert __name__ == '__main__'",
    )
    assert outcome.status == "ok", outcome.message


def test_closing_the_streams_harms_nobody(shared):
    run(shared, "import sys, os\nsys.stdout.close()\nos.close(1); os.close(2); os.close(0)")
    assert run(shared, "print('still here')").output == "still here\n"


def test_plots_are_drawn_nowhere(shared):
    pytest.importorskip("matplotlib")
    outcome = run(
        shared,
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\n"
        "plt.savefig('p.png')\nimport os; drawn = os.path.getsize('p.png') > 0",
    )
    assert outcome.status == "ok", outcome.message
    assert value(shared, "drawn") is True


def test_checks_are_importable_but_stay_with_the_judge(shared):
    source = "import tito.here\nfrom tito.checks import *\nfrom tito.machine import time_call"
    assert run(shared, source).status == "ok"
    outcome = run(shared, "expect_close(1, 1)")
    assert outcome.status == "error"
    assert "tito.checks.expect_close cannot be used here" in outcome.message


def test_nothing_of_the_checkout_is_on_the_path(shared):
    run(
        shared,
        "import sys, tito, tinykernels\n"
        "paths = [str(p) for p in sys.path] + [tito.__file__, tinykernels.__file__]\n"
        "hooks = [str(f) for f in sys.meta_path]\n"
        "try:\n    import tito.grading.judge\nexcept ImportError: judge = None\nelse: judge = 1",
    )
    from tito.grading.stage import SOURCES

    outside = [p for p in value(shared, "paths") if p.startswith(str(SOURCES.parent))]
    assert all("site-packages" in p for p in outside)
    assert not any("editable" in h for h in value(shared, "hooks"))
    assert value(shared, "judge") is None


def test_numba_compiles_with_cache_and_parallel(fresh):
    pytest.importorskip("numba")
    source = """
import numba, numpy as np
@numba.njit(cache=True, parallel=True)
def add(x):
    s = 0.0
    for i in numba.prange(x.size): s += x[i]
    return s
"""
    with fresh(source) as student, student.test("add") as add:
        import numpy as np

        assert add(np.ones(5)) == 5
        assert add.py_func(np.ones(3)) == 3
        assert str(add.signatures[0]).startswith("(Array(float64, 1")


def test_a_cell_that_dies_is_undone_and_the_rest_stays(fresh):
    with fresh("a = 1\nhits = 0") as student:
        world = student.world
        outcome = world.run_cell("bad", "a = 2\nimport os; os._exit(7)", defines=["f"])
        assert (outcome.status, outcome.message) == ("died", "ended the process (exit code 7)")
        assert world.missing("f") == "bad ended the process (exit code 7)"
        assert world.run_cell("after", "b = a + 1").status == "ok"
        with student.test("a", "b") as (a, b):
            assert (a, b) == (1, 2)
        outcome = world.run_cell("segv", "import ctypes; ctypes.string_at(0)")
        assert (outcome.status, outcome.message) == ("died", "killed by SIGSEGV")
        with student.test("b") as b:
            assert b == 2


def test_what_a_process_was_charged_wrongly_uses_up_no_limit(fresh, monkeypatch):
    """Neither that of the test nor that of the notebook, which add up what calls used."""
    with fresh("a = 1") as student:
        world = student.world
        monkeypatch.setattr(world._session.watch, "_forgiven", 1000.0)
        assert -1000 <= world.seconds < -500


@pytest.mark.clock
def test_a_cell_over_its_limit_is_ended(fresh):
    limits = Limits(solution=0.5, extra=0.3, idle=1.0)
    with fresh("a = 1", limits=limits) as student:
        world = student.world
        outcome = world.run_cell("loop", "while True: pass", defines=["f"])
        assert (outcome.status, outcome.message) == (
            "timeout",
            "took longer than 0.5 s of CPU time",
        )
        assert 0.4 < outcome.seconds < 30
        outcome = world.run_cell("more", "while True: pass", role="extra")
        assert outcome.message == "took longer than 0.3 s of CPU time"
        outcome = world.run_cell("sleep", "import time; time.sleep(3600)")
        assert (outcome.status, outcome.message) == ("timeout", "did nothing for 1 s")
        outcome = world.run_cell("stop", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")
        assert outcome.status == "timeout"
        with student.test("a") as a:
            assert a == 1


def test_a_call_that_dies_costs_its_test_only(fresh):
    source = "def f(x):\n    import os\n    os._exit(x)\ndef g(): return 1\nclass C: pass"
    with fresh(source) as student:
        with student.test("f", "C") as (f, C):
            one = C()
            with pytest.raises(StudentDied, match="exit code 3"):
                f(3)
            with pytest.raises(StudentDied, match="lost"):
                one.x  # noqa: B018
            assert C() is not None
        assert (student.ended.status, student.ended.lost) == (
            "died", "ended the process (exit code 3)",
        )  # fmt: skip
        with student.test("g") as g:
            assert g() == 1
        assert student.ended.lost is None


def test_an_except_clause_of_a_test_does_not_swallow_a_death(fresh):
    with fresh("def f():\n    import os\n    os._exit(1)") as student:
        with student.test("f") as f, pytest.raises(StudentDied):
            try:
                f()
            except Exception:
                pytest.fail("a death was taken for an answer")
        with student.test("f") as f:
            with contextlib.suppress(BaseException):
                f()
        assert student.ended.lost is not None


@pytest.mark.clock
def test_calls_and_tests_have_limits(fresh):
    source = """
import time
def burn(s):
    t = time.process_time()
    while time.process_time() < t + s: pass
"""
    with fresh(source, limits=Limits(call=0.4, test=1.0)) as student:
        with student.test("burn") as burn, pytest.raises(StudentDied, match=r"longer than 0\.4 s"):
            burn(60)
        assert student.ended.status == "timeout"
        with student.test("burn") as burn, pytest.raises(StudentDied, match="longer than"):
            for _ in range(10):
                burn(0.3)
        assert student.ended.status == "timeout"


def test_a_cell_that_dies_when_repeated_is_dropped(fresh):
    with fresh("a = 1") as student:
        world = student.world
        assert world.run_cell("moody", "n = 1", defines=["n"]).status == "ok"
        world._cells[-1] = replace(world._cells[-1], source="import os; os._exit(9)")
        world.run_cell("bad", "import os; os._exit(1)")
        with student.test("a") as a:
            assert a == 1
        assert any("moody" in note for note in world.notes)


def test_a_hand_in_gets_so_many_processes(fresh, monkeypatch):
    monkeypatch.setattr("tito.grading.judge.world.MOST_STARTS", 3)
    with fresh("a = 1") as student:
        messages = [
            student.world.run_cell(f"bad {i}", "import os; os._exit(1)").message for i in range(4)
        ]
    assert messages[:3] == ["ended the process (exit code 1)"] * 3
    assert "was started 3 times" in messages[3]


def test_a_process_that_fails_to_start_is_started_once_more(fresh, monkeypatch):
    from tito.grading.judge import world

    failures = [StudentDied("took too long to start")]

    def slow_disk(*args):
        if failures:
            raise failures.pop()
        return Session(*args)

    monkeypatch.setattr(world, "Session", slow_disk)
    with fresh("a = 1") as student, student.test("a") as a:
        assert a == 1
    assert failures == []


def test_memory_and_files_are_limited(fresh):
    with fresh("a = 1", limits=Limits(memory=2 << 30, files=1 << 20)) as student:
        outcome = student.world.run_cell("hungry", "x = bytearray(3 << 30)")
        assert outcome.message.startswith("MemoryError")
        outcome = student.world.run_cell("full", "open('big', 'wb').write(bytes(5 << 20))")
        assert outcome.status != "ok"


def test_output_is_cut(fresh):
    with fresh(limits=Limits(output=1000)) as student:
        outcome = student.world.run_cell("loud", "for i in range(10000): print('x' * 100)")
        assert outcome.status == "ok"
        assert len(outcome.output) < 1200
        assert "more bytes of output were not kept" in outcome.output
        outcome = student.world.run_cell(
            "raw", "import os\nfor i in range(1000): os.write(2, b'y' * 1000)"
        )
        assert len(outcome.output) < 2200


def test_the_process_has_no_environment_of_ours(fresh, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    with fresh("import os\nseen = dict(os.environ)\nhere = os.getcwd()") as student:
        with student.test("seen", "here") as (seen, here):
            assert "SECRET_TOKEN" not in seen
            assert seen["HOME"] == here


def test_the_package_of_earlier_modules_is_staged(tmp_path, engine):
    package = tmp_path / "tinykernels"
    (package / "simd").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('needs all')")
    (package / "loops.py").write_text("def relu(x): return max(x, 0)")
    (package / "parallel.py").write_text("secret = 1")
    (package / "simd" / "__init__.py").write_text("width = 8")
    (tmp_path / "data.txt").write_text("given")
    with make_stage(package, ["loops", "simd"], [tmp_path / "data.txt"]) as stage:
        world = World(engine, stage, Limits())
        outcome = world.run_cell(
            "cell", "from tinykernels.loops import relu\nfrom tinykernels import simd\n"
            "a = relu(-1), simd.width, open('data.txt').read()"
        )  # fmt: skip
        assert outcome.status == "ok", outcome.message
        assert world.bind(["a"]) == {"a": (0, 8, "given")}
        outcome = world.run_cell("later", "import tinykernels.parallel")
        assert outcome.message.startswith("ModuleNotFoundError")
        world.close()
    assert not stage.root.exists()


def test_a_file_written_by_a_cell_can_be_imported_but_hides_nothing(shared):
    source = """
open('helper.py', 'w').write('x = 5')
open('json.py', 'w').write('x = 6')
open('numpy.py', 'w').write('x = 7')
import helper, json, numpy
found = helper.x, hasattr(json, 'x'), hasattr(numpy, 'x')
help(len)
"""
    assert run(shared, source).status == "ok"
    assert value(shared, "found") == (5, False, False)
