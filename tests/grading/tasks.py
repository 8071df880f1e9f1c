"""Tasks for the tests of executors: worker processes import them from here."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

from tito.grading.executors import stopping


def double(text: str) -> str:
    return 2 * text


def after(seconds: float, text: str) -> str:
    time.sleep(seconds)
    return text


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_of(poison: str, text: str) -> str:
    """The worker that gets the poison is gone."""
    time.sleep(0 if text == poison else 0.3)
    if text == poison:
        time.sleep(0.1)  # others are under way beside it
        die()
    return text


def dies_once(marker: str, text: str) -> str:
    """The first worker to come here is gone."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return text
    return die() or text


def raises(text: str) -> str:
    raise KeyError(text)


def until_stopped(marker: str) -> str:
    """Works until nobody waits for it any more; says that it began and how it ended."""
    Path(marker).write_text("began")
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if stopping():
            Path(marker).write_text("stopped")
            return "stopped"
        time.sleep(0.01)
    return "never"


def say_pid_and_wait(marker: str) -> str:
    tempfile.mkdtemp()
    Path(marker).write_text(str(os.getpid()))
    time.sleep(60)
    return ""
