"""Locks for thread pools that ask multiprocessing for theirs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import ModuleType

NAME = "multiprocessing.synchronize"
KINDS = ("Lock", "RLock", "Semaphore", "BoundedSemaphore", "Condition", "Event", "Barrier")


def use_thread_locks() -> None:
    """Let multiprocessing's locks be those of threading.

    Its own lie in /dev/shm, which all processes share and which is therefore closed here. Since no
    process can be started either, locks between threads are all that is needed, and
    multiprocessing's ThreadPool works.
    """
    module = ModuleType(NAME, "Locks between threads: this process can start no other.")
    module.SEM_VALUE_MAX = 2**31 - 1
    for kind in KINDS:
        setattr(module, kind, _without_context(getattr(threading, kind)))
    sys.modules[NAME] = module


def _without_context(make: Callable[..., object]) -> Callable[..., object]:
    """The same, given multiprocessing's extra argument."""

    def lock(*arguments: object, ctx: object = None, **named: object) -> object:
        return make(*arguments, **named)

    return lock
