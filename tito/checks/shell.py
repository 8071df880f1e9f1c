"""The IPython shell that runs this code, if one does."""

from __future__ import annotations

import sys
from typing import Any


def running_shell() -> Any:
    """The running IPython shell; None in plain Python. Never imports IPython."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module else None
