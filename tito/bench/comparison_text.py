"""A comparison of two reports, as people and as programs read it."""

from __future__ import annotations

import json

from tito.bench.compare import FASTER, LEAST_PEERS, SAME, SLOWER, UNCLEAR, Change, Comparison, Key
from tito.machine.timer import seconds_text

_MARKS = {FASTER: "+", SLOWER: "-", UNCLEAR: "?", SAME: " "}


def text(found: Comparison, first: str, second: str) -> str:
    """The table of changes, and below it what they stand on.

    first, second : what the two reports are called, as the user named their files
    """
    parts = [_differences(found, first, second), _table(found), _only(found, first, second)]
    return "\n\n".join(part for part in [*parts, _verdict(found, second)] if part)


def _differences(found: Comparison, first: str, second: str) -> str:
    if not found.differences:
        return ""
    lines = [f"  {name:10s} {_short(a)} -> {_short(b)}" for name, a, b in found.differences]
    head = f"not measured alike ({first} -> {second}), so a change need not be the code's:"
    return "\n".join([head, *lines])


def _short(value: object) -> str:
    words = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return words if len(words) <= 50 else words[:47] + "..."


def _table(found: Comparison) -> str:
    if not found.changes:
        return "no rung was timed in both"
    names = [_name(change.key) for change in found.changes]
    wide = max(map(len, names))
    lines = [f"  {'':{wide}s}     before      after   times as fast"]
    for name, change in zip(names, found.changes):
        before, after = (f"{seconds_text(s):>9s}" for s in change.seconds)
        ratio = f"{change.ratio:6.2f} ({change.low:.2f}-{change.high:.2f})"
        word = "peer" if change.is_peer else change.verdict
        lines.append(f"{_mark(change)} {name:{wide}s}  {before}  {after}   {ratio:20s} {word}")
    return "\n".join(lines)


def _mark(change: Change) -> str:
    return " " if change.is_peer else _MARKS[change.verdict]


def _name(key: Key) -> str:
    return " ".join(key)


def _only(found: Comparison, first: str, second: str) -> str:
    lines = [
        f"  {_name(key)}: only in {here}; in {there}: {why}"
        for here, there, rows in ((first, second, found.only[0]), (second, first, found.only[1]))
        for key, why in rows
    ]
    return "\n".join(lines)


def _verdict(found: Comparison, second: str) -> str:
    counts = {v: len(found.those(v)) for v in (FASTER, SLOWER, SAME, UNCLEAR)}
    words = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n) or "nothing"
    if found.floor is None:
        basis = (
            f"with fewer than {LEAST_PEERS} peers in both there is no telling how much of a change "
            "is the machine's: measure both with --peers numpy"
        )
    else:
        basis = (
            f"noise: the peers took {found.drift:.2f} times as long, which is divided out, and "
            f"differed from that by up to {found.floor - 1:.0%}; smaller changes count as same"
        )
    return f"{second}: {words}\n{basis}"


def to_json(found: Comparison) -> str:
    """The same for programs, version 1."""
    document = {
        "version": 1,
        "drift": found.drift,
        "floor": found.floor,
        "differences": [dict(zip(("what", "before", "after"), d)) for d in found.differences],
        "changes": [
            {
                **dict(zip(("workload", "size", "rung"), change.key)),
                "before_s": change.seconds[0],
                "after_s": change.seconds[1],
                "ratio": {"low": change.low, "median": change.ratio, "high": change.high},
                "verdict": change.verdict,
                "peer": change.is_peer,
            }
            for change in found.changes
        ],
        "only_before": [[*key, why] for key, why in found.only[0]],
        "only_after": [[*key, why] for key, why in found.only[1]],
    }
    return json.dumps(document, indent=1) + "\n"
