"""Imports of all cells: one block at the top, in the order that ruff wants."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from tests.export.modules import body, cell, exported, notebook
from tito.errors import UserError
from tito.export import plan_notebooks
from tito.export.imports import Import, listed, render


def test_imports_are_merged_sorted_and_parted():
    text = exported(
        "import numpy as np\nfrom tinykernels.measure import a, b\nx = np, a",
        "from __future__ import annotations\nfrom math import sqrt\nimport os\ny = os, sqrt",
        "from math import exp, sqrt\nimport numpy as np\nz = exp, np, b, sqrt",
    )
    assert (
        "\n\nfrom __future__ import annotations\n"
        "\n"
        "import os\n"
        "from math import exp, sqrt\n"
        "\n"
        "import numpy as np\n"
        "\n"
        "from tinykernels.measure import a, b\n"
        "\n"
        "__all__ = "
    ) in text


def test_unused_imports_are_dropped_by_scope():
    text = exported(
        "import os, sys\nimport numpy as np\nimport re\nfrom typing import Any\nimport abc, ast\n"
        "def f(np, x: 'ast.AST') -> Any:\n    sys = 1\n    return np + sys"
    )
    assert "import ast\nfrom typing import Any\n\n__all__" in text
    for name in ("os", "sys", "numpy", "re", "abc"):
        assert f"import {name}" not in text


def test_the_name_in_a_string_or_comment_is_no_use():
    assert "import os" not in exported("import os\nx = 'os'  # os")


def test_imports_inside_functions_and_blocks_stay_where_they_are():
    text = body("try:\n    import numba\nexcept ImportError:\n    numba = None\nx = numba")
    assert "try:\n    import numba\n" in text
    assert "    import os\n" in body("def f():\n    import os\n    return os")


def test_statements_beside_an_import_keep_their_order():
    assert body("a = 1; import os; b = os").endswith("a = 1\nb = os\n")


def test_comments_go_with_their_import():
    text = exported("# fast\n# and small\nimport os  # why\n\nx = os")
    assert "\n# fast\n# and small\nimport os  # why\n\n__all__" in text
    assert "fast" not in text.split("__all__")[1]


def test_a_long_import_breaks_into_lines():
    names = [f"a_long_name_of_number_{n}" for n in range(6)]
    text = render([Import("math", n) for n in names], set(names))
    assert text.startswith("from math import (\n    a_long_name_of_number_0,\n")
    assert text.endswith("    a_long_name_of_number_5,\n)")


def test_one_name_for_two_imports_is_refused_with_both_cells():
    with pytest.raises(UserError) as caught:
        plan_notebooks(
            [("m", notebook("from math import sqrt", "from numpy import sqrt\nx = sqrt"))]
        )
    assert caught.value.cell == "cell 3" and "cell 2" in caught.value.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("import numpy as np", "import numpy.linalg as np"),
        ("import numpy as np", "from numpy import np"),
        ("import os", "from x import os"),
        ("from a import b", "from c import b"),
    ],
)
def test_two_ways_to_make_one_name_are_a_clash(first, second):
    with pytest.raises(UserError, match="is another import in cell 2"):
        plan_notebooks([("m", notebook(first, second))])


def test_one_name_for_an_import_and_a_function_is_refused_with_both_cells():
    with pytest.raises(UserError) as caught:
        plan_notebooks([("m", notebook("from math import sqrt", "def sqrt(x):\n    return x"))])
    assert caught.value.cell == "cell 3" and "imported in cell 2" in caught.value.message


def test_the_parts_of_a_package_are_one_name():
    text = exported("import os\nimport os.path\nx = os", cell("import os"))
    assert "import os\nimport os.path\n" in text


MODULES = [
    "os",
    "os.path",
    "sys",
    "math",
    "abc",
    "numpy",
    "numpy.linalg",
    "Zope",
    "yaml",
    "x2",
    "x10",
]
NAMES = ["a", "B", "CC", "Dd", "e1", "e10", "e2", "F", "sqrt", "_g", "hH", "I_J"]


def random_imports(seed):
    pick = random.Random(seed)
    found = {}
    for _ in range(pick.randint(1, 14)):
        module = pick.choice([*MODULES, "tinykernels.loops", "tinykernels"])
        name = pick.choice([None, *NAMES])
        alias = pick.choice([None, None, "al", "Be"])
        one = Import(module, name, f"{alias}{len(found)}" if alias else None)
        found.setdefault(one.bound, one)
    return list(found.values())


def ruff(*args, cwd):
    command = [sys.executable, "-m", "ruff", *args, "--no-cache", "--config", "line-length=100"]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_ruff_agrees_with_the_order_of_imports_and_of_all(tmp_path):
    for seed in range(150):
        imports = random_imports(seed)
        used = {i.bound for i in imports}
        text = render(imports, used) + "\n\n" + listed({*used, *NAMES[: seed % 12]}) + "\n"
        (tmp_path / f"m{seed}.py").write_text(text)
    own = 'lint.isort.known-first-party=["tinykernels"]'
    sorted_ = ruff(
        *("check", "--select", "I,RUF022", "--target-version", "py311", "--config", own, "."),
        cwd=tmp_path,
    )
    assert sorted_.returncode == 0, sorted_.stdout[:3000]
    formatted = ruff("format", "--diff", ".", cwd=tmp_path)
    assert formatted.returncode == 0, formatted.stdout[:3000]
