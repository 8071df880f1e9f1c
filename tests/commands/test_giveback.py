"""grade feedback and grade report, on a class whose grade book is written."""

from __future__ import annotations

import io
import json
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from tests.grading.book.sample import HANDINS, NAME, OF, RIGHT, TIMES, Class, hand_in, master, row
from tito import cli
from tito.grading.collect import inbox

pytest.importorskip("nbgrader")
# Files and tables of a class that is graded already.
pytestmark = pytest.mark.newest


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    from tito.grading.book import write

    own = Class(tmp_path_factory.mktemp("give") / "class")
    own.grade_all()
    write(own.room, master(), own.results())
    return own.root


@pytest.fixture
def own(graded, tmp_path) -> Class:
    import shutil

    return Class.at(shutil.copytree(graded, tmp_path / "class"))


def run(*words: str) -> int:
    return cli.main(["grade", *words])


def page_of(own: Class, student: str) -> str:
    return (own.root / "feedback" / student / NAME / f"{NAME}.html").read_text("utf-8")


def test_each_graded_student_has_a_page(own, capsys):
    own.give("ann", "reflect-1", 1.5, "well *said*")
    assert run("feedback", "--class", str(own.root)) == 1
    out = capsys.readouterr().out
    assert "3 pages in" in out and "without a page: dua" in out and "\nnext: " in out
    text = page_of(own, "ann")
    assert "Arendt, Ann" in text and "well <em>said</em>" in text
    assert "graded by a person" in text and "1.5 of 2" in text
    assert "Handed in 2026-11-30 11:00" in text and " late" not in text
    assert "Each step waits, a &lt; b &amp; c." in text
    for secret in ("Each step waits for the one before", "total([]) == 0"):
        assert secret not in text


def test_answers_that_nobody_has_to_read_are_decided_on_the_page(own):
    """ben left the answer as it was; dua's upload was no notebook."""
    from tito.grading.book import write

    own.collect("dua", b"<html>", TIMES["ann"])
    own.grade("dua", row("dua", {}, status="broken", reason="not a notebook"))
    write(own.room, master(), own.results())
    assert run("feedback", "--class", str(own.root)) == 0
    ben, dua = page_of(own, "ben"), page_of(own, "dua")
    assert "reflect-1: no answer" in ben and "draw: waits for a person" in ben
    assert "reflect-1: nothing to grade" in dua and "waits for a person" not in dua
    assert "not decided yet" not in dua


def test_a_comment_on_code_reaches_the_student(own):
    own.change(
        f"UPDATE comment SET manual_comment=? WHERE {OF}",
        *("why not <b>sum</b>?", "ann", "total", "SolutionCell"),
    )
    run("feedback", "--class", str(own.root), "--student", "ann")
    assert "why not &lt;b&gt;sum&lt;/b&gt;?" in page_of(own, "ann")


def test_a_persons_points_for_an_answer_that_was_replaced_wait_again(own):
    from tito.grading.book import write

    own.give("ann", "reflect-1", 0, "too short")
    own.collect("ann", hand_in({**RIGHT, "reflect-1": "A new answer."}), TIMES["ann"])
    own.grade("ann", row("ann"))
    write(own.room, master(), own.results())
    run("feedback", "--class", str(own.root), "--student", "ann")
    text = page_of(own, "ann")
    assert "A new answer." in text and "reflect-1: waits for a person" in text
    assert "6 more are not decided yet" in text and "graded by a person" not in text


def test_a_deduction_is_for_the_points_that_the_page_counts(own):
    own.give("ben", "reflect-1", 2)
    own.change("UPDATE grade SET needs_manual_grade = 1 WHERE manual_score = 2")
    run("feedback", "--class", str(own.root), "--student", "ben")
    text = page_of(own, "ben")
    assert "23 hours late: 3 points off" in text and "6 more are not decided yet" in text


def test_an_id_that_is_no_name_of_a_folder_is_shown_as_the_roster_has_it(own, capsys):
    from tito.grading.book import write

    roster = own.root / "roster.csv"
    roster.write_text(roster.read_text("utf-8").replace("dua,=Dua()", "CON,"), encoding="utf-8")
    own._look(own.root)
    odd = own.room.roster()[-1].id
    own.collect(odd, hand_in(RIGHT), TIMES["ann"])
    own.grade(odd, {**row("ann"), "student": odd, "deviations": ["an odd cell"]})
    write(own.room, master(), own.results())
    own.collect(odd, hand_in({}), TIMES["ann"])
    assert run("feedback", "--class", str(own.root)) == 0
    said = capsys.readouterr()
    assert "CON: handed in anew" in said.out and odd not in said.out
    assert "4 of these pages still lack points of a person" in said.err
    run("report", "--class", str(own.root), "--json")
    assert '"CON"' in (out := capsys.readouterr().out) and odd not in out


def test_a_late_page_says_what_it_cost(own):
    run("feedback", "--class", str(own.root), "--student", "ben")
    text = page_of(own, "ben")
    assert ", due 2026-12-01 12:00 (UTC+01:00), 23 hours late: 3 points off." in text
    assert not (own.root / "feedback" / "ann").exists()


@pytest.mark.parametrize("rule", ["zero", "none"])
def test_who_is_only_marked_late_has_no_invented_time_on_the_page(own, rule, capsys):
    config = own.root / "nbgrader_config.py"
    config.write_text(config.read_text().replace('"zero"', f'"{rule}"'))
    data = own.room.submitted("ben", NAME).read_bytes()
    note = {"key": "k", "found": "ben", "source": "canvas.zip", "collected_at": "2026-12-03T00:00Z"}
    record = inbox.Record(
        **note,
        module=NAME,
        platform="Canvas",
        student="ben",
        late=True,
        notebook="a.ipynb",
        files=[{"path": "a.ipynb", "kept": "a.ipynb", "sha256": sha256(data).hexdigest()}],
    )
    inbox.keep(record, {("a.ipynb",): data}, own.room.inbox(NAME, "ben"))
    run("feedback", "--class", str(own.root), "--student", "ben")
    cost = ": 3 points off" if rule == "zero" else ", without a deduction"
    text = page_of(own, "ben")
    assert f"Marked late by Canvas, due 2026-12-01 12:00 (UTC+01:00){cost}." in text
    assert "Handed in" not in text and "minute" not in text
    cli.main(["grade", "export", "--class", str(own.root), "--out", "-"])
    [line] = [line for line in capsys.readouterr().out.split("\n") if ",ben," in line]
    assert line.startswith(f"{NAME},2026-12-01 11:00:00,,ben,")


def test_an_extension_that_was_granted_after_grading_counts_on_the_page(own):
    """Its times and its points are of the same moment: no due time beside a deduction for none."""
    settings = own.root / "course.toml"
    late = '[extensions."ben"]\n"07_sums" = 2026-12-03T12:00:00+01:00\n'
    settings.write_text(settings.read_text("utf-8") + late, encoding="utf-8")
    assert run("feedback", "--class", str(own.root), "--student", "ben") == 0
    text = page_of(own, "ben")
    assert "due 2026-12-03 12:00" in text and " late" not in text
    assert "<strong>3</strong> of 9.5 points" in text


def test_an_extension_is_no_lateness(own):
    assert run("feedback", "--class", str(own.root), "--student", "cem") == 0
    assert " late" not in page_of(own, "cem")


def test_a_newer_hand_in_is_not_shown_as_the_graded_one(own, capsys):
    own.collect("ann", hand_in({**RIGHT, "total": "NEWER = 1"}), TIMES["ann"])
    run("feedback", "--class", str(own.root), "--student", "ann")
    assert "ann: handed in anew" in capsys.readouterr().out
    assert "NEWER" not in page_of(own, "ann")


def test_the_zip_for_moodle_holds_every_page(own, tmp_path, capsys):
    target = tmp_path / "feedback.zip"
    run("feedback", "--class", str(own.root), "--moodle", str(target))
    with zipfile.ZipFile(io.BytesIO(target.read_bytes())) as archive:
        names = archive.namelist()
        assert len(names) == 3 and all(name.endswith(f"/{NAME}.html") for name in names)
        assert "Arendt, Ann_2001_assignfeedback_file" in " ".join(names)
        assert archive.read(names[0]).decode() == page_of(own, "ann")


def test_moodle_s_number_of_a_student_is_that_of_this_assignment(own, tmp_path, capsys):
    """Moodle makes new numbers for each: the hand-in's folder has them, the roster's is older."""
    for student, number in (("ann", "7001"), ("ben", "")):
        folder = own.room.inbox(NAME, student) / "2026-11-30_110000"
        folder.mkdir(parents=True)
        note = inbox.Record("k", NAME, "A_7001", "Moodle", "m.zip", "2026-11-30T11:00:00+00:00")
        note.student, note.moodle_id = student, number
        (folder / inbox.NOTE).write_text(note.to_json())
    roster = own.root / "roster.csv"
    roster.write_text(roster.read_text("utf-8").replace(",2003", ","), "utf-8")
    target = tmp_path / "feedback.zip"
    run("feedback", "--class", str(own.root), "--moodle", str(target))
    with zipfile.ZipFile(target) as archive:
        numbers = [name.rpartition("_assignfeedback")[0][-4:] for name in archive.namelist()]
    assert numbers == ["7001", "2002"]
    assert "so not in it: cem" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("--student", "eve"), ("--module", "99")])
def test_a_wrong_word_writes_nothing(own, words, capsys):
    assert run("feedback", "--class", str(own.root), *words) == 2
    assert not list((own.root / "feedback").rglob("*.html"))


def test_the_report_of_a_class(own, capsys):
    assert run("report", "--class", str(own.root)) == 0
    out = capsys.readouterr().out
    assert f"{NAME}: 3 students, 3 graded" in out and "total-hidden" in out
    text = (own.root / "exports" / f"{NAME}-report.html").read_text("utf-8")
    assert "<svg" in text and "total-hidden" in text


def test_the_report_for_programs_prints_nothing_else(own, tmp_path, capsys):
    words = ("report", "--class", str(own.root), "--out", str(tmp_path / "r.html"))
    assert run(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["module"] == NAME
    assert run(*words, "--csv", str(tmp_path / "r.csv")) == 0
    assert (tmp_path / "r.csv").read_text("utf-8").count("\n") == 7
    assert run(*words, "--csv", "--json") == 2


def test_students_who_share_their_words_are_named(own, capsys):
    word = "kitten_tally = [0]  # my favourite kitten counter"
    for student in ("ann", "cem"):
        own.collect(student, hand_in({**HANDINS[student], "own": word}), TIMES[student])
        own.grade(student, row(student))
    run("report", "--class", str(own.root), "--json")
    pairs = json.loads(capsys.readouterr().out)["likeness"]["pairs"]
    assert {pairs[0]["first"], pairs[0]["second"]} == {"ann", "cem"}
    assert "name kitten_tally" in pairs[0]["shared"]


def test_a_copy_is_named(own, capsys):
    for student in ("ann", "cem"):
        own.collect(student, hand_in(RIGHT), TIMES[student])
        own.grade(student, row(student))
    assert run("report", "--class", str(own.root)) == 0
    assert "ann, cem: the same in every cell they wrote (4 cells)" in capsys.readouterr().out
    run("report", "--class", str(own.root), "--json")
    found = json.loads(capsys.readouterr().out)["likeness"]
    assert found["same"] == [{"students": ["ann", "cem"], "cells": 4, "texts": True}]
    assert (found["pairs"][0]["first"], found["pairs"][0]["likeness"]) == ("ann", 1)
