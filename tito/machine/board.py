"""The scoreboard: rungs measured in turn, each beside what this machine could do at most."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tito.machine.hardware import Facts, facts
from tito.machine.instructions import instruction_set
from tito.machine.measuring import ROUNDS, Measured, measure
from tito.machine.pinning import hidden_core
from tito.machine.roofs import Peaks, peaks
from tito.machine.rung import Rung
from tito.machine.timer import seconds_text

WIDTH = 100
NAME_WIDTH = 34
# A first call is told of when it took so many seconds, and so many times the others: by the clock
# on the wall, so that less than this may be another program's turn.
SLOW_FIRST_CALL, TIMES_THE_OTHERS = 0.1, 10
# So much CPU time of other threads, against this one's, is no longer the interpreter's own.
ELSEWHERE = 0.25


@dataclass(frozen=True)
class Row:
    """One line of the scoreboard; None for what is not known.

    seconds    : of one call, the median of the rounds
    spread     : the middle four fifths of the rounds, as a share of their median
    rate       : work in a second, in `unit`; 1 is one FLOP, byte or operation
    share      : of this machine's peak (FLOP) or bandwidth (bytes); 0.5 is half of it
    roof       : that peak or bandwidth, per second
    roof_name  : "float32", "L2", "memory", ...
    times      : as fast as the baseline; `band` are the 10th and 90th percentile of the rounds
    first_call : seconds by the clock on the wall; it may compile or load something
    checked    : whether the result was compared with anything
    elsewhere  : CPU time of other threads / of this one, which alone is in `seconds`
    left_out   : why there is no time
    """

    name: str
    seconds: float | None = None
    spread: float | None = None
    rate: float | None = None
    unit: str = ""
    share: float | None = None
    roof: float | None = None
    roof_name: str = ""
    times: float | None = None
    band: tuple[float, float] | None = None
    first_call: float | None = None
    checked: bool = True
    elsewhere: float = 0.0
    left_out: str | None = None

    @property
    def above_roof(self) -> bool:
        """Whether the share shows as more than 100 %: some number in it is wrong."""
        return self.share is not None and round(self.share, 2) > 1

    @property
    def compiled(self) -> bool:
        """Whether the first call did something that the others did not."""
        if self.first_call is None or self.seconds is None:
            return False
        return self.first_call > max(SLOW_FIRST_CALL, TIMES_THE_OTHERS * self.seconds)


@dataclass(frozen=True)
class Scoreboard:
    """What `scoreboard` returns; its text is the table.

    baseline : name of the rung that `times` refers to
    hidden   : the better core type that OPENBLAS_CORETYPE hides, if any
    no_peaks : why no share of a peak is known, if it is not
    """

    rows: tuple[Row, ...]
    machine: Facts
    rounds: int
    baseline: str | None = None
    hidden: str | None = None
    no_peaks: str | None = None

    def __getitem__(self, name: str) -> Row:
        """The row of the rung with this name."""
        found = [row for row in self.rows if row.name == name]
        if not found:
            raise KeyError(name)
        return found[0]

    def __str__(self) -> str:
        notes = [*self._notes(), *self._machine_lines()]
        wrapped = [line for note in notes for line in textwrap.wrap(note, WIDTH)]
        return "\n".join([*self._table(), "", *wrapped])

    __repr__ = __str__

    def _table(self) -> list[str]:
        columns = list(self._columns())
        heads = [head for head, _ in columns]
        cells = {row.name: [show(row) for _, show in columns] for row in self._timed()}
        widths = [max(map(len, column)) for column in zip(heads, *cells.values(), strict=True)]
        first = max(len("rung"), *(len(shortened(row.name)) for row in self.rows), 0)
        lines = [_line("rung".ljust(first), heads, widths)]
        for row in self.rows:
            name = shortened(row.name).ljust(first)
            if row.left_out:
                lines += textwrap.wrap(
                    f"{name}  left out: {row.left_out}", WIDTH, subsequent_indent=" " * (first + 2)
                )
            else:
                lines.append(_line(name, cells[row.name], widths))
        return lines

    def _columns(self) -> Iterator[tuple[str, Callable[[Row], str]]]:
        """(head, what stands under it)"""
        yield "time", lambda row: seconds_text(row.seconds)
        yield "spread", lambda row: share_text(row.spread)
        yield "rate", lambda row: rate_text(row.rate, row.unit)
        yield "of peak", lambda row: share_text(row.share) + ("!" if row.above_roof else "")
        if self.baseline is not None:
            yield "x baseline", lambda row: times_text(row, self.baseline)

    def _timed(self) -> list[Row]:
        return [row for row in self.rows if not row.left_out]

    def _notes(self) -> Iterator[str]:
        """What has to be known to read the table."""
        if roofs := _roofs_text(self._timed()):
            yield f"100 % of peak, measured on one core of this machine: {roofs}."
        if self.baseline is not None:
            yield (
                f"x baseline: times as fast as {self.baseline}, and the middle four fifths of "
                f"{self.rounds} rounds."
            )
        if slow := [row for row in self._timed() if row.compiled]:
            each = ", ".join(f"{row.name} {seconds_text(row.first_call or 0)}" for row in slow)
            yield f"First call, not in the table (it compiles or loads): {each}."
        if above := [row.name for row in self._timed() if row.above_roof]:
            yield f"! above the roof: wrong count or wrong roof ({', '.join(above)})."
        if threaded := [row.name for row in self._timed() if row.elsewhere > ELSEWHERE]:
            yield f"Also worked on other threads, whose time is not seen: {', '.join(threaded)}."
        if unchecked := [row.name for row in self._timed() if not row.checked]:
            yield f"Result not compared with anything: {', '.join(unchecked)}."
        if self.no_peaks:
            yield f"{self.no_peaks[0].upper()}{self.no_peaks[1:]}."
        if self.hidden:
            yield (
                f"OPENBLAS_CORETYPE hides the best kernels of this machine's BLAS ({self.hidden}):"
                " unset it and start Python again for a fair comparison with NumPy."
            )

    def _machine_lines(self) -> Iterator[str]:
        known = self.machine
        yield (
            f"{known.cpu or 'unknown CPU'}; instruction set {instruction_set()}; one thread, "
            f"CPU time, {self.rounds} rounds"
        )
        core = f", core type {known.blas_core}" if known.blas_core else ""
        yield f"NumPy {known.numpy or 'unknown'} with BLAS {known.blas or 'unknown'}{core}"


def scoreboard(
    rungs: Sequence[Rung], *, baseline: str | None = None, rounds: int = ROUNDS
) -> Scoreboard:
    """Check the rungs, time those that are right in turns, and set each beside the machine's peak.

    baseline : name of the rung that "times as fast" refers to; without it the column is left out

    >>> board = scoreboard([Rung("sort", sorted, ([3, 1, 2],)), Rung("lazy", reversed, ([1],))])
    >>> board["lazy"].left_out
    'returns a list_reverseiterator, which does its work later'
    """
    rungs = list(rungs)
    measured = measure(rungs, baseline=baseline, rounds=rounds)
    # Two seconds that only a share is worth.
    shares = [item for item in measured if item.samples and (item.rung.flops or item.rung.nbytes)]
    roofs = peaks() if shares else Peaks()
    return Scoreboard(
        rows=tuple(row_of(item, roofs) for item in measured),
        machine=facts(),
        rounds=rounds,
        baseline=baseline,
        hidden=hidden_core(),
        no_peaks=roofs.missing,
    )


def row_of(measured: Measured, roofs: Peaks) -> Row:
    """The line of one rung."""
    rung, seconds = measured.rung, measured.seconds
    if seconds is None:
        return Row(rung.name, left_out=measured.left_out)
    work, unit = _work(rung)
    roof, roof_name = _roof(measured, roofs)
    return Row(
        name=rung.name,
        seconds=seconds,
        spread=measured.spread,
        rate=work / seconds if work else None,
        unit=unit,
        share=work / seconds / roof if work and roof else None,
        roof=roof,
        roof_name=roof_name,
        times=measured.ratio,
        band=measured.band,
        first_call=measured.first_call,
        checked=rung.check is not None,
        elsewhere=measured.elsewhere,
    )


def _work(rung: Rung) -> tuple[float, str]:
    """(amount of one call, unit of its rate)"""
    if rung.flops:
        return rung.flops, "GFLOP/s"
    return (rung.nbytes, "GB/s") if rung.nbytes else (rung.operations or 0, "Gop/s")


def _roof(measured: Measured, roofs: Peaks) -> tuple[float | None, str]:
    """(what this machine does of such work in a second at most, its name)"""
    rung = measured.rung
    if rung.flops:
        return (roofs.flops(rung.dtype), rung.dtype.name) if rung.dtype else (None, "")
    if not rung.nbytes:
        return None, ""
    touched = measured.footprint or rung.nbytes
    return roofs.bandwidth_for(touched), roofs.level_for(touched) or ""


def _roofs_text(rows: list[Row]) -> str:
    """Each roof that a share refers to, once."""
    texts = [
        f"{rate_text(row.roof, row.unit)} ({row.roof_name})"
        for row in rows
        if row.share is not None
    ]
    return ", ".join(dict.fromkeys(texts))


def rate_text(rate: float | None, unit: str) -> str:
    """A rate in units of 1e9 with three digits.

    >>> rate_text(1.234e11, "GB/s"), rate_text(7.1e6, "GFLOP/s"), rate_text(None, "")
    ('123 GB/s', '0.0071 GFLOP/s', '')
    """
    return f"{number_text(rate / 1e9, 3)} {unit}" if rate else ""


def share_text(share: float | None) -> str:
    """A share in per cent.

    >>> share_text(0.957), share_text(0.0123), share_text(0.0000512), share_text(1.3)
    ('96 %', '1.2 %', '0.0051 %', '130 %')
    """
    if share is None:
        return ""
    return f"{100 * share:,.0f} %" if share >= 0.1 else f"{number_text(100 * share, 2)} %"


def times_text(row: Row, baseline: str | None = None) -> str:
    """The ratio to the baseline and its band.

    >>> times_text(Row("a", times=3.14159, band=(3.1, 3.2)))
    '3.14 (3.1 to 3.2)'
    """
    if row.times is None or row.band is None:
        return ""
    if row.name == baseline:
        return "1"
    low, high = (number_text(end, 3) for end in row.band)
    return f"{number_text(row.times, 3)} ({low} to {high})"


def number_text(value: float, digits: int) -> str:
    """So many significant digits, without powers of ten.

    >>> number_text(1234567.0, 3), number_text(0.0000123, 2), number_text(2.0, 3)
    ('1,230,000', '0.000012', '2')
    """
    rounded = float(f"{value:.{digits}g}")
    if abs(rounded) >= 1000:
        return f"{rounded:,.0f}"
    text = f"{rounded:.{digits}g}"
    return f"{rounded:.15f}".rstrip("0") if "e" in text else text


def shortened(name: str) -> str:
    """A name that leaves room for the columns."""
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 3] + "..."


def _line(name: str, cells: list[str], widths: list[int]) -> str:
    parts = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([name, *parts]).rstrip()
