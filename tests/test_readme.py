"""What README says of the commands is what the parser says.

python -m tests.test_readme      writes the reference of the commands anew
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from tito.cli import COMMANDS, GRADE, build_parser

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- commands: written by python -m tests.test_readme -->", "<!-- end of commands -->"


def reference() -> str:
    """A line for each command, with its example."""
    rows = [(f"tito {name}", entry) for name, entry in COMMANDS.items()]
    rows += [(f"tito grade {name}", entry) for name, entry in GRADE.items()]
    lines = ["| command | what it does | example |", "|---|---|---|"]
    lines += [f"| `{name}` | {entry[1]} | `{entry[2]}` |" for name, entry in rows]
    return "\n".join(lines)


def with_reference(text: str) -> str:
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{reference()}\n{END}{rest.partition(END)[2]}"


def calls() -> list[str]:
    """Every call of tito in a block of code, without its comment."""
    found = re.findall(
        r"^    (?:\S*python -m )?(tito .+)$", README.read_text("utf-8"), re.MULTILINE
    )
    return [line.partition("  #")[0].strip() for line in found]


def test_the_reference_is_the_parsers():
    text = README.read_text("utf-8")
    assert BEGIN in text and END in text
    assert with_reference(text) == text, "run python -m tests.test_readme"


@pytest.mark.parametrize("call", calls())
def test_every_call_is_one_that_the_parser_takes(call):
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            build_parser().parse_args(shlex.split(call)[1:])
    except SystemExit:
        pytest.fail(said.getvalue())


@pytest.mark.parametrize("name", [*COMMANDS, *(f"grade {n}" for n in GRADE)])
def test_every_example_of_a_help_text_is_one_that_the_parser_takes(name):
    entry = COMMANDS.get(name) or GRADE[name.removeprefix("grade ")]
    build_parser().parse_args(shlex.split(entry[2])[1:])


if __name__ == "__main__":
    README.write_text(with_reference(README.read_text("utf-8")), encoding="utf-8")
