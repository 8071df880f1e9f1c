"""The secret behind the seeds of hidden inputs."""

from __future__ import annotations

import hashlib

from tito.notebook import Notebook, write_ipynb


def secret_of(master: Notebook) -> bytes:
    """A hash of the master.

    Nobody without the answers and hidden tests can work it out, it needs no file of its own, and
    grading again gives the same inputs.
    """
    return hashlib.sha256(write_ipynb(master).encode("utf-8", "surrogatepass")).digest()
