"""`tito lab`: this Python as kernel, this machine only, nothing from the network."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.release.sample import make_kit
from tito.errors import UserError
from tito.release import jupyter


@pytest.fixture
def own(tmp_path):
    return make_kit(tmp_path)


def test_the_kernel_is_this_python_and_imports_the_kit(own):
    spec = jupyter.kernel_spec(own)
    run = subprocess.run(
        [spec["argv"][0], "-c", "import tito.here, tinykernels, sys; print(tinykernels.__file__)"],
        cwd=own.modules[0].folder,
        env={**os.environ, **spec["env"]},
        capture_output=True,
        text=True,
    )
    assert spec["argv"][0] == sys.executable
    assert Path(run.stdout.strip()).parent == own.package, run.stderr


def test_jupyter_finds_it_before_any_other(own, monkeypatch):
    pytest.importorskip("jupyter_client")
    code = (
        "from jupyter_client.kernelspec import KernelSpecManager as M;"
        "print(M().get_kernel_spec('python3').resource_dir)"
    )
    env = jupyter.environment(own)
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert Path(run.stdout.strip()) == own.root / ".tito/jupyter/kernels/python3", run.stderr


def test_the_command_stays_on_this_machine_and_asks_no_network(own):
    command = jupyter.lab_command(own, own.modules[0], browser=False, port=8899)
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--ServerApp.ip=127.0.0.1" in command
    assert "--LabApp.news_url=None" in command
    assert "--LabApp.extension_manager=readonly" in command
    assert "--LabApp.default_url=/lab/tree/modules/02_demo/02_demo.ipynb" in command
    assert "--no-browser" in command and "--ServerApp.port=8899" in command


def test_without_jupyterlab_the_cure_is_said(own, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match="not installed") as error:
        jupyter.run_lab(own, own.modules[0], browser=False, port=None)
    assert "requirements.txt" in str(error.value)


@contextlib.contextmanager
def running_lab(folder: Path):
    """The address of a `tito lab` started in `folder`; stopped at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tito", "lab", "02", "--no-browser"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: [lines.put(s) for s in process.stdout], daemon=True).start()
    try:
        heard = ""
        while not (found := re.search(r"(http://\S+?)(/lab\S*)\?(token=\w+)", heard)):
            heard += lines.get(timeout=180)
        yield found
    finally:
        process.terminate()
        process.wait(timeout=120)


def test_lab_serves_the_kit_with_that_kernel(own):
    pytest.importorskip("jupyterlab")
    with running_lab(own.root) as (address):
        site, page, token = address.groups()
        assert site.startswith("http://127.0.0.1:")
        assert page == "/lab/tree/modules/02_demo/02_demo.ipynb"

        def get(path):
            """The address is printed a moment before the server listens."""
            end = time.monotonic() + 180
            while time.monotonic() < end:
                try:
                    with urllib.request.urlopen(f"{site}{path}?{token}", timeout=120) as answer:
                        return json.load(answer)
                except urllib.error.URLError:
                    time.sleep(0.2)
            raise AssertionError(f"nothing listens at {site}")

        spec = get("/api/kernelspecs")["kernelspecs"]["python3"]["spec"]
        assert spec["argv"][0] == sys.executable
        assert str(own.root) in spec["env"]["PYTHONPATH"]
        assert get("/api/contents/modules/02_demo/02_demo.ipynb")["type"] == "notebook"
