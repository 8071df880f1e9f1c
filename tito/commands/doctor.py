"""`tito doctor`: is everything here as it should be, and if not, what to mend."""

from __future__ import annotations

import json
from argparse import Namespace

from tito.commands import checkup
from tito.commands.deliver import deliver


def doctor(args: Namespace) -> int:
    """Print the findings; 1 where something is wrong."""
    findings = checkup.examine()
    wrong = [f for f in findings if f.state == checkup.WRONG]
    if args.json is not None:
        _write_json(findings, args.json)
    if args.json != "-":
        for line in _lines(findings):
            print(line)
        print(_next(wrong, findings))
    return 1 if wrong else 0


def _lines(findings: list[checkup.Finding]) -> list[str]:
    width = max(len(f.name) for f in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.state:<5}  {finding.name:<{width}}  {finding.text}")
        if finding.cure:
            lines.append(f"{'':<5}  {'':<{width}}  try: {finding.cure}")
    return lines


def _next(wrong: list[checkup.Finding], findings: list[checkup.Finding]) -> str:
    if wrong:
        return f"next: mend {wrong[0].name} as said above, then call tito doctor again"
    return "next: tito start"


def _write_json(findings: list[checkup.Finding], target: str) -> None:
    document = {
        "version": 1,
        "ok": all(f.state != checkup.WRONG for f in findings),
        "findings": [f.to_json() for f in findings],
    }
    deliver(target, json.dumps(document, indent=1) + "\n")
