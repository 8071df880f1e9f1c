"""Which layers a machine has, for `tito doctor`."""

from __future__ import annotations

import sys
from pathlib import Path

PROBE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import {package} as sandbox
if sys.platform == "linux" and sandbox.own_processes() is not None:
    import os
    child = os.fork()
    if child:
        sys.exit(os.waitpid(child, 0)[1] != 0)
print(json.dumps(sandbox.confine(sys.argv[2], sandbox.readable_paths(), None)), flush=True)
"""


def available() -> list[str]:
    """The layers that this machine has, tried in a process that is thrown away."""
    import json
    import subprocess
    import tempfile

    package = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as scratch:
        probe = [sys.executable, "-I", "-c", PROBE.format(package=package.name)]
        done = subprocess.run(
            [*probe, str(package.parent), scratch], capture_output=True, text=True, timeout=120
        )
    return json.loads(done.stdout) if done.returncode == 0 else []
