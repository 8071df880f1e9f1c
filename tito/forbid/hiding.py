"""Ways to run or reach code that a syntax tree does not show."""

from __future__ import annotations

import importlib.util
import sys
from functools import lru_cache

UNREADABLE = {
    *("builtins.eval", "builtins.exec", "builtins.compile", "IPython.get_ipython"),
    *("pkgutil.resolve_name", "pydoc.locate", "pydoc.resolve", "inspect.getattr_static"),
    *("pickle.load", "pickle.loads", "marshal.load", "marshal.loads", "types.FunctionType"),
    *("types.CodeType", "types.LambdaType", "timeit.timeit", "timeit.repeat", "timeit.Timer"),
    *("importlib.util.module_from_spec", "importlib.util.spec_from_file_location"),
    *("gc.get_objects", "gc.get_referrers", "pandas.eval", "cProfile.run", "profile.run"),
}
UNREADABLE_LIBRARIES = {
    *("ctypes", "cffi", "_ctypes", "__main__", "numexpr", "runpy", "code"),
    *("imp", "zipimport", "_imp", "_frozen_importlib"),
}
UNREADABLE_METHODS = {
    *("__getattribute__", "__getattr__", "__globals__", "__self__", "__subclasses__"),
    *("__loader__", "__spec__", "load_module", "exec_module", "create_module"),
    *("f_globals", "f_locals", "f_builtins", "user_ns"),
}
# Where a module as a value is followed, or told nothing.
ASKING = {f"builtins.{name}" for name in ("getattr", "vars", "hasattr", "dir", "id", "print")}
GETTERS = {"operator.attrgetter", "operator.methodcaller"}


@lru_cache(maxsize=256)
def is_installed(library: str) -> bool:
    """Whether there is a library of this name."""
    if library in sys.stdlib_module_names or library in sys.builtin_module_names:
        return True
    try:
        return importlib.util.find_spec(library) is not None
    except (ImportError, ValueError):
        return library in sys.modules
