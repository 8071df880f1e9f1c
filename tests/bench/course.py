"""A course folder whose package holds kernels that behave as a test needs."""

from __future__ import annotations

import textwrap
from pathlib import Path


def make(folder: Path, **files: str) -> Path:
    """`folder` as a course with the files given; two underscores stand for a sub-package."""
    (folder / "modules").mkdir(parents=True)
    package = folder / "tinykernels"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, source in files.items():
        path = package / ("__init__.py" if name == "init" else f"{name.replace('__', '/')}.py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source))
    return folder
