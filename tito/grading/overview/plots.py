"""The overview's pictures, as SVG that stands inside a page: colours that colour-blind readers tell
apart, lines and words in a grey that reads on light and on dark."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from tito.grading.overview.questions import Question

_GREY = "#7d7d7d"
_BLUE, _ORANGE, _GREEN = "#56b4e9", "#e69f00", "#009e73"


def histogram(points: Sequence[float], most: float) -> str:
    """How many hand-ins have how many points."""
    bins = max(1, min(20, round(most)))

    def draw(axes: Any) -> None:
        axes.hist(points, bins=bins, range=(0, most or 1), color=_BLUE, edgecolor=_GREY)
        axes.set(xlabel="points", ylabel="hand-ins")
        axes.yaxis.get_major_locator().set_params(integer=True)

    return _svg(draw, f"Histogram of the points of {len(points)} hand-ins, 0 to {most:g}.", 2.6)


def pass_rates(questions: Sequence[Question]) -> str:
    """Full, partial and no points for each question, as shares of the class."""
    rows = [q for q in questions if q.asked][::-1]
    full = [q.passed / q.asked for q in rows]
    part = [q.partial / q.asked for q in rows]

    def draw(axes: Any) -> None:
        names = [q.id for q in rows]
        axes.barh(names, full, color=_GREEN, label="full points")
        axes.barh(names, part, left=full, color=_ORANGE, hatch="//", label="some points")
        axes.set(xlim=(0, 1), xlabel="share of the hand-ins")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    words = ", ".join(f"{q.id} {q.passed / q.asked:.0%}" for q in rows[::-1])
    return _svg(draw, f"Share of the hand-ins with full points: {words}.", 1.1 + 0.24 * len(rows))


def speeds(question: Question) -> str:
    """How many times as fast as the baseline the kernels of a class are."""
    ratios = question.ratios

    def draw(axes: Any) -> None:
        axes.hist(ratios, bins=min(20, max(4, len(ratios) // 3)), color=_BLUE, edgecolor=_GREY)
        axes.set(xlabel="times as fast as the baseline", ylabel="hand-ins")
        axes.yaxis.get_major_locator().set_params(integer=True)

    words = f"{question.id}: {len(ratios)} kernels, {ratios[0]:.3g} to {ratios[-1]:.3g} times."
    return _svg(draw, words, 2.2)


def likenesses(counts: Sequence[int]) -> str:
    """How alike the pairs of a class are; on a log scale, since most pairs share nothing."""

    def draw(axes: Any) -> None:
        width = 1 / len(counts)
        places = [(i + 0.5) * width for i in range(len(counts))]
        axes.bar(places, counts, width, color=_BLUE, edgecolor=_GREY)
        axes.set(xlabel="likeness", ylabel="pairs", xlim=(0, 1), yscale="symlog")

    return _svg(draw, f"Histogram of the likeness of {sum(counts)} pairs of hand-ins.", 2.2)


def _svg(draw: Callable[[Any], None], words: str, height: float) -> str:
    """A figure as an SVG element, with `words` for who cannot see it."""
    import matplotlib
    from markupsafe import escape
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    colours = {key: _GREY for key in ("axes.edgecolor", "axes.labelcolor", "xtick.color")}
    settings = {**colours, "ytick.color": _GREY, "text.color": _GREY, "svg.hashsalt": "tito"}
    with matplotlib.rc_context({**settings, "svg.fonttype": "none", "hatch.color": _GREY}):
        figure = Figure(figsize=(7.2, height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        axes = figure.subplots()
        axes.patch.set_alpha(0)
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)
