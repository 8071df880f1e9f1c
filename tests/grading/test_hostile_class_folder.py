"""Honest and hostile hand-ins of one class, from the download to the pages: nobody is touched."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import socket
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.grading import tiny
from tito import cli

pytest.importorskip("nbgrader")
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="hostile code runs where a sandbox holds it"
)
ROOT = Path(__file__).parents[2]
HONEST = {
    **{f"h{n:02}": (tiny.hand_in(), 3.5) for n in range(6)},
    **{f"i{n:02}": (tiny.hand_in(twice="return x + 3"), 3) for n in range(3)},
    **{f"j{n:02}": (tiny.hand_in(twice="return 0", less="return 0"), 0) for n in range(3)},
}
WRONG = {"twice": "return 0", "less": "return 0"}
MARKUP = "</pre><script>document.title = 1</script><img src=x onerror=stop()>"
# So short for what runs for ever. A machine that stands still books seconds on whoever runs, so a
# class in which somebody has less than was earned is graded anew, so many times in all.
TRIES = 3
LIMITS = "\n[limits]\nsolution = 0.4\nextra = 0.4\ncall = 0.4\ntest = 3\nidle = 2\n"


def _first(code: str, **bodies: str) -> bytes:
    """A hand-in whose first cell begins with this code."""
    document = json.loads(tiny.hand_in(**bodies))
    document["cells"][0]["source"] = code + "\n" + document["cells"][0]["source"]
    return json.dumps(document).encode()


def _hostile(root: Path, port: int) -> dict[str, tuple[bytes, float]]:
    """What it is -> (the hand-in, the points it earned); none earns any by what it tries."""
    elsewhere = [root / "class" / "gradebook.db", root / "home" / "left", root / "course" / "left"]
    write = "".join(
        f"try: open({str(path)!r}, 'ab').write(b'x')\nexcept OSError: pass\n" for path in elsewhere
    )
    marked = json.loads(
        tiny.hand_in(twice=f"raise ValueError({MARKUP!r})", less=f"return {MARKUP!r}")
    )
    page = {"output_type": "display_data", "metadata": {}, "data": {"text/html": MARKUP}}
    marked["cells"][0]["outputs"] = [page]
    marked["cells"] += [
        {"cell_type": "raw", "metadata": {"format": "text/html"}, "source": MARKUP},
        {"cell_type": "markdown", "metadata": {"nbgrader": {"grade_id": MARKUP}}, "source": MARKUP},
    ]
    kill = "import os\nfor p in (-1, 0, 1, os.getppid()):\n    try: os.kill(p, 19); os.kill(p, 9)\n"
    connect = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2).send(b'x')"
    return {
        "writes": (_first(write, **WRONG), 0),
        "kills": (_first(kill + "    except OSError: pass", **WRONG), 0),
        "connects": (_first(connect, **WRONG), 0),
        "forks": (_first("import os\nwhile True: os.fork()", **WRONG), 0),
        "daemon": (_first("import subprocess\nsubprocess.Popen(['sleep', '600'])", **WRONG), 0),
        "threads": (_first("import threading, time\nfor _ in range(9):\n"
                           "    threading.Thread(target=time.sleep, args=(600,)).start()"), 3.5),
        "loops": (_first("while True: pass"), 2),
        "dies": (_first("import os\nos._exit(0)"), 2),
        "marked": (json.dumps(marked).encode(), 0),
        "zero-byte": (_first(" = 1\n$0\\\0"), 2),
        "torn": (tiny.hand_in()[:200], 0),
    }  # fmt: skip


class Taught:
    """A course, a class, a home and a folder for temporary files below one root."""

    def __init__(self, root: Path) -> None:
        self.root, self.room = root, root / "class"
        for name in ("home", "tmp", "download"):
            (root / name).mkdir()
        tiny.make_course(root / "course")
        self.environment = {
            **os.environ,
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        assert self.tito("init", str(self.room), "--course", str(root / "course")) == 0
        with open(self.room / "course.toml", "a") as settings:
            settings.write(LIMITS)

    def tito(self, *words: str) -> int:
        """A command here."""
        return cli.main(
            ["grade", *words, *(["--class", str(self.room)] if words[0] != "init" else [])]
        )

    def apart(self, *words: str) -> None:
        """A command in a process whose home and temporary folder are the class's."""
        command = ["grade", *words, "--class", str(self.room)]
        done = subprocess.run(
            [sys.executable, "-m", "tito", *command],
            env=self.environment,
            cwd=self.root,
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in done.stderr, done.stderr

    def hand_in(self, student: str, data: bytes) -> None:
        folder = self.root / "download" / student
        folder.mkdir()
        (folder / f"{tiny.NAME}.ipynb").write_bytes(data)
        with open(self.room / "roster.csv", "a") as roster:
            roster.write(f'{student},"<b>{student}</b>",,,,\n')

    def grade(self, tito: Callable[..., object], jobs: str) -> dict[str, dict]:
        """Collect and grade all; everybody's row."""
        self.tito("collect", str(self.root / "download"), "--module", "01")
        out = self.root / "rows.json"
        tito("run", "--module", "01", "-j", jobs, "--json", str(out))
        return {row["student"]: row for row in json.loads(out.read_text())["submissions"]}


def _hashes(folder: Path) -> dict[str, str]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def _processes(folder: Path) -> Iterator[str]:
    """Those that were started with this folder as their home."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (entry / "environ").read_bytes():
                yield (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue


def _add_other_assignment(book: Path) -> None:
    from tito.grading.book.database import tables

    gradebook = tables().Gradebook(f"sqlite:///{book}", "class")
    gradebook.update_or_create_student("h00")
    gradebook.update_or_create_assignment("other")
    gradebook.update_or_create_notebook("other", "other")
    gradebook.add_grade_cell("q", "other", "other", max_score=3, cell_type="code")
    gradebook.update_or_create_submission("other", "h00")
    gradebook.find_grade("q", "other", "other", "h00").manual_score = 2
    gradebook.db.commit()
    gradebook.close()


def _book_but(book: Path, module: str) -> list[str]:
    """The rows of the grade book that belong to another assignment than this one, as text."""
    base = "FROM {} JOIN notebook n ON {} JOIN assignment a ON n.assignment_id = a.id"
    queries = [
        "SELECT a.* FROM assignment a",
        "SELECT n.* FROM notebook n JOIN assignment a ON n.assignment_id = a.id",
        "SELECT s.* FROM submitted_assignment s JOIN assignment a ON s.assignment_id = a.id",
        "SELECT c.* " + base.format("base_cell c", "c.notebook_id = n.id"),
        "SELECT g.* FROM grade g JOIN submitted_notebook s ON g.notebook_id = s.id "
        "JOIN notebook n ON s.notebook_id = n.id JOIN assignment a ON n.assignment_id = a.id",
    ]
    with sqlite3.connect(book) as database:
        found = [database.execute(f"{q} WHERE a.name != ?", [module]).fetchall() for q in queries]
    assert all(found)
    return [repr(rows) for rows in found]


class _Alive(HTMLParser):
    """Tags and attributes of a page that could run or load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        within = (dict(attrs).get("src") or "").startswith("data:image/")
        if tag in ("script", "iframe", "object", "embed", "form", "b", "img") and not within:
            self.found.append(tag)
        self.found += [name for name, _ in attrs if name.startswith("on")]


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.01)
        yield server


@pytest.fixture(scope="module")
def taught(tmp_path_factory, listener) -> Taught:
    for _ in range(TRIES):
        own = _taught(tmp_path_factory.mktemp("folder"), listener)
        wanted = {name: points for name, (_, points) in {**HONEST, **own.hostile}.items()}
        if not _only_less(own.together, wanted):
            break
    return own


def _only_less(rows: dict[str, dict], wanted: dict[str, float]) -> bool:
    """Whether somebody has less than was earned, and nobody more."""
    missing = [points - rows[name]["points"] for name, points in wanted.items()]
    return min(missing) == 0 < max(missing)


def _taught(root: Path, listener: socket.socket) -> Taught:
    """The class graded: first the honest alone, then with the hostile among them, all anew."""
    own = Taught(root)
    for student, (data, _) in HONEST.items():
        own.hand_in(student, data)
    own.alone = own.grade(own.tito, "1")
    _add_other_assignment(own.room / "gradebook.db")
    own.hostile = _hostile(own.root, listener.getsockname()[1])
    for student, (data, _) in own.hostile.items():
        own.hand_in(student, data)
    own.before = _hashes(own.root / "course"), _book_but(own.room / "gradebook.db", tiny.NAME)
    for result in (own.room / "results").rglob("h*.json"):
        result.unlink()
    own.together = own.grade(own.apart, "2")
    return own


def test_honest_points_are_as_without_the_hostile(taught):
    for student, (_, points) in HONEST.items():
        alone, together = taught.alone[student], taught.together[student]
        assert (together["status"], together["points"]) == ("graded", points)
        assert together["points_exact"] == alone["points_exact"]


def test_each_hostile_one_has_what_it_earned(taught):
    for student, (_, points) in taught.hostile.items():
        row = taught.together[student]
        assert row["points"] == points, (student, row)
        assert row["status"] == ("broken" if student == "torn" else "graded")


def test_nothing_is_left_behind(taught, listener):
    assert list(_processes(taught.root / "home")) == []
    with pytest.raises(TimeoutError):
        listener.accept()
    assert list((taught.root / "tmp").iterdir()) == []
    assert list((taught.root / "home").iterdir()) == []
    book = taught.room / "gradebook.db"
    assert taught.before == (_hashes(taught.root / "course"), _book_but(book, tiny.NAME))


def test_pages_and_tables_show_and_run_nothing(taught):
    assert taught.tito("feedback", "--module", "01") == 0
    assert taught.tito("report", "--module", "01") == 0
    assert taught.tito("export", "--out", str(taught.root / "marks.csv")) == 0
    pages = [*(taught.room / "feedback").rglob("*.html"), *taught.room.rglob("*-report.html")]
    assert len(pages) == len(HONEST) + len(taught.hostile) + 1
    for page in pages:
        text = page.read_text("utf-8")
        assert _Alive(text).found == [], page
        assert "abab" not in text and "less(3) == 2" not in re.sub(r"&.*?;", "", text), page
    assert "&lt;script&gt;" in (
        taught.room / "feedback" / "marked" / tiny.NAME / f"{tiny.NAME}.html"
    ).read_text("utf-8")


# -- from Moodle's zip to Moodle's sheet and back


def _moodles(name: str, number: int, file: str = f"{tiny.NAME}.ipynb") -> str:
    return f"{name}_{number}_assignsubmission_file_/{file}"


PEOPLE = {"ann": ("Ann Arendt", 11), "ben": ("Ben Bloch", 12), "cem": ("Cem Öz", 13)}
PEOPLE |= {"eve": ("Eve Evil", 66), "mal": ("Mal Ice", 67), "tom": ("Tom Torn", 68)}
MOODLES_POINTS = {"ann": 3.5, "ben": 1.5, "cem": 3.5, "eve": 0, "mal": 2, "tom": 0}


def _download(secret: Path) -> bytes:
    """Moodle's zip: three honest ones; others' folders hold paths out of it, a link, another's
    name, a bomb, and a notebook that writes where it should not."""
    write = f"try: open({str(secret)!r}, 'ab').write(b'x')\nexcept OSError: pass"
    as_anns = io.BytesIO()
    with zipfile.ZipFile(as_anns, "w") as inner:
        inner.writestr(_moodles("Ann Arendt", 11), tiny.hand_in(**WRONG))
        inner.writestr("../../../gradebook.db", b"mine")
        inner.writestr("big.bin", b"\0" * (20 << 20), zipfile.ZIP_DEFLATED)
    link = zipfile.ZipInfo(_moodles("Mal Ice", 67, "course.ipynb"))
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, data in zip(PEOPLE, [tiny.hand_in(), tiny.hand_in(less="return 0")]):
            archive.writestr(_moodles(*PEOPLE[student]), data)
        archive.writestr(_moodles(*PEOPLE["cem"], "answer (1).ipynb"), tiny.hand_in())
        archive.writestr(_moodles(*PEOPLE["eve"]), _first(write, **WRONG))
        archive.writestr(
            _moodles(*PEOPLE["eve"], "Ann Arendt_11_assignsubmission_file_x.ipynb"), b"{"
        )
        archive.writestr(_moodles(*PEOPLE["eve"], "more.zip"), as_anns.getvalue())
        archive.writestr(_moodles(*PEOPLE["mal"]), tiny.hand_in(twice="while True: pass"))
        archive.writestr(link, str(secret))
        archive.writestr("../Ann Arendt_11_assignsubmission_file_/x.ipynb", tiny.hand_in(**WRONG))
        archive.writestr(_moodles(*PEOPLE["tom"]), tiny.hand_in()[:200])
        archive.writestr(_moodles("<img onerror=stop()>", 99), tiny.hand_in())
    return out.getvalue()


SHEET = """\
Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed
""" + "".join(
    f"Participant {number},{name},,,Submitted,,3.50,Yes\n" for name, number in PEOPLE.values()
)


@pytest.fixture(scope="module")
def moodle(tmp_path_factory) -> Taught:
    for _ in range(TRIES):
        own = _moodle(tmp_path_factory.mktemp("moodle"))
        if not _only_less(own.rows, MOODLES_POINTS):
            break
    return own


def _moodle(root: Path) -> Taught:
    own = Taught(root)
    with open(own.room / "roster.csv", "a", encoding="utf-8") as roster:
        roster.writelines(f"{i},{name},,,,{number}\n" for i, (name, number) in PEOPLE.items())
    own.before = _hashes(own.root / "course")
    own.book = (own.room / "gradebook.db").read_bytes()
    (own.root / "download.zip").write_bytes(_download(own.room / "gradebook.db"))
    assert own.tito("collect", str(own.root / "download.zip"), "--module", "01") == 1
    assert (own.room / "gradebook.db").read_bytes() == own.book
    out = own.root / "rows.json"
    own.apart("run", "--module", "01", "-j", "2", "--json", str(out))
    own.rows = {row["student"]: row for row in json.loads(out.read_text())["submissions"]}
    return own


def test_a_moodle_zip_with_hostile_entries_gives_everybody_their_own(moodle, capsys):
    found = {student: (row["status"], row["points"]) for student, row in moodle.rows.items()}
    status = {name: "graded" for name in PEOPLE} | {"tom": "broken"}
    assert found == {name: (status[name], points) for name, points in MOODLES_POINTS.items()}
    moodle.tito("status", "--json", "-")
    waiting = json.loads(capsys.readouterr().out)["waiting"]
    assert [w["student"] for w in waiting if w["what"] == "unmatched"] == [
        "<img onerror=stop()>_99"
    ]
    assert [w["student"] for w in waiting if w["what"] == "broken"] == ["tom"]
    assert list(_processes(moodle.root / "home")) == []
    assert _hashes(moodle.root / "course") == moodle.before
    assert {p.name for p in moodle.root.iterdir()} <= {
        *("class", "course", "home", "tmp", "download"),
        *("download.zip", "rows.json", "sheet.csv", "back.zip"),
    }


def test_moodle_gets_its_sheet_and_a_page_for_each_back(moodle, capsys):
    sheet, back = moodle.root / "sheet.csv", moodle.root / "back.zip"
    sheet.write_text(SHEET, encoding="utf-8")
    words = ("--format", "moodle", "--sheet", str(sheet), "--out", "-")
    capsys.readouterr()
    assert moodle.tito("export", "--module", "01", *words) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out.lstrip("\ufeff"))))
    grades = {row["Full name"]: row["Grade"] for row in rows}
    assert {name: float(grades[name]) for name, _ in list(PEOPLE.values())[:5]} == {
        **{"Ann Arendt": 3.5, "Ben Bloch": 1.5, "Cem Öz": 3.5, "Eve Evil": 0, "Mal Ice": 2}
    }
    assert grades["Tom Torn"] == ""  # a broken upload is for a person to decide
    assert moodle.tito("feedback", "--module", "01", "--moodle", str(back)) == 0
    with zipfile.ZipFile(back) as archive:
        names = archive.namelist()
        assert all(_Alive(archive.read(name).decode()).found == [] for name in names)
    assert {name.split("_")[0] for name in names} == {name for name, _ in PEOPLE.values()}
    assert all(name.count("/") == 1 and ".." not in name for name in names)
