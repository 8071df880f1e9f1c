"""The table of lessons: plain ASCII, the ratios first, then what each is and why its band."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tito.bench.lessons.lesson import Band, Outcome
from tito.bench.results import Machine
from tito.bench.table import NARROWEST, WIDEST, machine_line, wrapped

HEADS = ("ratio", "spread", "lowest", "highest", "band", "holds")

Found = Mapping[str, Sequence[Outcome]]


def text(found: Found, machine: Machine, width: int = 110) -> str:
    """A table for each set, then the machine's line and what the columns mean."""
    width = min(max(width, NARROWEST), WIDEST)
    parts = [part for name, outcomes in found.items() for part in _set(name, outcomes, width)]
    return "\n\n".join([*parts, wrapped(machine_line(machine), width), wrapped(_legend(), width)])


def _set(name: str, outcomes: Sequence[Outcome], width: int) -> Iterator[str]:
    """The table of one set, and what stands below it."""
    rows = [(outcome.lesson.name, _cells(outcome)) for outcome in outcomes if outcome.measured]
    widths = [max(map(len, column)) for column in zip(HEADS, *(cells for _, cells in rows))]
    first = max(len(outcome.lesson.name) for outcome in outcomes)
    lines = [_line(name, HEADS, first + 2, widths)]
    lines += [_line(f"  {row}", cells, first + 2, widths) for row, cells in rows]
    for outcome in outcomes:
        if not outcome.measured:
            said = f"  {outcome.lesson.name:<{first}}  left out: {outcome.lesson.left_out}"
            lines.append(wrapped(said, width))
    yield "\n".join(lines)
    yield "\n".join(wrapped(f"  {line}", width) for line in _explained(outcomes))


def _cells(outcome: Outcome) -> tuple[str, ...]:
    band = outcome.lesson.band
    return (
        _number(outcome.median),
        f"{outcome.spread:.0%}",
        _number(min(outcome.ratios)),
        _number(max(outcome.ratios)),
        str(band),
        "NO" if outcome.outside else "yes",
    )


def _line(name: str, cells: Sequence[str], first: int, widths: Sequence[int]) -> str:
    return "  ".join([f"{name:<{first}}", *(f"{c:>{w}}" for c, w in zip(cells, widths))])


def _number(value: float) -> str:
    """Four digits, and no power of ten for large numbers."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def _explained(outcomes: Sequence[Outcome]) -> list[str]:
    """What is compared and why its band: once for lessons of which both are the same."""
    names: dict[tuple[str, Band], list[str]] = {}
    for outcome in outcomes:
        lesson = outcome.lesson
        names.setdefault((lesson.compared, lesson.band), []).append(lesson.name)
    return [
        f"{'; '.join(who)}: {compared}. Band: {band}, for {band.why}."
        for (compared, band), who in names.items()
    ]


def _legend() -> str:
    return (
        "ratio: the median of the repeats. spread: the distance of their 10th and 90th percentile,"
        " over the median. Each repeat has to lie in the band. All lessons take turns, each time"
        " with new arrays; a repeat in jit is the median of several measurements that lie as"
        " far apart as the whole run is long. Times are CPU time of the thread;"
        " both sides of a ratio take turns. What is counted is exact and needs no clock."
    )


def broken(found: Found) -> list[str]:
    """A sentence for each lesson that left its band."""
    return [
        f"{name}: {outcome.lesson.name} left its band ({outcome.lesson.band}): "
        + ", ".join(map(_number, outcome.outside))
        for name, outcomes in found.items()
        for outcome in outcomes
        if outcome.outside
    ]
