"""Ways to run or reach code that a syntax tree does not show."""

from __future__ import annotations

import importlib.util
import sys
from functools import lru_cache

UNREADABLE = {
    *("builtins.eval", "builtins.exec", "builtins.compile", "IPython.get_ipython"),
    *("IPython.core", "IPython.terminal", "IPython.utils", "IPython.lib", "IPython.testing"),
    *("IPython.extensions", "IPython.external", "IPython.embed", "IPython.embed_kernel"),
    *("IPython.start_ipython", "IPython.start_kernel", "IPython.InteractiveShell"),
    *("inspect.getattr_static", "inspect.getmodule", "inspect.getmembers"),
    *("inspect.getargvalues", "inspect.getgeneratorlocals", "inspect.getcoroutinelocals"),
    *("inspect.get_annotations", "importlib._bootstrap", "importlib._bootstrap_external"),
    *("inspect.getmembers_static", "inspect.getclosurevars", "typing.get_type_hints"),
    *("typing.ForwardRef", "annotationlib.ForwardRef"),
    *("types.FunctionType", "types.CodeType", "types.LambdaType", "string.Formatter"),
    *("timeit.timeit", "timeit.repeat", "timeit.Timer", "importlib.metadata.EntryPoint"),
    *("importlib.util.module_from_spec", "importlib.util.spec_from_file_location"),
    *("gc.get_objects", "gc.get_referrers", "pandas.eval", "pandas.read_pickle"),
    *("llvmlite.ir.Function", "llvmlite.ir.values.Function", "logging.config"),
}
# Libraries made to run a text or a file, or to find a thing by its name.
UNREADABLE_LIBRARIES = {
    *("ctypes", "cffi", "_ctypes", "__main__", "numexpr", "runpy", "code", "codeop"),
    *("imp", "zipimport", "_imp", "_frozen_importlib", "pkgutil", "pydoc"),
    *("cProfile", "profile", "bdb", "pdb", "trace", "doctest", "rlcompleter", "unittest"),
    *("pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"),
}
# Wherever they are found: numpy.ctypeslib.ctypes.CDLL, numba.types.ExternalFunction.
UNREADABLE_PARTS = {
    *("ctypes", "cffi", "load_library", "load_library_permanently", "add_symbol"),
    *("address_of_symbol", "parse_assembly", "parse_bitcode", "get_cython_function_address"),
    *("ExternalFunction", "ExternalFunctionPointer"),
}
UNREADABLE_METHODS = {
    *("__getattribute__", "__getattr__", "__globals__", "__self__", "__subclasses__"),
    *("__loader__", "__spec__", "load_module", "exec_module", "create_module"),
    *("f_globals", "f_locals", "f_builtins", "user_ns"),
    *("__defaults__", "__kwdefaults__", "__annotations__", "__closure__", "cell_contents"),
}
# Calls that declare a function by its name: LLVM's own are instructions, any other may be anything.
DECLARING = {"declare_intrinsic", "get_or_insert_function"}
LLVM = "llvm."
# Decorators of Numba's that give compiled code another meaning: @overload(f) for every call of f.
ANNOUNCING = ("overload", "lower", "infer", "type_callable")
# The names of the notebook itself, which another library has no table of.
NOTEBOOK = "<notebook>"
OWN_NAMES = f"{NOTEBOOK}.__dict__"
OWN_TABLES = {"builtins.globals", "builtins.locals", "builtins.vars"}
OWN_TABLE_ATTRIBUTES = {"f_globals", "__globals__", "user_ns", "user_global_ns"}
# An array names the module of its own functions.
NUMPY_BY_ARRAY = "__array_namespace__"
# A function that finds things by a name: handed on, the name that it will be given is unknown.
FINDING = {"builtins.getattr", "builtins.vars", "builtins.globals"}
# Where a module as a value is followed, or told nothing.
ASKING = {f"builtins.{name}" for name in ("getattr", "vars", "hasattr", "dir", "id", "print")}
# Calls that are told by a name what they get.
BY_NAME = {
    *("builtins.getattr", "builtins.vars", "builtins.__import__", "importlib.__import__"),
    *("importlib.import_module", "operator.attrgetter", "operator.methodcaller"),
}
GETTERS_OF_ONE = {"operator.methodcaller"}  # behind the name come arguments
# Methods of a container by which something gets out of it; of a table, `get` is followed.
TAKING = ("pop", "popitem", "popleft", "values", "items", "__iter__", "__reversed__")
GETTERS = {"operator.attrgetter", "operator.methodcaller"}


def is_unreadable(path: str) -> bool:
    """Whether what stands behind a library's path can be anything."""
    words = path.split(".")
    library = words[0] in UNREADABLE_LIBRARIES
    below = {".".join(words[:length]) for length in range(2, len(words) + 1)}
    return library or not UNREADABLE.isdisjoint(below) or not UNREADABLE_PARTS.isdisjoint(words)


def announces(path: str) -> bool:
    """Whether it tells Numba what to compile in another function's place."""
    words = path.split(".")
    return words[0] == "numba" and words[-1].startswith(ANNOUNCING)


@lru_cache(maxsize=256)
def is_installed(library: str) -> bool:
    """Whether there is a library of this name."""
    if library in sys.stdlib_module_names or library in sys.builtin_module_names:
        return True
    try:
        return importlib.util.find_spec(library) is not None
    except (ImportError, ValueError):
        return library in sys.modules
