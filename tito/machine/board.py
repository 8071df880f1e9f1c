"""The scoreboard: rungs measured in turn, each beside what this machine could do at most."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tito.machine.hardware import Facts, facts
from tito.machine.instructions import instruction_set
from tito.machine.measure import ROUNDS, Measured, measure
from tito.machine.peaks import Peaks, peaks
from tito.machine.pinning import hidden_core
from tito.machine.rung import Rung
from tito.machine.timer import seconds_text

WIDTH = 100
SLOW_FIRST_CALL = 0.01  # s; and ten times the others: it compiled something
_CLOCK = "CPU time of one thread"


@dataclass(frozen=True)
class Row:
    """One line of the scoreboard; None for what is not known.

    seconds  : of one call, the median of the rounds
    spread   : (90th - 10th percentile) / median
    rate     : work in a second, in `unit`
    share    : of this machine's peak (FLOP) or bandwidth (bytes); 0.5 is half of it
    roof     : the peak itself, per second
    times    : as fast as the baseline, with the 10th and 90th percentile of the rounds
    left_out : why there is no time
    """

    name: str
    seconds: float | None = None
    spread: float | None = None
    rate: float | None = None
    unit: str = ""
    share: float | None = None
    roof: float | None = None
    times: float | None = None
    band: tuple[float, float] | None = None
    first_call: float | None = None
    checked: bool = True
    left_out: str | None = None

    @property
    def above_roof(self) -> bool:
        """Whether the share shows as more than 100 %: some number in it is wrong."""
        return self.share is not None and round(self.share, 2) > 1


@dataclass(frozen=True)
class Scoreboard:
    """What `scoreboard` returns; its text is the table."""

    rows: tuple[Row, ...]
    machine: Facts
    rounds: int
    baseline: str | None = None
    hidden: str | None = None
    no_peaks: str | None = None

    def __getitem__(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def __str__(self) -> str:
        return "\n".join([*self._table(), "", *self._notes(), *self._machine_lines()])

    __repr__ = __str__

    def _columns(self) -> list[tuple[str, Callable[[Row], str]]]:
        columns: list[tuple[str, Callable[[Row], str]]] = [
            ("time", lambda row: seconds_text(row.seconds)),
            ("spread", lambda row: f"{row.spread:.0%}"),
            ("rate", lambda row: rate_text(row.rate, row.unit)),
            ("of peak", lambda row: share_text(row.share) + ("!" if row.above_roof else "")),
        ]
        if self.baseline is not None:
            columns.append((f"x {self.baseline}"[:28], lambda row: times_text(row)))
        return columns

    def _table(self) -> list[str]:
        columns = self._columns()
        heads = [head for head, _ in columns]
        cells = {r.name: [show(r) for _, show in columns] for r in self.rows if not r.left_out}
        widths = [max(map(len, column)) for column in zip(heads, *cells.values(), strict=True)]
        name_width = max([len("rung"), *(len(row.name) for row in self.rows)])
        lines = [_line("rung", name_width, heads, widths)]
        for row in self.rows:
            if row.left_out:
                lines.append(f"{row.name:<{name_width}}  left out: {row.left_out}")
            else:
                lines.append(_line(row.name, name_width, cells[row.name], widths))
        return lines

    def _notes(self) -> list[str]:
        notes = []
        slow = [r for r in self.rows if r.first_call and r.first_call > SLOW_FIRST_CALL]
        slow = [f"{r.name} {seconds_text(r.first_call)}" for r in slow if _compiled(r)]
        if slow:
            notes.append(f"First call, not in the table (it compiles): {', '.join(slow)}.")
        above = [row.name for row in self.rows if row.above_roof]
        if above:
            notes.append(f"! above the roof: wrong count or wrong roof ({', '.join(above)}).")
        unchecked = [row.name for row in self.rows if not row.checked and not row.left_out]
        if unchecked:
            notes.append(f"Result not checked: {', '.join(unchecked)}.")
        if self.no_peaks:
            notes.append(f"{self.no_peaks[0].upper()}{self.no_peaks[1:]}.")
        if self.hidden:
            notes.append(
                f"OPENBLAS_CORETYPE hides this machine's best BLAS kernels ({self.hidden}): "
                "unset it and start Python again for a fair comparison with NumPy."
            )
        return [line for note in notes for line in textwrap.wrap(note, WIDTH)]

    def _machine_lines(self) -> list[str]:
        core = self.machine.blas_core
        parts = [
            self.machine.cpu or "unknown CPU",
            instruction_set(),
            f"{self.machine.blas or 'unknown BLAS'}{f' ({core})' if core else ''}",
            f"{_CLOCK}, {self.rounds} rounds",
        ]
        return textwrap.wrap("; ".join(parts), WIDTH)


def scoreboard(
    rungs: Sequence[Rung], *, baseline: str | None = None, rounds: int = ROUNDS
) -> Scoreboard:
    """Check the rungs, time those that are right in turns, and set each beside the machine's peak.

    baseline : name of the rung that "times as fast" refers to; without it the column is left out
    """
    rungs = list(rungs)
    measured = measure(rungs, baseline=baseline, rounds=rounds)
    roofs = peaks() if any(item.seconds for item in measured) else Peaks()
    return Scoreboard(
        rows=tuple(row(item, roofs) for item in measured),
        machine=facts(),
        rounds=rounds,
        baseline=baseline,
        hidden=hidden_core(),
        no_peaks=roofs.missing,
    )


def row(measured: Measured, roofs: Peaks) -> Row:
    """The line of one rung."""
    rung = measured.rung
    if measured.left_out or measured.seconds is None:
        return Row(rung.name, left_out=measured.left_out or "no window was run")
    work, unit, roof = _work(measured, roofs)
    rate = work / measured.seconds if work else None
    return Row(
        name=rung.name,
        seconds=measured.seconds,
        spread=measured.spread,
        rate=rate,
        unit=unit,
        share=rate / roof if rate and roof else None,
        roof=roof,
        times=measured.ratio,
        band=measured.band,
        first_call=measured.first_call,
        checked=rung.check is not None,
    )


def _work(measured: Measured, roofs: Peaks) -> tuple[float, str, float | None]:
    """(amount, unit, what this machine does of it in a second at most)."""
    rung = measured.rung
    if rung.flops:
        return rung.flops, "GFLOP/s", roofs.flops(rung.dtype) if rung.dtype else None
    if rung.nbytes:
        return rung.nbytes, "GB/s", roofs.bandwidth_for(measured.footprint or rung.nbytes)
    return rung.operations or 0, "Gop/s", None


def rate_text(rate: float | None, unit: str) -> str:
    """A rate in units of 1e9 with three digits.

    >>> rate_text(1.234e11, "GB/s"), rate_text(7.1e6, "GFLOP/s"), rate_text(None, "")
    ('123 GB/s', '0.0071 GFLOP/s', '')
    """
    return f"{_digits(rate / 1e9, 3)} {unit}" if rate else ""


def share_text(share: float | None) -> str:
    """A share in per cent.

    >>> share_text(0.957), share_text(0.0123), share_text(0.0000512), share_text(1.3)
    ('96 %', '1.2 %', '0.0051 %', '130 %')
    """
    if share is None:
        return ""
    return f"{share:.0%}".replace("%", " %") if share >= 0.1 else f"{_digits(100 * share, 2)} %"


def times_text(row: Row) -> str:
    """The ratio to the baseline and its band.

    >>> times_text(Row("a", times=3.14159, band=(3.1, 3.2)))
    '3.14 (3.1 to 3.2)'
    """
    if row.times is None or row.band is None:
        return ""
    low, high = row.band
    return f"{_digits(row.times, 3)} ({_digits(low, 3)} to {_digits(high, 3)})"


def _digits(value: float, digits: int) -> str:
    """So many significant digits, never in powers of ten."""
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if float(text) >= 1000 else _plain(text)


def _plain(text: str) -> str:
    return f"{float(text):.12f}".rstrip("0").rstrip(".") if "e" in text else text


def _line(name: str, name_width: int, cells: list[str], widths: list[int]) -> str:
    parts = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([f"{name:<{name_width}}", *parts]).rstrip()


def _compiled(row: Row) -> bool:
    return bool(row.first_call and row.seconds and row.first_call > 10 * row.seconds)
