"""The message of a failed check: what a student reads, line by line."""

from __future__ import annotations

from dataclasses import dataclass, field

LABEL_WIDTH = 10


@dataclass
class Failure:
    """One failed check, in the parts its message is made of.

    function: the function's name
    problem : "wrong from element 3 on"
    kind    : the property that failed, without any value: "a wrong value", "a wrong dtype"
    case    : "relu_loops  n=7": the function and the inputs that show the mistake; "" where the
              problem is a whole sentence
    rows    : (label, text) pairs printed below, e.g. ("got", "[1. 2.] float64 (2,)")
    likely  : the cause that explains the wrong answer, where one of the test's own was found
    tries   : what to try next, the author's words or ours
    words   : the author's own words alone (cause texts and hints)
    """

    function: str
    problem: str
    kind: str
    case: str = ""
    rows: list[tuple[str, str]] = field(default_factory=list)
    likely: str | None = None
    tries: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The whole message."""
        lines = [f"{self.case}: {self.problem}" if self.case else self.problem]
        lines += [_row(label, text) for label, text in self.rows]
        if self.likely:
            lines.append(_row("likely", self.likely))
        if self.tries:
            lines.append(_row("try", "; ".join(self.tries)))
        return "\n".join(lines)

    def public(self) -> str:
        """What may be shown of a check in a hidden cell: the property, and the author's words."""
        lines = [f"{self.function}: {self.kind}"]
        if self.words:
            lines.append(_row("try", "; ".join(self.words)))
        return "\n".join(lines)


class CheckFailed(AssertionError):
    """A check did not hold; `str()` is the whole message.

    public : the same without any value that came from the student's code or from hidden inputs
    """

    def __init__(self, message: str, public: str | None = None) -> None:
        super().__init__(message)
        self.public = public if public is not None else "a check failed"

    @classmethod
    def of(cls, failure: Failure) -> CheckFailed:
        return cls(failure.text(), failure.public())


def _row(label: str, text: str) -> str:
    """A labelled line; further lines of the text are indented like its first."""
    first, *rest = text.split("\n")
    margin = " " * (2 + LABEL_WIDTH)
    return "\n".join([f"  {label:<{LABEL_WIDTH}}{first}"] + [margin + line for line in rest])
