"""What authors of modules do: make, check, pair and export them. The work is done elsewhere."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from tito.commands import choose
from tito.course import ModuleRef, find_course
from tito.errors import Problems, UserError


def sync(args: Namespace) -> int:
    """Bring pairs in step; with --check only say which are not."""
    from tito import sync as pairs

    refs = choose.modules(args.modules, args.all)
    if args.check:
        return _check_pairs(refs)
    problems: list[UserError] = []
    for ref in refs:
        try:
            if args.clear:
                done = "built without outputs" if pairs.clear(ref) else "is as the .py builds it"
                print(f"{ref.name}: {ref.ipynb.name} {done}")
            else:
                _tell_sync(ref, pairs.sync(ref, args.keep))
        except UserError as error:
            problems.append(error)
    if problems:
        raise Problems(problems)
    print(f"next: tito lint {refs[0].name}" if not refs[0].in_kit else "next: tito test")
    return 0


def _tell_sync(ref: ModuleRef, outcome) -> None:
    from tito.sync import saved

    if outcome.written is None:
        print(f"{ref.name}: {outcome.state}")
    else:
        print(f"{ref.name}: {outcome.written.name} written from {saved(outcome.read)}")
    for note in outcome.notes:
        print(f"  {note}")


def _check_pairs(refs: list[ModuleRef]) -> int:
    from tito.sync import check

    wrong = {ref.name: why for ref in refs if (why := check(ref))}
    for name, why in wrong.items():
        print(f"{name}: {why}", file=sys.stderr)
    if not wrong:
        print(f"{len(refs)} module{'s' * (len(refs) != 1)} in step")
    return 1 if wrong else 0


def lint(args: Namespace) -> int:
    """Check the rules of module files; errors make the exit code 1, warnings do not."""
    from tito.lint import lint_file

    refs = choose.modules(args.modules, args.all)
    findings = [f for ref in refs for f in lint_file(ref.source)]
    for finding in findings:
        print(finding, file=sys.stderr if finding.is_error else sys.stdout)
    errors = sum(f.is_error for f in findings)
    files = f"{len(refs)} file{'s' * (len(refs) != 1)}"
    print(f"{files}: {errors} errors, {len(findings) - errors} warnings")
    if errors:
        print("next: mend them and call tito lint again")
        return 1
    print(f"next: tito audit {refs[0].name}")
    return 0


def new(args: Namespace) -> int:
    """Make the template of a module, both halves."""
    from tito.template import create

    ref = create(find_course(), args.name)
    here = Path.cwd()
    folder = ref.folder.relative_to(here) if ref.folder.is_relative_to(here) else ref.folder
    print(f"made {folder / ref.py.name} and its notebook")
    print(f"next: write it, then tito lint {ref.name}")
    return 0
