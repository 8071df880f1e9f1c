"""What is said about a test cell that did not pass: to the student, and under hiding.

Under hiding only the author's words may be shown, never a value and nothing that the student's
code said: it has met the hidden inputs, and an exception text or a wrong result can carry them.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from tito.checks import CheckFailed
from tito.forbid import tree_of
from tito.grading.judge import compiler
from tito.grading.judge.plan import Exercise, GradedTest
from tito.grading.judge.result import DIED, ERROR, FAILED, MISSING, TIMEOUT
from tito.grading.judge.score import BadScore
from tito.grading.judge.world import InputChanged, StudentDied, StudentTimeout

MAX_MESSAGE = 4000
FOR_INSTRUCTOR = "for the instructor: "
HIDDEN_FAILED = "a hidden test failed"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Words that are more than prose: they hold a digit or an underscore, or are written in capitals.
_TELLING = re.compile(r"\w*[\d_]\w*(?:\.\d+)?|\b[A-Z]{3,}\b")
_BRACKETS = re.compile(r"[\[\]{}]")
# What a package says where an earlier module's export is not there yet.
_NOT_EXPORTED = re.compile(
    r"is (?:exercise \d+|an exercise) of (?P<module>\d\d)_\w+: tito start"
    r"|No module named '(?P<part>tinykernels[\w.]*)'"
    r"|cannot import name '\w+' from '(?P<file>tinykernels[\w.]*)'"
)
_TO_EXPORT = re.compile(r"finish that module, tito export (\d\d),")


@dataclass
class Verdict:
    """Status and message of a test that earned nothing."""

    status: str
    message: str


@dataclass
class Context:
    """What a message needs to know about the notebook.

    missing : for a name of a solution that is not there: (status, why)
    open_text : everything in the master that students can read
    owner : the exercise that defines a name
    own_before : the modules before this one are the student's own exports
    """

    missing: dict[str, tuple[str, str]]
    open_text: str
    owner: dict[str, Exercise]
    own_before: bool = False


def filename(test: GradedTest) -> str:
    """The name under which a test cell is compiled."""
    return f"<{test.id}>"


def verdict(error: BaseException, test: GradedTest, context: Context, *, hide: bool) -> Verdict:
    """Why a test earned nothing, in words for the student."""
    if isinstance(error, BadScore):
        return Verdict(ERROR, FOR_INSTRUCTOR + str(error))
    if isinstance(error, StudentDied):
        return lost(TIMEOUT if isinstance(error, StudentTimeout) else DIED, str(error), hide=hide)
    if isinstance(error, NameError) and (found := _missing(error, context)):
        return found
    if isinstance(error, NotImplementedError) and _is_stub(error):
        return Verdict(MISSING, _not_written(error, test, context, hide))
    if isinstance(error, AssertionError):
        text = _hidden_assertion(error, test, context) if hide else _assertion(error, test)
        return Verdict(FAILED, tidy(text))
    if hide:
        whose = "your code" if getattr(error, "student_frames", None) else "it"
        return Verdict(ERROR, f"{HIDDEN_FAILED}: {whose} ended with an exception")
    return Verdict(ERROR, tidy(_with_way_on(_exception(error), context)))


def _with_way_on(text: str, context: Context) -> str:
    """What to do where the student's own earlier module is what is missing."""
    match = _NOT_EXPORTED.search(text) if context.own_before else None
    if match is None:
        return text
    which = match["module"] or "MODULE"
    return (
        f"{text}\n  this question stands on your own work of an earlier module, which is not "
        f"exported yet\n  try       finish that module, tito export {which}, then test again"
    )


def earlier_module(message: str) -> str | None:
    """The number of the module whose export a message says is missing."""
    match = _TO_EXPORT.search(message)
    return match[1] if match else None


def lost(status: str, why: str, *, hide: bool) -> Verdict:
    """The student's process ended. How it did is its own word: an exit code carries a value."""
    if hide and status == DIED:
        return Verdict(DIED, f"{HIDDEN_FAILED}: the process of your code ended")
    return Verdict(status, tidy(why))


def words_of(error: BaseException) -> str:
    """An exception's text. A test may put an object of the student's into it (`assert ok, got`),
    which is asked for its words only now, and may answer with anything."""
    try:
        return str(error)
    except (Exception, StudentDied) as other:
        return f"(a text that could not be made: {type(other).__name__})"


def tidy(text: str) -> str:
    """At most MAX_MESSAGE characters, without control characters and Numba's long reports."""
    text = _CONTROL.sub("?", text.encode("utf-8", "replace").decode("utf-8")).strip()
    text = compiler.brief(text)
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 4] + " ..."


def _missing(error: NameError, context: Context) -> Verdict | None:
    """A name that a solution should define; else the test itself uses what nothing defines."""
    name = error.name
    if name in context.missing:
        status, why = context.missing[name]
        return Verdict(status, tidy(_with_way_on(f"{name} is not there: {why}", context)))
    return None


def _is_stub(error: NotImplementedError) -> bool:
    """What stands in a released solution cell raises without a word."""
    return not words_of(error).strip()


def _not_written(error: Exception, test: GradedTest, context: Context, hide: bool) -> str:
    """Whose stub it was is the student's word too: under hiding it is not repeated."""
    frames = getattr(error, "student_frames", None) or ()
    name = frames[-1].function if frames else ""
    for exercise in context.owner.values():
        if exercise.position == test.exercise:
            label = f"exercise {exercise.number} ({exercise.id})"
            if hide:
                return f"{label}, or what it calls, is not written yet"
            if name in context.owner and name != exercise.id:
                return f"{label}: {name} is not written yet"
            return f"{label} is not written yet"
    return "not written yet"


def _assertion(error: AssertionError, test: GradedTest) -> str:
    text = words_of(error)
    if not text.strip():
        node = _assert_statement(error, test)
        text = ast.unparse(node) if node else "a check failed"
    return "\n".join([text, *_notes(error)])


def _exception(error: BaseException) -> str:
    """The exception as Python names it, and where in the student's code it was raised."""
    words = words_of(error)
    text = f"{type(error).__name__}: {words}" if words else type(error).__name__
    if isinstance(error, NameError) and not _notes(error):
        text = f"{FOR_INSTRUCTOR}this test uses a name that nothing above it defines: {words}"
    return "\n".join([text, *_notes(error)])


def _notes(error: BaseException) -> list[str]:
    """Remarks of the border: the line of the student's cell that raised."""
    notes = getattr(error, "__notes__", [])
    return ["  " + str(note).strip() for note in notes[:3]]


def _hidden_assertion(error: AssertionError, test: GradedTest, context: Context) -> str:
    if isinstance(error, CheckFailed):
        return _public(error, context)
    if isinstance(error, InputChanged):
        return f"{HIDDEN_FAILED}: a call changed one of its inputs"
    node = _assert_statement(error, test)
    words = _constant_words(node.msg) if node is not None and node.msg is not None else ""
    if words and not tells(words, context.open_text):
        return f"{HIDDEN_FAILED}: {words}"
    return HIDDEN_FAILED


def _public(error: CheckFailed, context: Context) -> str:
    """The check's public text. A function that the test got from the student's code may be named
    anything: only names that students can read anyway are shown."""
    name, colon, rest = error.public.partition(": ")
    known = set(re.findall(r"\w+", context.open_text))
    return error.public if not colon or name in known else f"{HIDDEN_FAILED}: {rest}"


def _assert_statement(error: AssertionError, test: GradedTest) -> ast.Assert | None:
    """The assert in the test cell that raised, if it was one of its own lines."""
    trace, line = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        line = trace.tb_lineno if code.co_filename == filename(test) else None
        trace = trace.tb_next
    tree = tree_of(test.source)
    if line is None or tree is None:
        return None
    found = [
        n for n in ast.walk(tree) if isinstance(n, ast.Assert) and n.lineno <= line <= n.end_lineno
    ]
    return max(found, key=lambda n: n.lineno, default=None)


def _constant_words(message: ast.expr) -> str:
    """The author's text; what an f-string fills in is left out."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        return message.value
    if isinstance(message, ast.JoinedStr):
        parts = message.values
        return "".join(p.value if isinstance(p, ast.Constant) else "..." for p in parts)
    return ""


def tells(words: str, open_text: str) -> bool:
    """Whether a message of a hidden line gives away more than prose does.

    Brackets hold values. A word with digits or underscores, or in capitals, may be a value or a
    name of the hidden code, unless students can read it in the notebook anyway.
    """
    known = set(_TELLING.findall(open_text))
    return bool(_BRACKETS.search(words)) or any(w not in known for w in _TELLING.findall(words))
