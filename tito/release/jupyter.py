"""JupyterLab on a kit: this Python as kernel, this machine only, no network needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tito.course import Course, ModuleRef
from tito.errors import UserError
from tito.files import write_atomic

# Found before any kernel of the same name that the machine has.
FOLDER = ".tito/jupyter"


def kernel_spec(course: Course) -> dict:
    """The kernel "python3" of a kit: the Python that tito runs under, able to import the kit."""
    return {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "metadata": {"debugger": True},
        "env": {"PYTHONPATH": python_path(course)},
    }


def python_path(course: Course) -> str:
    """PYTHONPATH with the course folder first: it need not be installed."""
    return _before(str(course.root), "PYTHONPATH")


def write_kernel_spec(course: Course) -> Path:
    """Put the kernel into the kit; the folder for JUPYTER_PATH."""
    folder = course.root / FOLDER
    text = json.dumps(kernel_spec(course), indent=1) + "\n"
    write_atomic(folder / "kernels" / "python3" / "kernel.json", text)
    return folder


def environment(course: Course) -> dict[str, str]:
    """The environment in which Jupyter finds that kernel first."""
    own = str(write_kernel_spec(course))
    write_page_config(course)
    return {
        **os.environ,
        "JUPYTER_PATH": _before(own, "JUPYTER_PATH"),
        "JUPYTER_CONFIG_PATH": _before(own, "JUPYTER_CONFIG_PATH"),
        "PYTHONPATH": python_path(course),
    }


def _before(folder: str, variable: str) -> str:
    """A search path with `folder` first, then what the variable holds already."""
    rest = os.environ.get(variable, "")
    return folder + (os.pathsep + rest if rest else "")


def write_page_config(course: Course) -> None:
    """JupyterLab without its question about news, which `news_url` alone does not stop."""
    off = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    path = course.root / FOLDER / "labconfig" / "page_config.json"
    write_atomic(path, json.dumps(off, indent=1) + "\n")


def lab_command(course: Course, ref: ModuleRef, *, browser: bool, port: int | None) -> list[str]:
    """The command line of JupyterLab."""
    notebook = ref.ipynb.relative_to(course.root).as_posix()
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={course.root}",
        f"--LabApp.default_url=/lab/tree/{notebook}",
        # Neither news nor update checks nor an extension list: nothing asks the network.
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        # The address is printed all the same; the rest of the log is for its developers.
        "--Application.log_level=WARN",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # As root in a container; Jupyter would refuse and say how to go on.
        command.append("--ServerApp.allow_root=True")
    if port is not None:
        command.append(f"--ServerApp.port={port}")
    return command if browser else [*command, "--no-browser"]


def run_lab(course: Course, ref: ModuleRef, *, browser: bool, port: int | None) -> int:
    """Run JupyterLab until it is stopped."""
    import importlib.util

    if importlib.util.find_spec("jupyterlab") is None:
        raise UserError(
            f"JupyterLab is not installed for {sys.executable}",
            hint=f'"{sys.executable}" -m pip install -r requirements.txt',
        )
    command = lab_command(course, ref, browser=browser, port=port)
    os.chdir(course.root)
    if os.name == "posix":
        # In tito's place, so that Ctrl-C and every other signal reach JupyterLab itself.
        sys.stdout.flush()
        os.execve(command[0], command, environment(course))
    process = subprocess.Popen(command, env=environment(course))
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # JupyterLab got the Ctrl-C too; it asks, or ends by itself
