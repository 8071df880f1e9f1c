"""Directives: `#| name value` lines in the leading comment block of a code cell."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

KNOWN = ("default_exp", "export", "measure", "forbid", "writes")
_LINE = re.compile(r"#\|\s*([A-Za-z_]\w*)\s*:?\s*(.*)")
# What a tired author types: a blank before the bar, a second #, a name that is nearly right, or
# no bar at all, as nbdev once wrote it.
_NEAR = re.compile(r"#+\s*\|\s*([A-Za-z_]\w*)|#+\s*(?:export|default_exp [\w.]+)$")


@dataclass(frozen=True)
class Directive:
    """One directive: its name, what follows it, and its line in the cell (from 1)."""

    name: str
    value: str
    line: int

    @property
    def words(self) -> list[str]:
        return self.value.replace(",", " ").split()


def directives(source: str) -> list[Directive]:
    """The directives that count: those above the first line of code, of a known name."""
    found = []
    for number, line in enumerate(source.split("\n"), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            break
        match = _LINE.fullmatch(line.rstrip())
        if match and match[1] in KNOWN:
            found.append(Directive(match[1], match[2].strip(), number))
    return found


def stray_directives(source: str, is_code: bool = True) -> list[tuple[int, str, str]]:
    """Lines that look like a directive but do nothing: (line, text, why).

    In code only comments count, so a directive inside a string is text.
    """
    if not is_code:
        lines = enumerate(source.split("\n"), 1)
        return [
            (n, t.strip(), "a directive counts in code cells only")
            for n, t in lines
            if _LINE.fullmatch(t.rstrip()) and _LINE.fullmatch(t.rstrip())[1] in KNOWN
        ]
    good = {d.line for d in directives(source)}
    return [
        (line, text, _why(text))
        for line, text in _comments(source)
        if line not in good and _NEAR.match(text)
    ]


def _why(text: str) -> str:
    match = _LINE.fullmatch(text)
    if match and match[1] in KNOWN:
        return "a directive counts only above the first line of code, at the start of its line"
    if match:
        return f"no directive is called {match[1]!r}; there are {', '.join(KNOWN)}"
    return "a directive is written '#| name', with one # and no blank between # and |"


def _comments(source: str) -> list[tuple[int, str]]:
    """(line, text) of every comment; of comment-like lines where the cell does not tokenize."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        lines = enumerate(source.split("\n"), 1)
        return [(n, t.strip()) for n, t in lines if t.lstrip().startswith("#")]
    return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]


def without_directives(source: str) -> str:
    """The cell without the directives that count, blank lines above the code dropped."""
    drop = {d.line for d in directives(source)}
    lines = [t for n, t in enumerate(source.split("\n"), 1) if n not in drop]
    return "\n".join(lines).strip("\n")
