"""A platform's sheet: one cell changes, every other byte stays."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.errors import UserError
from tito.grading.book import Sheet

TEXT = 'Name,Grade,"Last, edited"\r\n"Öz, ""C""",,x\r\nAnn,1.50,"a\r\nb"\r\n'


def sheet(tmp_path, data):
    path = tmp_path / "sheet.csv"
    path.write_bytes(data)
    return Sheet.read(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_one_cell_changes_and_no_other_byte(tmp_path, encoding, separator, end):
    text = TEXT.replace(",", separator).replace("\r\n", end)
    if encoding == "latin-1":
        text = text.replace("Öz", "\xe9\xff")  # no valid UTF-8
    own = sheet(tmp_path, text.encode(encoding))
    assert own.separator == separator
    assert own.value(0, 0) == "Name"
    assert own.put(1, 1, "7")
    assert own.put(2, 1, "2")
    wanted = text.replace(f'"{separator}{separator}x', f'"{separator}7{separator}x')
    wanted = wanted.replace("1.50", "2")
    assert wanted != text
    assert own.to_bytes() == wanted.encode(encoding)


def test_what_is_not_touched_stays_to_the_byte(tmp_path):
    data = b'a,b\r\n1,2\n\n"x"y,\x80\n last'
    assert sheet(tmp_path, data).to_bytes() == data


def test_the_same_value_is_no_change(tmp_path):
    own = sheet(tmp_path, b"a,b\n1,2\n")
    assert not own.put(1, 1, "2")
    assert own.to_bytes() == b"a,b\n1,2\n"


def test_a_cell_is_quoted_as_its_row_is(tmp_path):
    own = sheet(tmp_path, b'"a","b"\n"Ann",\n"Ben","3"\nCem,""\n')
    for row in (1, 2, 3):
        own.put(row, 1, "7")
    assert own.to_bytes() == b'"a","b"\n"Ann","7"\n"Ben","7"\nCem,"7"\n'


@given(
    st.lists(
        st.lists(st.text('a,";\t\r\nÖ=', max_size=6), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_it_reads_and_writes_what_csv_does(tmp_path_factory, rows, data):
    """A change made in the text is the change that a reader of CSV sees."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows([list("xyz"), *rows])
    path = tmp_path_factory.mktemp("sheet") / "s.csv"
    path.write_bytes(out.getvalue().encode())
    own = Sheet.read(path)
    assert [[f.value for f in row] for row in own.rows] == [list("xyz"), *rows]
    at = data.draw(st.integers(0, len(rows) - 1))
    own.put(at + 1, 1, "7")
    rows[at][1] = "7"
    again = list(csv.reader(io.StringIO(own.to_bytes().decode(), newline="")))
    assert again == [list("xyz"), *rows]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"PK\x03\x04...", "Excel"),
        (b'a,b\n"x,1\n', "never closed"),
    ],
)
def test_what_is_no_sheet_is_said_so(tmp_path, data, message):
    with pytest.raises(UserError, match=message):
        sheet(tmp_path, data)


def test_a_row_that_is_too_short_is_named(tmp_path):
    with pytest.raises(UserError, match="line 2"):
        sheet(tmp_path, b"a,b\nAnn\n").put(1, 1, "7")
