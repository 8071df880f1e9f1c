"""What the student's side can do to a test: the exceptions of the border."""

from __future__ import annotations


class StudentDied(BaseException):
    """The student's process ended while the judge waited for it; its text says how.

    Not an Exception, so that no `except Exception` of a test or a check takes it for an answer.
    """


class StudentTimeout(StudentDied):
    """It was ended because a limit was passed."""


class StudentExit(Exception):
    """Student code raised SystemExit, KeyboardInterrupt, StopIteration or the like."""


class InputChanged(AssertionError):
    """A call changed an argument that it may not change."""
