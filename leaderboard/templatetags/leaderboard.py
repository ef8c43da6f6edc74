"""How boards and submissions write intervals, reasons and heat cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html

from leaderboard import permissions
from leaderboard.standings import n_answered
from medbench.web.templatetags.medbench import MINUS, NARROW_SPACE, reason, score

if TYPE_CHECKING:
    from django.template import Context

    from leaderboard.bars import Axis, Bar
    from leaderboard.models import Evaluation, Floor, Submission

register = template.Library()


@register.filter
def megabytes(n_bytes: int) -> str:
    """A size in MB of 10⁶ bytes, as 20 MB or 1.8 MB."""
    return f"{n_bytes / 1e6:.3g}{NARROW_SPACE}MB"


@register.simple_tag(takes_context=True)
def submitter(context: Context, submission: Submission) -> str:
    """Who submitted it, as the reader of the page may know."""
    return permissions.submitter(context["request"].user, submission)


USAGE = {
    "api_calls": "calls",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "seconds": "seconds",
}


@register.simple_tag
def usage(submission: Submission) -> str:
    """The sums over all cases that report them, and how many do."""
    sums = submission.usage or {}
    known = [(word, sums[field], sums["cases"][field]) for field, word in USAGE.items() if sums.get(field)]
    return " · ".join(f"{value:,.0f} {word} in {n:,} case{'s' * (n != 1)}" for word, value, n in known)


@register.filter
def known_score(value: float) -> str:
    """A score, or a dash where a pair is unscored (NaN)."""
    return score(None if math.isnan(value) else value)


@register.filter
def signed_score(value: float | None) -> str:
    """A difference of scores with its sign and three decimals; a dash where one is unscored."""
    if value is None or math.isnan(value):
        return "–"
    return f"{round(value, 3) or 0.0:+.3f}".replace("-", MINUS)


@register.simple_tag
def signed_interval(ends: list[float] | None) -> str:
    """An interval of a difference; a dash where there are too few cases."""
    return f"[{signed_score(ends[0])}, {signed_score(ends[1])}]" if ends else f"– {reason('too_few_cases')}"


BLOCKED = {
    "incomplete": "Incomplete",
    "flagged": "Flagged",
    "mixed_weighting": "Mixed weighting",
}


@register.simple_tag
def blocked(evaluation: Evaluation) -> str:
    """Why a scored entry takes no place."""
    return BLOCKED.get(evaluation.blocked_by, evaluation.blocked_by.replace("_", " "))


@register.simple_tag
def unscored(evaluation: Evaluation) -> str:
    """How many pairs of an incomplete evaluation have no score, and where F1 lies whatever they get."""
    low, high = evaluation.f1_bounds or (0.0, 1.0)
    share = 100 * (1 - (evaluation.coverage or 0.0))
    text = '<span class="nowrap">F1 {} to {}</span><span class="sub">{} % of pairs unscored</span>'
    return format_html(text, f"{low:.3f}", f"{high:.3f}", f"{share:.1f}")


@register.filter
def p_value(value: float) -> str:
    """A p with three decimals, and nothing smaller than what the resamples can tell."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


@register.filter
def interval(row: Evaluation | Floor, name: str) -> str:
    """The 95 % interval of one score of `row` as [0.509, 0.539], or a dash with the reason."""
    if row.ci:
        low, high = row.ci[name]
        return format_html('<span class="nowrap">[{}, {}]</span>', f"{low:.3f}", f"{high:.3f}")
    return format_html('<span class="muted nowrap">– {}</span>', reason(row.ci_reason))


@register.filter
def sub_interval(row: Evaluation | Floor, name: str) -> str:
    """The interval as a second line of a cell; a dash whose reason is in its name and title."""
    if row.ci:
        low, high = row.ci[name]
        return format_html('<span class="sub">[{}, {}]</span>', f"{low:.3f}", f"{high:.3f}")
    if not row.ci_reason:
        return ""
    why = f"no interval: {reason(row.ci_reason)}"
    return format_html('<span class="sub" title="{0}">–<span class="visually-hidden"> {0}</span></span>', why)


@register.simple_tag
def insights_per_case(row: Evaluation | Floor) -> str:
    """Scored insights over all cases, one decimal."""
    if row.n_outputs is None or not row.n_cases:
        return "–"
    return f"{row.n_outputs / row.n_cases:.1f}"


@register.simple_tag
def answered(evaluation: Evaluation) -> str:
    """How many cases the upload answers, of how many."""
    found = n_answered(evaluation)
    return "–" if found is None else f"{found:,} of {evaluation.n_cases:,}"


@register.inclusion_tag("leaderboard/_bar.html")
def interval_bar(axis: Axis, row: Evaluation | Floor) -> dict[str, Bar | None]:
    """F1 and interval of `row` drawn on `axis`; the numbers stand beside it as text."""
    return {"bar": axis.bar(row)}
