"""Hand-ins of every shape become one row a student, and nothing leads out of the folder."""

import io
import json
import os
import stat
import sys
import zipfile

import pytest

from tito.errors import UsageError, UserError
from tito.grading.handins import Wanted, find_handins

WANTED = Wanted("07_filters", ("blur", "blur-test"))
OURS = b'{"cells": [{"metadata": {"nbgrader": {"grade_id": "blur"}}}, {"grade_id": "blur-test"}]}'
OTHER = b'{"cells": []}'
posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")


def put(root, files):
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def rows(path, wanted=WANTED):
    return {h.student: h for h in find_handins(path, wanted).handins}


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_the_first_folder_is_the_student(tmp_path):
    put(tmp_path, {"ann/07_filters.ipynb": OURS, "bob/deep/er/07_filters.ipynb": OURS})
    found = rows(tmp_path)
    assert list(found) == ["ann", "bob"]
    assert found["bob"].read() == OURS
    assert found["ann"].remarks == []


def test_a_notebook_of_another_module_says_so(tmp_path):
    """Modules may share some grade_ids; who answers one question of the module has handed it in."""
    wanted = Wanted("07_filters", ("blur", "blur-test", "why", "edge"))
    files = {"bob": b'"dft" "why"', "ann": b'"blur"', "cy": b"", "dee": b'"dft" "why" "edge"'}
    put(tmp_path, {f"{who}/07_filters.ipynb": data for who, data in files.items()})
    others = [wanted, Wanted("08_waves", ("dft", "why"))]
    found = {h.student: h for h in find_handins(tmp_path, wanted, lambda: others).handins}
    assert (found["bob"].status, found["bob"].reason) == ("broken", "it is a notebook of 08_waves")
    assert {found[who].status for who in ("ann", "cy", "dee")} == {"graded"}


def test_nbgraders_tree_is_entered(tmp_path):
    put(tmp_path, {"submitted/ann/07_filters/07_filters.ipynb": OURS, "gradebook.db": b"x"})
    assert list(rows(tmp_path)) == ["ann"]
    assert list(rows(tmp_path / "submitted")) == ["ann"]


def test_a_loose_notebook_is_named_after_its_file(tmp_path):
    put(tmp_path, {"ann_77_filters.ipynb": OURS, "notes.txt": b"hello", "readme.md": b"x"})
    found = rows(tmp_path)
    assert list(found) == ["ann_77_filters"] and found["ann_77_filters"].remarks == []


def test_a_students_own_folder_is_the_student(tmp_path):
    put(tmp_path / "bob", {"07_filters.ipynb": OURS, "data.csv": b"1"})
    assert rows(tmp_path / "bob")["bob"].read() == OURS
    # With another beside it, or under another name, each may be somebody's.
    put(tmp_path / "bob", {"cy.ipynb": OURS})
    assert list(rows(tmp_path / "bob")) == ["07_filters", "cy"]
    put(tmp_path / "class", {"dee.ipynb": OURS})
    assert list(rows(tmp_path / "class")) == ["dee"]


def test_of_two_under_its_name_the_chosen_one_is_named(tmp_path):
    put(tmp_path / "ann", {"07_filters.ipynb": OURS, "07_filters (1).ipynb": OURS})
    assert rows(tmp_path)["ann"].remarks == [
        "07_filters.ipynb: taken",
        "not looked at: 07_filters (1).ipynb",
    ]


def test_a_notebook_saved_as_json_is_taken_by_what_is_inside(tmp_path):
    put(tmp_path, {"ann/07_filters.json": OURS, "bob/data.json": b"{}"})
    found = rows(tmp_path)
    assert found["ann"].read() == OURS and "not named" in found["ann"].remarks[0]
    assert found["bob"].status == "missing"


def test_a_single_notebook(tmp_path):
    put(tmp_path, {"mine.ipynb": OURS})
    assert rows(tmp_path / "mine.ipynb")["mine"].read() == OURS


def test_the_master_is_no_hand_in(tmp_path):
    put(tmp_path, {"07_filters.ipynb": OURS, "07_filters.py": b"", "ann/07_filters.ipynb": OURS})
    wanted = Wanted("07_filters", (), tmp_path / "07_filters.ipynb")
    assert list(rows(tmp_path, wanted)) == ["ann"]


@pytest.mark.parametrize("name", ["07_filters (1).ipynb", "final.IPYNB", "07_filters.ipynb.txt"])
def test_a_renamed_notebook_is_taken_and_named(tmp_path, name):
    put(tmp_path, {f"ann/{name}": OURS})
    row = rows(tmp_path)["ann"]
    assert row.read() == OURS
    if name != "07_filters.ipynb.txt":
        assert name in row.remarks[0]


def test_a_folder_without_a_notebook_is_missing(tmp_path):
    put(tmp_path, {"ann/report.pdf": b"x"})
    (tmp_path / "bob").mkdir()
    found = rows(tmp_path)
    assert found["ann"].status == "missing" and "report.pdf" in found["ann"].reason
    assert found["bob"].status == "missing"


def test_a_folder_named_like_a_notebook_is_broken(tmp_path):
    put(tmp_path, {"ann/07_filters.ipynb/inside.txt": b"x"})
    row = rows(tmp_path)["ann"]
    assert row.status == "broken" and "is a folder" in row.reason


@pytest.mark.parametrize(
    "files, chosen",
    [
        ({"07_filters.ipynb": OURS, "scratch.ipynb": OTHER}, "07_filters.ipynb"),
        ({"old/07_filters.ipynb": OTHER, "07_filters/07_filters.ipynb": OURS}, "07_filters/"),
        ({"a.ipynb": OTHER, "b.ipynb": OURS}, "b.ipynb"),
        ({"07_filters/x.ipynb": OURS, "06_x/y.ipynb": OTHER}, "07_filters/x"),
    ],
)
def test_of_several_the_module_is_picked(tmp_path, files, chosen):
    put(tmp_path / "ann", files)
    row = rows(tmp_path)["ann"]
    assert row.status == "graded" and row.read() == OURS
    assert any("not looked at" in r for r in row.remarks)


def answered(source, output=""):
    cells = [
        {"metadata": {"nbgrader": {"grade_id": name}}, "source": [text], "outputs": [output]}
        for name, text in (("blur", source), ("blur-test", "assert blur(1) == 1"))
    ]
    return json.dumps({"cells": cells}).encode()


def test_another_answer_beside_the_right_name_is_for_a_person(tmp_path):
    files = {"07_filters.ipynb": answered("pass"), "really final.ipynb": answered("return x")}
    row = rows(put(tmp_path / "in" / "ann", files).parent)["ann"]
    assert row.status == "ambiguous"
    assert "07_filters.ipynb, really final.ipynb" in row.reason


@pytest.mark.parametrize(
    "other",
    [
        {"copy.ipynb": answered("return x", "was run")},
        {".ipynb_checkpoints/07_filters-checkpoint.ipynb": answered("pass")},
        {"scratch.ipynb": OTHER},
        {"torn.ipynb": b'{"cells": [{"grade_id": "blur"'},
    ],
)
def test_the_right_name_is_taken_where_nothing_else_answers(tmp_path, other):
    own = answered("return x")
    row = rows(put(tmp_path / "in" / "ann", {"07_filters.ipynb": own, **other}).parent)["ann"]
    assert row.status == "graded" and row.read() == own


def test_two_that_could_be_it_are_ambiguous(tmp_path):
    put(tmp_path, {"ann/a.ipynb": OURS, "ann/b.ipynb": OURS})
    row = rows(tmp_path)["ann"]
    assert row.status == "ambiguous" and "a.ipynb, b.ipynb" in row.reason


def test_what_editors_leave_is_passed_over(tmp_path):
    put(
        tmp_path,
        {
            "ann/07_filters.ipynb": OURS,
            "ann/.ipynb_checkpoints/07_filters-checkpoint.ipynb": OTHER,
            "ann/__MACOSX/._07_filters.ipynb": b"\0",
            ".DS_Store": b"x",
        },
    )
    found = rows(tmp_path)
    assert list(found) == ["ann"] and found["ann"].remarks == []


@posix
def test_links_are_named_and_never_followed(tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(OURS)
    root = put(tmp_path / "in", {"ann/07_filters.ipynb": OURS})
    (root / "ann" / "data.txt").symlink_to(secret)
    (root / "bob").mkdir()
    (root / "bob" / "07_filters.ipynb").symlink_to(secret)
    (root / "cid").symlink_to(root / "ann", target_is_directory=True)
    (root / "dee").mkdir()
    (root / "dee" / "self").symlink_to(root / "dee", target_is_directory=True)
    found = rows(root)
    assert found["ann"].remarks == ["data.txt: a link, not followed"]
    for student in ("bob", "cid"):
        assert found[student].status == "broken" and "link" in found[student].reason
    assert found["dee"].status == "missing"


@posix
@pytest.mark.parametrize("name", [b"a\nb", b"caf\xe9", b"red\x1b[31m"])
def test_odd_names_can_be_printed_and_written(tmp_path, name):
    folder = os.path.join(os.fsencode(tmp_path), name)
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes no such name")
    with open(os.path.join(folder, b"07_filters.ipynb"), "wb") as file:
        file.write(OURS)
    [student] = rows(tmp_path)
    assert student.isprintable() and student.encode("utf-8")
    assert rows(tmp_path)[student].read() == OURS


@posix
def test_a_pipe_does_not_hang(tmp_path):
    (tmp_path / "ann").mkdir()
    os.mkfifo(tmp_path / "ann" / "07_filters.ipynb")
    row = rows(tmp_path)["ann"]
    assert row.status == "broken" and "not a regular file" in row.reason


@posix
def test_a_notebook_swapped_for_a_link_after_the_look_is_refused(tmp_path):
    put(tmp_path, {"ann/07_filters.ipynb": OURS, "secret": b"secret"})
    row = rows(tmp_path)["ann"]
    (tmp_path / "ann" / "07_filters.ipynb").unlink()
    (tmp_path / "ann" / "07_filters.ipynb").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError):
        row.read()


def test_zips_of_a_class_and_of_one_student(tmp_path):
    put(
        tmp_path,
        {
            "class.zip": zipped({"ann/07_filters.ipynb": OURS, "bob/x.txt": b""}),
            "wrapped.zip": zipped({"wrapped/ann/07_filters.ipynb": OURS, "wrapped/bob/x": b""}),
            "bea.zip": zipped({"07_filters.ipynb": OURS, "manifest.json": b"{}"}),
        },
    )
    assert {s: h.status for s, h in rows(tmp_path / "class.zip").items()} == {
        "ann": "graded",
        "bob": "missing",
    }
    assert list(rows(tmp_path / "wrapped.zip")) == ["ann", "bob"]
    assert rows(tmp_path / "bea.zip")["bea"].read() == OURS


def test_zips_inside_a_folder_belong_to_their_students(tmp_path):
    packed = zipped({"07_filters.ipynb": OURS, "manifest.json": b"{}"})
    put(tmp_path, {"ann/07_filters.zip": packed, "bea_07.zip": packed, "cy/x.zip": b"no zip"})
    found = rows(tmp_path)
    assert found["ann"].read() == OURS and found["bea_07"].read() == OURS
    assert found["cy"].status == "broken" and "x.zip" in found["cy"].reason


@pytest.mark.parametrize(
    "name",
    ["../out.ipynb", "a/../../out.ipynb", "/etc/out.ipynb", "C:\\out.ipynb", "..\\out.ipynb"],
)
def test_entries_that_lead_out_of_a_zip_are_left_out(tmp_path, name):
    put(tmp_path, {"class.zip": zipped({name: OTHER, "ann/07_filters.ipynb": OURS})})
    found = find_handins(tmp_path / "class.zip", WANTED)
    assert [h.student for h in found.handins] == ["ann"]
    assert len(found.notes) == 1 and "left out" in found.notes[0]


def test_a_zip_from_windows_has_folders_too(tmp_path):
    put(tmp_path, {"class.zip": zipped({"ann\\07_filters.ipynb": OURS})})
    assert rows(tmp_path / "class.zip")["ann"].read() == OURS


def test_a_link_in_a_zip_is_not_read(tmp_path):
    info = zipfile.ZipInfo("ann/07_filters.ipynb")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    put(tmp_path, {"class.zip": zipped({info: "/etc/hostname"})})
    row = rows(tmp_path / "class.zip")["ann"]
    assert row.status == "broken" and "link" in row.reason


def test_a_bomb_in_a_zip_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("tito.grading.collect.sources.MAX_BYTES", 1000)
    put(tmp_path, {"class.zip": zipped({"ann/07_filters.ipynb": b" " * 5000})})
    with pytest.raises(UserError, match="larger"):
        rows(tmp_path / "class.zip")["ann"].read()


def test_a_torn_zip_is_said(tmp_path):
    whole = zipped({"ann/07_filters.ipynb": OURS})
    put(tmp_path, {"class.zip": whole[: len(whole) // 2]})
    with pytest.raises(UserError, match="no zip"):
        rows(tmp_path / "class.zip")


def test_a_missing_path_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError):
        rows(tmp_path / "nowhere")
    put(tmp_path, {"essay.docx": b"x"})
    with pytest.raises(UsageError):
        rows(tmp_path / "essay.docx")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_row(tmp_path):
    put(tmp_path, {"ann/07_filters.ipynb": OURS})
    (tmp_path / "ann" / "07_filters.ipynb").chmod(0)
    with pytest.raises(UserError, match="cannot be read"):
        rows(tmp_path)["ann"].read()
