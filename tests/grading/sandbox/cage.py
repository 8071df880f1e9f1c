"""Run one piece of work in a child process, caged or free; started by conftest.py.

argv[1]: JSON {package, scratch, readable, without, limits, user, caged, work, world}. Prints JSON
{layers, outcomes}; work is "attacks" (all of attacks.py) or the source of one to run.
"""

import ctypes  # noqa: F401  needed by a user who cannot reach this Python
import encodings.idna  # noqa: F401  likewise
import importlib.util
import json
import os
import sys
import tokenize  # noqa: F401  likewise
import traceback
from pathlib import Path
from types import SimpleNamespace

request = json.loads(sys.argv[1])
sys.path.append(request["package"])
import sandbox  # noqa: E402
import sandbox.landlock  # noqa: E402
import sandbox.libc  # noqa: E402
import sandbox.locks  # noqa: E402
import sandbox.mounts  # noqa: E402
import sandbox.namespaces  # noqa: E402
import sandbox.privileges  # noqa: E402
import sandbox.seccomp  # noqa: E402
import sandbox.syscalls  # noqa: E402


def load_attacks():
    """The functions of the file beside this one."""
    spec = importlib.util.spec_from_file_location("attacks", Path(__file__).with_name("attacks.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ATTACKS


def attempt(function, *arguments):
    """ "worked", or the error's type and text."""
    try:
        function(*arguments)
    except OSError as error:
        return f"refused: {error}"
    except BaseException:
        return traceback.format_exc()
    return "worked"


world = SimpleNamespace(scratch=request["scratch"], **request["world"])
attacks = load_attacks() if request["work"] == "attacks" else {}
if request["user"] is not None:
    os.setgroups([])
    os.setresgid(*[request["user"]] * 3)
    os.setresuid(*[request["user"]] * 3)
    sandbox.libc.prctl(4, 1)  # as if started by that user: setuid made it not dumpable
layers = []
if request["caged"]:
    readable = [*sandbox.readable_paths(), *request["readable"]]
    limits = SimpleNamespace(**request["limits"])
    layers = sandbox.confine(world.scratch, readable, limits, without=request["without"])
if request["work"] == "attacks":
    outcomes = {name: attempt(function, world) for name, (function, _) in attacks.items()}
else:
    outcomes = attempt(exec, compile(request["work"], "<work>", "exec"), {"world": world})
print(json.dumps({"layers": layers, "outcomes": outcomes}))
