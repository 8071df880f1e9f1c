"""Numba's errors in few lines: what it does not know, and the line of the student's code.

Numba tells all that it tried, in itself too, with files of the machine that grades. Of some forty
lines two help somebody who wrote the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_STEP = re.compile(r"Failed in nopython mode pipeline \(step: [^)]*\)\s*")
# "Raised from FILE (2)": the first form ends with a place, the second with none.
_PLACE = re.compile(r"[.,]* (?:Raised from|defined at) (?:\S.*? \((\d+)\)|None)")
_SIGNATURE = re.compile(r"No implementation of function .+? found for signature:\s*>>> (.+)")
_CANDIDATES = re.compile(r"\s*There are \d+ candidate implementations")
_REASON = re.compile(r"\s+\w+Error: (?!Failed in nopython)(.+)")
_TALK = re.compile(r"\s*$|During: |\s+raised from ")
_FILE = re.compile(r'File "(.+)", line \d+:$')
_FUNCTION = re.compile(r"\s*def (\w+)")
_LIBRARY = "site-packages"


def brief(text: str) -> str:
    """A message with what Numba says in it shortened; any other message as it is."""
    if not _STEP.search(text) and "Raised from " not in text:
        return text
    text = _SIGNATURE.sub(r"Numba has no \1", _STEP.sub("", text))
    return "\n".join(_kept(_PLACE.sub(_line, text).split("\n")))


def _line(match: re.Match[str]) -> str:
    return f", line {match[1]} of its cell" if match[1] else ""


def _kept(lines: list[str]) -> Iterator[str]:
    """The lines that help; of all places in the student's code the innermost one."""
    rest = iter(lines)
    told = False
    for line in rest:
        if _CANDIDATES.match(line):
            reason, line = _past_candidates(rest)
            if reason:
                yield f"  {reason}"
        if match := _FILE.match(line):
            place = _place(rest)
            if place and not told and _LIBRARY not in match[1]:
                yield f"  in {place}"
                told = True
        elif not _TALK.match(line):
            yield line


def _past_candidates(rest: Iterable[str]) -> tuple[str, str]:
    """(the first reason among what was tried, the first line behind it)."""
    reason = ""
    for line in rest:
        if line.strip() and not line.startswith(" "):
            return reason, line
        match = _REASON.match(line)
        reason = reason or (match[1] if match else "")
    return reason, ""


def _place(rest: Iterable[str]) -> str:
    """ "f: return np.clip(x, 0, y)": function and line of a piece of source, up to its caret."""
    function, line = "", ""
    for shown in rest:
        if shown.strip() == "^":
            break
        match = _FUNCTION.match(shown)
        function = function or (match[1] if match else "")
        line = shown.strip()
    return f"{function}: {line}" if function and line else line
