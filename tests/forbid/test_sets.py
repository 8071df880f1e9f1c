"""What the sets know of NumPy must keep up with NumPy."""

import numpy as np

from tito.forbid.sets import ARRAY_NAMES


def test_every_name_that_an_array_has_is_known():
    assert {name for name in dir(np.ndarray) if not name.startswith("_")} <= ARRAY_NAMES
