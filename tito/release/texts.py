"""The texts of a kit: what students read first, and how they set up."""

from __future__ import annotations

README = """\
# TinyKernels: your course folder

You write short kernels in notebooks, see at once whether they are right and how fast they run
on your machine, and export them into a package of your own, `tinykernels`. Nothing here needs
a server, an account or, once set up, a network.

## Set up (once)

With make:

    make
    source .venv/bin/activate

Without make (Linux, macOS):

    python3 -m venv .venv
    source .venv/bin/activate
    python -m pip install -r requirements.txt -e .
    tito doctor

On Windows (PowerShell):

    py -m venv .venv
    .venv\\Scripts\\Activate.ps1
    python -m pip install -r requirements.txt -e .
    tito doctor

Python 3.11, 3.12 or 3.13. `tito doctor` says in one line each what is as it should be and how to
mend what is not.

## Work

    tito start {first}     where to begin
    tito lab {first}       opens the notebook in JupyterLab
    tito test {first}      your points: one line a question
    tito export {first}    your kernels become part of `tinykernels`
    tito submit {first}    makes the file to hand in
    tito status       what is done and what comes next

In the notebook, write your code where it says `# YOUR CODE HERE` and run the test cell below it: it
prints nothing when all is well, else what went wrong and what to try. Save (Ctrl-S) before you go
back to the command line: `tito` reads the saved file.
VS Code works too: open this folder and choose the Python of `.venv` as kernel.

Some points are decided by tests that run after hand-in; they check what the text of the exercise
promises, with other inputs. Some questions are read by a person: write below the question and
leave it where it is.

## Modules

{modules}

## When something goes wrong

    tito doctor            checks Python, Jupyter and this folder
    tito reset {first}          the notebook as it was handed out; yours is kept as a backup
    tito reset {first} --list   the backups; --restore brings one back

`tito COMMAND --help` explains each command with an example.

Code: Apache-2.0. Texts of the modules: CC BY 4.0. See LICENSE.
"""

MAKEFILE = """\
# make sets everything up in .venv; make lab opens the notebooks.

VENV ?= .venv
BIN := $(VENV)/bin/python
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \\
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \\
	&& echo "$$p" && break; done)

.PHONY: run lab

run: $(VENV)/ready
	@$(BIN) -m tito doctor

lab: $(VENV)/ready
	@$(BIN) -m tito lab

$(VENV)/ready: requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed"; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	$(BIN) -m pip install --quiet --disable-pip-version-check -r requirements.txt -e .
	@touch $(VENV)/ready
"""

GITIGNORE = """\
.venv/
__pycache__/
*.egg-info/
.ipynb_checkpoints/
.tito/backups/
.tito/jupyter/
submit/
"""

# What only the course's own tests and the grading of a class need.
NOT_FOR_STUDENTS = ("hypothesis", "nbgrader", "playwright", "pytest", "pytest-xdist", "ruff")


def requirements(text: str) -> str:
    """The course's requirements without what students do not need."""
    lines = [
        line
        for line in text.split("\n")
        if line.strip() and not line.startswith("#") and _package(line) not in NOT_FOR_STUDENTS
    ]
    return "# What the course needs; see README.md.\n" + "\n".join(lines) + "\n"


def _package(line: str) -> str:
    name = ""
    for character in line:
        if not (character.isalnum() or character in "-_."):
            break
        name += character
    return name.lower()


def pyproject(text: str) -> str:
    """The course's pyproject.toml without the settings of its own tests and checks."""
    kept, skip = [], False
    for line in text.split("\n"):
        if line.startswith("["):
            skip = line.startswith(("[tool.ruff", "[tool.pytest"))
        if not skip and not line.startswith("test = ["):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"
