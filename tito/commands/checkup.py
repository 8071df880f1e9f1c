"""What `tito doctor` looks at: each check is a function that returns what it found and the cure."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tito.course import Course, find_course
from tito.errors import UserError

OK, WRONG, NOTE = "ok", "wrong", "note"
OLDEST, NEWEST = (3, 11), (3, 13)
NEEDED = (
    "numpy",
    "numba",
    "ipykernel",
    "jupyterlab",
    "jupytext",
    "matplotlib",
    "msgpack",
    "psutil",
)
# Run by the Python that is asked about, in the folder of a notebook.
_PROBE = """
import json, sys
found = {"executable": sys.executable, "version": sys.version.split()[0]}
try:
    import tito.here
    found["tito"] = tito.__file__
    import tinykernels
    found["tinykernels"] = tinykernels.__file__
except Exception as error:
    found["error"] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Finding:
    """One line of the report: `state` is "ok", "wrong" or "note"; `cure` says what to do."""

    name: str
    state: str
    text: str
    cure: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def examine() -> list[Finding]:
    """Every check, in the order in which their cures are best applied."""
    try:
        course: Course | None = find_course()
    except UserError:
        course = None
    checks: Iterable[Callable[[Course | None], Finding]] = (
        python,
        packages,
        folder,
        package,
        kernel,
        jupyter,
        blas,
        cpu,
        memory,
        sandbox,
    )
    return [_guarded(check, course) for check in checks]


def _guarded(check: Callable[[Course | None], Finding], course: Course | None) -> Finding:
    """A check that fails itself is a finding too: the others still help."""
    try:
        return check(course)
    except Exception as error:
        return Finding(check.__name__, WRONG, f"cannot be found out: {error}")


def install_command(course: Course | None) -> str:
    """The command that installs what is missing into this Python."""
    root = course.root if course else Path("COURSE")
    return f'"{sys.executable}" -m pip install -r "{root / "requirements.txt"}" -e "{root}"'


def python(course: Course | None) -> Finding:
    """The version of the Python that runs tito."""
    version = sys.version.split()[0]
    facts = {"version": version, "executable": sys.executable}
    text = f"{version}, {sys.executable}"
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return Finding("python", OK, text, facts=facts)
    wanted = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
    cure = f"make a new .venv with Python {wanted}: see README.md, Set up"
    return Finding("python", WRONG, f"{text}: Python {wanted} is needed", cure, facts)


def packages(course: Course | None) -> Finding:
    """The packages that the course works with."""
    versions = {name: _version(name) for name in NEEDED}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        return Finding(
            "packages", WRONG, f"missing: {', '.join(missing)}", install_command(course), versions
        )
    text = ", ".join(f"{name} {version}" for name, version in versions.items())
    return Finding("packages", OK, text, facts=versions)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def folder(course: Course | None) -> Finding:
    """The course folder that commands work in."""
    if course is None:
        return Finding(
            "folder",
            WRONG,
            f"{Path.cwd()} is in no course folder (one that holds modules/ and tinykernels/)",
            "change into your course folder: cd FOLDER",
        )
    facts = {"root": str(course.root), "kit": course.is_kit}
    if not os.access(course.root, os.W_OK):
        return Finding(
            "folder",
            WRONG,
            f"{course.root} cannot be written to",
            "copy it to a folder of your own",
            facts,
        )
    what = "a kit" if course.is_kit else "the course's repository (your own work goes to kit/)"
    return Finding("folder", OK, f"{course.root}, {what}", facts=facts)


def package(course: Course | None) -> Finding:
    """The folder that `import tinykernels` takes in a notebook of this course."""
    if course is None:
        return Finding("tinykernels", NOTE, "depends on the course folder; there is none here")
    found = ask(sys.executable, _notebook_folder(course), course)
    return _judge_package("tinykernels", found, course, "call tito start in the course folder")


def kernel(course: Course | None) -> Finding:
    """The Python that Jupyter starts for a notebook: this one, with tito and tinykernels."""
    spec = _kernel_spec()
    if spec is None:
        return Finding(
            "kernel",
            WRONG,
            'Jupyter has no kernel "python3"',
            f"{install_command(course)}; then start Jupyter with: tito lab",
        )
    executable = _started(spec["argv"][0])
    where = _notebook_folder(course) if course else Path.cwd()
    found = ask(executable, where, course, spec.get("env") or {})
    facts = {"executable": executable, "spec": spec.get("folder"), **found}
    if not _same_python(executable, found):
        return Finding(
            "kernel",
            WRONG,
            f"Jupyter would start {executable}, tito runs under {sys.executable}",
            kernel_cure(),
            facts,
        )
    if course is None:
        return Finding("kernel", OK, f"{executable}, the Python of tito", facts=facts)
    return _judge_package("kernel", found, course, kernel_cure())


def jupyter(course: Course | None) -> Finding:
    """The Jupyter that a plain `jupyter lab` would start: of this Python, or another one."""
    import shutil

    found = shutil.which("jupyter-lab")
    own = Path(sys.executable).parent
    facts = {"path": found}
    if found is None or Path(found).parent == own:
        return Finding("jupyter", OK, f"of this Python, in {own}", facts=facts)
    text = f"a plain jupyter lab starts {found}, which belongs to another Python"
    return Finding("jupyter", NOTE, text, "start it with tito lab", facts)


def kernel_cure() -> str:
    """How to get the right kernel in the two programs that people use."""
    return (
        "JupyterLab: start it with tito lab (it brings the right kernel). VS Code: at the top "
        "right of the notebook, Select Kernel, Python Environments, then "
        f"{sys.executable}"
    )


def _kernel_spec() -> dict[str, Any] | None:
    """The kernel "python3" as this Python's Jupyter finds it; None where there is none."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ImportError:
        return None
    try:
        spec = KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        return None
    return {**spec.to_dict(), "folder": spec.resource_dir}


def ask(
    executable: str, where: Path, course: Course | None, env: dict[str, str] | None = None
) -> dict[str, Any]:
    """What a Python finds when it imports tito and tinykernels in the folder of a notebook."""
    try:
        run = subprocess.run(
            [executable, "-c", _PROBE],
            cwd=where,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=180,
        )
        return json.loads(run.stdout.strip().split("\n")[-1])
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return {"error": f"{executable} does not run: {error}"}


def _started(executable: str) -> str:
    """What Jupyter starts: for a bare "python" it takes the Python that it runs under itself."""
    own = {"python", "python3", f"python{sys.version_info[0]}.{sys.version_info[1]}"}
    return sys.executable if executable in own else executable


def _same_python(executable: str, found: dict[str, Any]) -> bool:
    """Whether both names start the same environment."""
    theirs = Path(found.get("executable") or executable)
    # Not resolved: the pythons of two environments may be links to one file.
    return os.path.normcase(theirs.absolute()) == os.path.normcase(Path(sys.executable).absolute())


def _notebook_folder(course: Course) -> Path:
    return course.modules[0].folder if course.modules else course.root


def _judge_package(name: str, found: dict[str, Any], course: Course, cure: str) -> Finding:
    if "error" in found:
        return Finding(name, WRONG, found["error"], f"{install_command(course)}; {cure}", found)
    folder = Path(found["tinykernels"]).parent
    if folder.resolve() != course.package.resolve():
        return Finding(
            name,
            WRONG,
            f"import tinykernels takes {folder}, not this course's {course.package}",
            cure,
            found,
        )
    text = f"{found['executable']}, tinykernels from {folder}"
    return Finding(name, OK, text if name == "kernel" else str(folder), facts=found)


def blas(course: Course | None) -> Finding:
    """The library that NumPy multiplies matrices with: what kernels are compared with."""
    from tito.machine import facts, hidden_core

    machine = facts()
    known = {
        "blas": machine.blas,
        "core": machine.blas_core,
        "threads": machine.blas_threads,
        "numpy": machine.numpy,
    }
    if machine.blas is None:
        return Finding("blas", NOTE, "unknown to NumPy", facts=known)
    parts = [machine.blas]
    parts += [f"core type {machine.blas_core}"] if machine.blas_core else []
    parts += [f"{machine.blas_threads} threads"] if machine.blas_threads else []
    if better := hidden_core():
        # Some OpenBLAS releases do not survive a core type that is not their own choice.
        fix = f"unset OPENBLAS_CORETYPE: it keeps OpenBLAS from its {better} kernels"
        return Finding("blas", NOTE, ", ".join(parts), fix, facts={**known, "hidden": better})
    return Finding("blas", OK, ", ".join(parts), facts=known)


def cpu(course: Course | None) -> Finding:
    """The processor, how many of it this process may use, and its instruction sets."""
    from tito.machine import facts

    machine = facts()
    text = f"{machine.cpu or 'unknown model'}, {machine.cores} usable, {machine.system}"
    if machine.features:
        text += "; " + " ".join(machine.features)
    known = {"model": machine.cpu, "cores": machine.cores, "features": list(machine.features)}
    return Finding("cpu", OK, text, facts=known)


def memory(course: Course | None) -> Finding:
    """The caches, from the core outwards, and the memory that this process may use."""
    from tito.machine import facts
    from tito.machine.caches import size_text

    machine = facts()
    known = {"caches": [asdict(cache) for cache in machine.caches], "memory": machine.memory}
    parts = [str(cache) for cache in machine.caches] or ["caches unknown"]
    parts.append(f"{size_text(machine.memory)} memory" if machine.memory else "memory unknown")
    return Finding("memory", OK, ", ".join(parts), facts=known)


def sandbox(course: Course | None) -> Finding:
    """The layers that would confine the code of a stranger's hand-in."""
    from tito.grading.sandbox import available, is_isolating

    layers = available()
    facts = {"layers": layers, "isolating": is_isolating(layers)}
    if is_isolating(layers):
        return Finding("sandbox", OK, ", ".join(layers), facts=facts)
    found = ", ".join(layers) or "no layer"
    return Finding(
        "sandbox",
        NOTE,
        f"{found}: your own work can be tested, strangers' hand-ins are not confined here",
        "only for graders: use Linux (kernel 5.13 or newer)",
        facts,
    )
