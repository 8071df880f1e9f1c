"""A grader's evening: formgrader on a class folder, a mark and a comment given, a test mended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands.a_class import Taught
from tests.grading.book.sample import MASTER, NAME, RIGHT, TIMES, hand_in

from . import grader, lab

REQUIRED = bool(os.environ.get("TITO_REQUIRE_BROWSER"))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (lab.CHROMIUM or REQUIRED), reason="Chromium is not installed"),
]

# What would give the student full marks, were it more than text on the grader's page.
SCRIPT = '<script>document.title = "taken over"</script> <img src=x onerror="document.title = 1">'
MENDED = MASTER.replace("assert total([]) == 0", "assert total([]) in (0, 3)")


@pytest.fixture(scope="module")
def taught(tmp_path_factory) -> Taught:
    own = Taught(tmp_path_factory.mktemp("formgrader"))
    answers = {
        **RIGHT,
        "total": "def total(values):\n    return values[0] + 1",
        "reflect-1": f"Each step **waits**. {SCRIPT}",
    }
    own.own.collect("ann", hand_in(answers), TIMES["ann"])
    own.tito("run", "--module", NAME, "-j", "1")
    return own


class Page:
    """The page of one hand-in."""

    def __init__(self, page, server: grader.Server, shots: Path) -> None:
        self.page = page
        self._server = server
        self._shots = shots

    def open(self, submission: str) -> None:
        path = self._server.address(f"submissions/{submission}/")
        self.page.goto(path, wait_until="domcontentloaded")
        # Each box gets its points from the grade book.
        self.page.wait_for_function(
            "() => { const box = document.getElementById('mean-test');"
            " return box && box.placeholder !== ''; }",
            timeout=300_000,
        )

    def give(self, cell: str, points: str, comment: str) -> None:
        """As a grader does: fill in and leave the box; saved when its tick has come and gone."""
        for box, text in ((f"#{cell}", points), (f"#{cell}-comment", comment)):
            with self.page.expect_response(lambda r: r.request.method == "PUT"):
                self.page.fill(box, text)
                self.page.dispatch_event(box, "change")

    def box(self, cell: str) -> tuple[str, str]:
        """(what a person gave, what the tests gave)"""
        found = self.page.locator(f"#{cell}")
        return found.input_value(), found.get_attribute("placeholder") or ""

    def shot(self, name: str) -> None:
        self.page.screenshot(path=str(self._shots / f"{name}.png"), full_page=True)


def test_formgrader_shows_what_was_found_and_a_mark_given_there_survives(taught, tmp_path):
    [(submission,)] = taught.own.query(
        "SELECT n.id FROM submitted_notebook n JOIN submitted_assignment a "
        "ON a.id = n.assignment_id WHERE student_id = 'ann'"
    )
    with (
        grader.formgrader(taught.own.root, tmp_path / "home") as server,
        lab.browser_page(tmp_path) as browser,
    ):
        page = Page(browser.page, server, tmp_path)
        browser.page.goto(server.login)
        browser.page.goto(server.address(f"gradebook/{NAME}/{NAME}"))
        browser.page.wait_for_selector("text=Submission #1", timeout=300_000)
        page.shot("hand-ins")

        page.open(submission)
        page.shot("before")
        text = browser.page.inner_text("body")
        assert "failed: 0 of 2 points" in text
        assert "total([1, 2]) is not 3" in text  # the input that failed
        assert "values[0] + 1" in text
        assert browser.page.title() == NAME
        assert "<" in text and "script>" in text  # shown, not run
        assert browser.page.locator(".nbgrader_cell strong").inner_text() == "waits"
        assert page.box("total-hidden") == ("", "0")

        page.give("reflect-1", "1.5", "What waits for what?")
        assert taught.own.grade_row("ann", "reflect-1") == (None, 1.5, None, 0)

        taught.set(MENDED.replace("== three", "in (2, three)"))
        assert taught.tito("regrade", "-j", "1") == 0

        page.open(submission)
        page.shot("after")
        assert "passed: 2 of 2 points" in browser.page.inner_text("body")
        assert page.box("total-test") == ("", "2")
        assert page.box("reflect-1")[0] == "1.5"
        comment = browser.page.locator("#reflect-1-comment").input_value()
        assert comment == "What waits for what?"
