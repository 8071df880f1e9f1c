"""A student's evening with 02_loops: wrong, message, right, saved, tested, exported, handed in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tito.course import Course
from tito.notebook import load
from tito.release import kit

from . import lab

REPOSITORY = Path(__file__).parents[2]
REQUIRED = bool(os.environ.get("TITO_REQUIRE_BROWSER"))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (lab.CHROMIUM or REQUIRED), reason="Chromium is not installed"),
]

WRONG = """    shape = check_float_array("x", x, ndim=(1, 2))
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        y[index] = x[index] if x[index] > 0 else 0
    return y
"""


def run_tito(*words: str, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tito", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


def with_body(stub: str, body: str) -> str:
    """The student's cell with its stub lines replaced."""
    start = stub.index("    # YOUR CODE HERE")
    end = stub.index("raise NotImplementedError()", start) + len("raise NotImplementedError()")
    return stub[:start] + body.rstrip("\n") + stub[end:]


def reference_source(grade_id: str) -> str:
    """The reference's cell, without its markers."""
    cell = load(REPOSITORY / "modules/02_loops/02_loops.py").by_id(grade_id)
    return "\n".join(s for s in cell.source.split("\n") if not s.strip().startswith("### "))


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "my course"
    kit.generate(Course(REPOSITORY), folder)
    return folder


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    kept = os.environ.get("TITO_SHOTS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("shots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def index_of(page: lab.LabPage, text: str, after: int = 0) -> int:
    sources = page.sources()
    return next(i for i in range(after, len(sources)) if text in sources[i])


def test_student_works_in_jupyterlab(course: Path, shots: Path, tmp_path: Path) -> None:
    assert lab.CHROMIUM, "Chromium must be installed where TITO_REQUIRE_BROWSER is set"
    with lab.jupyter_lab(course, tmp_path) as address, lab.browser_page(shots) as page:
        page.open(address, "modules/02_loops/02_loops.ipynb")
        _run_all_in_a_fresh_kit(page)
        solution = index_of(page, "def relu_loops(x):")
        test = index_of(page, "expect_unchanged(relu_loops, x)", solution)
        stub = page.sources()[solution]

        page.set_source(solution, with_body(stub, WRONG))
        assert page.run(solution) == ""
        said = page.run(test)
        page.shot("wrong")
        assert "NaN became 0" in said
        assert "Traceback" not in said

        page.set_source(solution, reference_source("relu_loops"))
        assert page.run(solution) == ""
        assert page.run(test) == ""
        page.shot("right")
        page.save()
    _from_notebook_to_points(course, tmp_path)


def _run_all_in_a_fresh_kit(page: lab.LabPage) -> None:
    """Ends by itself, and what is not written yet is said in one line a cell."""
    page.run_all()
    page.shot("fresh")
    outputs = [page.output(i) for i in range(len(page.sources()))]
    assert any("not written yet" in text for text in outputs)
    for text in outputs:
        assert "Traceback" not in text
        assert "site-packages" not in text


def _from_notebook_to_points(course: Path, scratch: Path) -> None:
    tested = run_tito("test", "02", "--json", folder=course)
    assert tested.returncode == 1  # five exercises are still open
    cells = {c["id"]: c for c in json.loads(tested.stdout)["submissions"][0]["cells"]}
    assert cells["relu_loops-test"]["status"] == "passed"
    assert cells["matmul_loops-test"]["points"] == 0

    exported = run_tito("export", "02", folder=course)
    assert "relu_loops" in (course / "tinykernels/loops.py").read_text()
    assert exported.returncode == 0, exported.stderr

    packed = run_tito("submit", "02", "--out", str(scratch / "box"), folder=course)
    assert packed.returncode == 0, packed.stderr
    (archive,) = (scratch / "box").glob("*.zip")
    graded = run_tito("grade", "run", str(archive), "--module", "02", "--json", folder=REPOSITORY)
    assert graded.returncode == 0, graded.stderr
    (row,) = json.loads(graded.stdout)["submissions"]
    earned = {c["id"]: c["points"] for c in row["cells"] if c["points"]}
    assert set(earned) == {c for c in cells if c.startswith("relu_loops")}
    assert row["points"] == sum(earned.values())
