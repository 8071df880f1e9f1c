"""JupyterLab in headless Chromium, driven as a student would."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# A clean page: no calls home, which a closed network would answer one by one.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextlib.contextmanager
def jupyter_lab(folder: Path, home: Path) -> Iterator[str]:
    """A JupyterLab on `folder`, on 127.0.0.1 only; yields its address with the token."""
    env = {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    # A container's only user may be root, whom Jupyter refuses unless told otherwise; the page
    # must show its application object to be driven.
    settings = {"ServerApp": {"allow_root": True}, "LabApp": {"expose_app_in_browser": True}}
    (home / "config").mkdir()
    (home / "config" / "jupyter_lab_config.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "tito", "lab", "--no-browser"]
    with open(home / "lab.log", "w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield _address(home / "runtime", server)
        finally:
            _stop(server)


def _stop(server: subprocess.Popen) -> None:
    """End the server with its kernels: all are in the group that it leads."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(20)


def _address(runtime: Path, server: subprocess.Popen, patience: float = 300) -> str:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        assert server.poll() is None, "JupyterLab ended at once; see lab.log"
        for info in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(ValueError, OSError):
                facts = json.loads(info.read_text())
                url = f"{facts['url']}lab?token={facts['token']}"
                urllib.request.urlopen(url, timeout=10).close()
                return url
        time.sleep(0.3)
    raise TimeoutError("JupyterLab did not answer")


class LabPage:
    """One notebook open in Lab."""

    def __init__(self, page, shots: Path) -> None:
        self.page = page
        self.shots = shots

    def open(self, address: str, path: str) -> None:
        base, token = address.split("lab?")
        self.page.goto(f"{base}lab/tree/{path}?{token}&reset", wait_until="domcontentloaded")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=300_000)
        self._wait_connected()
        self.wait_idle()

    def _wait_connected(self) -> None:
        """Until a kernel answers.

        The indicator says "idle" before there is one, and cells that are run then wait for a
        choice of kernel which nobody makes.
        """
        self.page.wait_for_function(
            "() => { const context = window.jupyterapp.shell.currentWidget.context.sessionContext;"
            " const kernel = context.session && context.session.kernel;"
            " return context.isReady && kernel && kernel.connectionStatus === 'connected'"
            " && kernel.status === 'idle'; }",
            timeout=300_000,
        )

    def wait_idle(self, timeout: float = 300) -> None:
        """Until the kernel has nothing left to run."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self._status() == "idle":
                self.page.wait_for_timeout(400)
                if self._status() == "idle":
                    return
            self.page.wait_for_timeout(200)
        raise TimeoutError(f"the kernel stays {self._status()!r}")

    def _status(self) -> str:
        indicator = self.page.query_selector(
            ".jp-NotebookPanel-toolbar .jp-Notebook-ExecutionIndicator"
        )
        return (indicator.get_attribute("data-status") or "") if indicator else ""

    def command(self, command: str, **args) -> None:
        """Run a command of JupyterLab by its id."""
        self.page.evaluate(
            "([id, args]) => window.jupyterapp.commands.execute(id, args)", [command, args]
        )

    def cell(self, index: int):
        """The model of cell `index` (from 0), as JavaScript sees it."""
        return f"window.jupyterapp.shell.currentWidget.content.widgets[{index}]"

    def sources(self) -> list[str]:
        return self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.widgets"
            ".map(w => w.model.sharedModel.getSource())"
        )

    def set_source(self, index: int, source: str) -> None:
        self.page.evaluate(
            f"(text) => {self.cell(index)}.model.sharedModel.setSource(text)", source
        )

    def run_all(self) -> None:
        """Run all cells and wait for each: the counters are emptied before and set after a run."""
        self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.widgets.forEach("
            "w => { if (w.model.type === 'code') w.model.executionCount = null; })"
        )
        self.command("notebook:run-all-cells")
        self._wait_counted(timeout=300)
        self.wait_idle()

    def _wait_counted(self, timeout: float) -> None:
        """Until every code cell has a number, which it gets when it has run."""
        end = time.monotonic() + timeout
        while waiting := self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.widgets.flatMap((w, i) =>"
            " w.model.type !== 'code' || !w.model.sharedModel.getSource().trim()"
            " || w.model.executionCount !== null ? [] : [i])"
        ):
            if time.monotonic() > end:
                raise TimeoutError(self._stuck(waiting))
            self.page.wait_for_timeout(200)

    def _stuck(self, waiting: list[int]) -> str:
        """What stands on a page whose cells do not run, for whoever reads the test's output."""
        dialogs = self.page.query_selector_all(".jp-Dialog")
        before = max(0, waiting[0] - 1)
        return (
            f"cells {waiting} did not run; the kernel is {self._status()!r}; picture "
            f"{self.shot('stuck')}; dialogs {[d.inner_text() for d in dialogs]}; "
            f"cell {before} printed {self.output(before)!r}"
        )

    def run(self, index: int) -> str:
        """Run one cell; the text of its outputs."""
        self.page.evaluate(
            "(i) => { const nb = window.jupyterapp.shell.currentWidget.content;"
            " nb.activeCellIndex = i; nb.deselectAll();"
            " nb.widgets[i].model.executionCount = null; }",
            index,
        )
        self.command("notebook:run-cell")
        self.page.wait_for_function(
            f"() => {self.cell(index)}.model.executionCount !== null", timeout=300_000
        )
        self.wait_idle()
        return self.output(index)

    def output(self, index: int) -> str:
        outputs = self.page.evaluate(
            f"() => {{ const m = {self.cell(index)}.model;"
            " return m.outputs ? m.outputs.toJSON() : []; }"
        )
        text = "\n".join(_output_text(o) for o in outputs)
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def save(self) -> None:
        self.command("docmanager:save")
        self.page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty", timeout=300_000
        )

    def shot(self, name: str) -> Path:
        path = self.shots / f"{name}.png"
        self.page.screenshot(path=str(path))
        return path


def _output_text(output: dict) -> str:
    if output["output_type"] == "stream":
        text = output["text"]
        return text if isinstance(text, str) else "".join(text)
    if output["output_type"] == "error":
        return "\n".join(output["traceback"])
    text = output.get("data", {}).get("text/plain", "")
    return text if isinstance(text, str) else "".join(text)


@contextlib.contextmanager
def browser_page(shots: Path, dark: bool = False) -> Iterator[LabPage]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=CHROMIUM_FLAGS
        )
        page = browser.new_page(
            viewport={"width": 1400, "height": 1000},
            color_scheme="dark" if dark else "light",
        )
        # What comes at once where there is a CPU for it; a test that hangs is ended all the same.
        page.set_default_timeout(300_000)
        try:
            yield LabPage(page, shots)
        finally:
            browser.close()
