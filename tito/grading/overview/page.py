"""The overview as one HTML page: plots inside, no script, nothing loaded from anywhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from tito.grading.overview import plots
from tito.grading.overview.gather import Overview
from tito.grading.overview.similar import LEAST
from tito.grading.pages import template
from tito.grading.wording import counted, times


def page(found: Overview) -> str:
    """The HTML of the page. What students wrote is escaped, whatever it is."""
    from markupsafe import Markup

    pictures = {
        "points": plots.histogram(found.points, found.max_points) if found.points else "",
        "questions": plots.pass_rates(found.questions) if found.points else "",
        "likeness": plots.likenesses(found.likeness.counts) if found.likeness.compared else "",
    }
    return str(
        _template().render(
            found=found,
            counted=counted,
            times=times,
            least=LEAST,
            middle=median(found.points) if found.points else None,
            pictures={name: Markup(svg) for name, svg in pictures.items()},
            speeds=[(q, Markup(plots.speeds(q))) for q in found.questions if q.ratios],
        )
    )


@cache
def _template() -> Any:
    return template(Path(__file__).parent)
