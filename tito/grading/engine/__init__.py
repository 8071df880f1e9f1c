"""How the student's process comes to be: one interface, several engines."""

from __future__ import annotations

import os

from tito.errors import UsageError

ENGINES = ("fork", "spawn")
VARIABLE = "TITO_ENGINE"


def chosen(name: str | None = None) -> str:
    """The engine to use: the one asked for, the environment's, or the fastest that works here."""
    from tito.grading.engine.warm import forking_works

    asked = name or os.environ.get(VARIABLE)
    if asked is None:
        return "fork" if forking_works() else "spawn"
    if asked not in ENGINES:
        raise UsageError(f"there is no engine {asked!r}", hint=f"take {' or '.join(ENGINES)}")
    if asked == "fork" and not forking_works():
        raise UsageError(
            "the fork engine does not work on this system", hint="--engine spawn works everywhere"
        )
    return asked
