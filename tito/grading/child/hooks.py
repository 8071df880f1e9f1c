"""Small changes to libraries, made right after their import, so that unused ones cost nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any


def install(get_ipython: Callable[[], Any]) -> None:
    """Numba caches nothing on disk; IPython's get_ipython() finds the stand-in."""

    def use_stand_in(module: ModuleType) -> None:
        module.get_ipython = get_ipython

    actions = {
        "numba.core.dispatcher": lambda m: _no_cache(m.Dispatcher),
        "numba.np.ufunc.ufuncbuilder": lambda m: _no_cache(m.UFuncDispatcher),
        "numba.core.ccallback": lambda m: _no_cache(m.CFunc),
        "IPython.core.getipython": use_stand_in,
    }
    for name in list(actions):
        if name in sys.modules:  # a warm parent has it already
            actions.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _AfterImport(actions))


def _no_cache(dispatcher: type) -> None:
    """`cache=True` is fine in a notebook; here it would only write files that nobody reads."""
    dispatcher.enable_caching = lambda self: None


class _AfterImport:
    """A finder that lets the others find a module and runs an action once it is loaded."""

    def __init__(self, actions: dict[str, Callable[[ModuleType], None]]) -> None:
        self._actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        action = self._actions.pop(name, None)
        if action is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    spec.loader = _Loader(spec.loader, action)
                    return spec
        return None


class _Loader:
    def __init__(self, loader: Any, action: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._action = action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        with suppress(AttributeError):  # another version of the library keeps its ways
            self._action(module)
