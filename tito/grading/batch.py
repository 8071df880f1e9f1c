"""Many hand-ins against one master: each graded by itself, none can stop the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tito.errors import UserError
from tito.grading.handins import HandIn
from tito.grading.judge import Cancelled, CellResult, Result, Unconfined, check_master, grade
from tito.grading.judge.result import BROKEN, GRADED, MANUAL
from tito.grading.limits import Limits
from tito.notebook import Notebook, Role


@dataclass
class Row:
    """One student and what came out."""

    student: str
    result: Result


@dataclass
class Batch:
    """What every hand-in of a run is graded with.

    package, package_modules : the reference package and the parts of it that lie before
    files : data files of the master
    """

    master: Notebook
    package: Path | None = None
    package_modules: list[str] | None = None
    secret: bytes = b""
    engine: str | None = None
    limits: Limits = field(default_factory=Limits)
    unconfined: bool = False
    timing: bool = False
    files: list[Path] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def run(
        self, handins: Iterable[HandIn], jobs: int, progress: Callable[[Row], None] | None = None
    ) -> list[Row]:
        """A row for each hand-in, in the order given. `progress` hears of each finished one."""
        check_master(self.master)
        handins = list(handins)
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            futures = [pool.submit(self._row, h, progress) for h in handins]
            try:
                return [f.result() for f in futures]
            except BaseException:  # Ctrl-C, or a machine that cannot confine: end the others too
                self._stop.set()
                for future in futures:
                    future.cancel()
                raise

    def _row(self, handin: HandIn, progress: Callable[[Row], None] | None) -> Row:
        row = Row(handin.student, self._result(handin))
        if progress:
            progress(row)
        return row

    def _result(self, handin: HandIn) -> Result:
        try:
            result = self._graded(handin)
        except (Unconfined, Cancelled):
            raise
        except UserError as error:
            result = self._not_graded(BROKEN, error.message)
        except Exception as error:  # a mistake of ours costs one row and is named in it
            result = self._not_graded(BROKEN, f"could not be graded: {error!r}")
        result.deviations[:0] = handin.remarks
        return result

    def _graded(self, handin: HandIn) -> Result:
        if handin.status != GRADED or handin.read is None:
            return self._not_graded(handin.status, handin.reason or "nothing to grade")
        return grade(
            self.master,
            handin.read(),
            package=self.package,
            package_modules=self.package_modules,
            secret=self.secret,
            engine=self.engine,
            limits=self.limits,
            unconfined=self.unconfined,
            timing=self.timing,
            files=self.files,
            cancelled=self._stop.is_set,
        )

    def _not_graded(self, status: str, reason: str) -> Result:
        """Zero for every cell, with the reason; what people grade stays theirs."""
        name = self.master.path.stem if self.master.path else ""
        result = Result(status=status, module=name, reason=reason)
        for cell in self.master.cells:
            most = cell.points or Fraction(0)
            if cell.manual:
                result.cells.append(CellResult(cell.grade_id, MANUAL, most))
            elif cell.role is Role.TEST:
                result.cells.append(CellResult(cell.grade_id, "missing", most, Fraction(0), reason))
        return result
