"""Notebooks run in a kernel of this Python, as Jupyter would run them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def executed(notebook: Any, folder: Path, allow_errors: bool = False) -> Any:
    """The notebook (of nbformat) with the outputs of all its cells, run in `folder`."""
    from jupyter_client import KernelManager
    from nbclient import NotebookClient

    manager = KernelManager()
    # The kernel of this Python, whatever kernels are installed for the user.
    manager.kernel_spec.argv[0] = sys.executable
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=600,
        startup_timeout=300,  # a machine may stand still for a minute
        allow_errors=allow_errors,
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        return client.execute()
    finally:
        if client.kc is not None:
            client.kc.stop_channels()
        manager.shutdown_kernel(now=True)
