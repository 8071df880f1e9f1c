"""nbgrader's formgrader on a class folder, in headless Chromium, driven as a grader would."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from . import lab

# Named on the command line: nothing is switched on for other folders or for the user.
EXTENSION = "nbgrader.server_extensions.formgrader=True"


@contextlib.contextmanager
def formgrader(folder: Path, home: Path) -> Iterator[Server]:
    """A Jupyter server with formgrader on the class folder, on 127.0.0.1 only."""
    env = {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    command = [
        *(sys.executable, "-m", "jupyter", "server", "--no-browser"),
        # A container's only user may be root, whom Jupyter refuses unless told otherwise.
        *("--allow-root", "--ip=127.0.0.1", "--ServerApp.port_retries=200"),
        f"--ServerApp.jpserver_extensions={EXTENSION}",
    ]
    home.mkdir(exist_ok=True)
    with open(home / "server.log", "w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield _started(home / "runtime", process)
        finally:
            lab._stop(process)


class Server:
    """Where formgrader answers."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token

    def address(self, path: str) -> str:
        return f"{self._url}formgrader/{path}"

    @property
    def login(self) -> str:
        """Opened first: the browser is known from then on."""
        return f"{self._url}login?token={self._token}"


def _started(runtime: Path, process: subprocess.Popen, patience: float = 300) -> Server:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended at once; see server.log"
        for info in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(ValueError, OSError, KeyError):
                facts = json.loads(info.read_text())
                server = Server(facts["url"], facts["token"])
                urllib.request.urlopen(server.login, timeout=10).close()
                return server
        time.sleep(0.3)
    raise TimeoutError("formgrader did not answer")
