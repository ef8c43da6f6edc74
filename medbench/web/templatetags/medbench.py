"""Filters and tags that every template may use: numbers, times and status as pages.md writes them."""

from __future__ import annotations

import datetime as dt
import math
import zoneinfo
from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html

if TYPE_CHECKING:
    from django.template import Context

register = template.Library()

MINUS = "\u2212"
NARROW_SPACE = "\u202f"


@register.filter
def score(value: float | None) -> str:
    """A score from 0 to 1 with three decimals, or a dash where there is none."""
    if value is None:
        return "–"
    return f"{round(value, 3) or 0.0:.3f}".replace("-", MINUS)  # a rounded −0.000 is 0


@register.filter
def signed(value: float | None) -> str:
    """A difference of ratings with its sign and two decimals, or a dash where there is none."""
    return "–" if value is None else f"{round(value, 2) or 0.0:+.2f}".replace("-", MINUS)


@register.filter
def count(value: int | None) -> str:
    """A whole number with commas, or a dash where there is none."""
    return "–" if value is None else f"{value:,}"


@register.filter
def percent(part: int, whole: int) -> str:
    """`part` of `whole` in percent, one decimal, half up; exact 0 and 100 without decimals."""
    if not whole:
        return "–"
    tenths = (2000 * part + whole) // (2 * whole)
    text = str(tenths // 10) if part in (0, whole) else f"{tenths // 10}.{tenths % 10}"
    return f"{text}{NARROW_SPACE}%"


@register.filter
def share(value: float | None) -> str:
    """A share from 0 to 1 in percent, as `percent` writes it; a dash where there is none."""
    if value is None:
        return "–"
    if value in (0, 1):
        return f"{100 * value:.0f}{NARROW_SPACE}%"
    return f"{math.floor(1000 * value + 0.5) / 10:.1f}{NARROW_SPACE}%"


@register.filter
def lasting(seconds: float | None) -> str:
    """A time as 45 s, 2 min 05 s or 1 h 07 min; a dash where there is none."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{NARROW_SPACE}s"
    if whole < 3600:
        return f"{whole // 60}{NARROW_SPACE}min {whole % 60:02}{NARROW_SPACE}s"
    return f"{whole // 3600}{NARROW_SPACE}h {whole % 3600 // 60:02}{NARROW_SPACE}min"


@register.filter
def bracket(interval: tuple[float, float] | None) -> str:
    """An interval as [0.509, 0.539], or nothing."""
    return f"[{score(interval[0])}, {score(interval[1])}]" if interval else ""


# Why there is no number. An interval that is missing beside its value has a reason, too.
REASONS = {
    "call_failed": "no answer came",
    "constant_input": "one of the two does not vary",
    "disconnected_design": "raters share too few items",
    "fewer_than_2_items": "fewer than two items",
    "fewer_than_2_raters": "one rater only",
    "incomplete": "pairs without a score",
    "level_nominal": "categories have no distances",
    "negative_rating": "ratings below zero",
    "no_bigram": "no two words beside one another",
    "no_image": "no slide to look at",
    "no_json": "an answer of another form",
    "no_judges": "needs judges and voters",
    "no_pair": "no two raters share enough items",
    "no_pairable_units": "no item has two ratings",
    "no_variance": "items do not vary",
    "no_variation": "all ratings are equal",
    "no_voters": "this profile has no voters",
    "not_applicable": "does not apply",
    "not_numeric": "ratings are words",
    "not_reported": "not reported by the submitter",
    "nothing_counted": "nothing was sorted",
    "nothing_unmatched": "every output is matched",
    "order_needed": "the categories have no order",
    "out_of_range": "a score outside 1 to 10",
    "perfect_pair": "a pair agrees perfectly",
    "refused": "refused to answer",
    "too_few_cases": "fewer than 10 cases",
    "too_few_points": "fewer than three points",
    "too_few_shared_items": "fewer than three shared items",
    "too_few_texts": "fewer than two texts",
    "too_many_labels": "more than 50 different ratings",
    "truncated": "an answer cut off",
    "undefined_interval": "no interval by its formula",
    "undefined_resamples": "too many resamples without variation",
    "undetermined_votes": "votes without a majority",
    "unscored": "judge gave no usable answer",
    "unscored_pairs": "pairs without a score",
    "unstable_denominator": "too unstable to compute",
    "unverified": "not audited by experts yet",
}


@register.filter
def reason(code: str) -> str:
    """Why there is no number, in words; an unknown code prints itself."""
    return REASONS.get(code, code)


@register.filter
def utc(moment: dt.datetime | None) -> str:
    """A moment as 2026-11-06 09:12 UTC in a <time> element."""
    if moment is None:
        return "–"
    return format_html(
        '<time datetime="{}">{} UTC</time>', moment.isoformat(), moment.strftime("%Y-%m-%d %H:%M")
    )


@register.simple_tag(takes_context=True)
def deadline(context: Context, moment: dt.datetime | None) -> str:
    """A moment in UTC and, for whoever lives elsewhere, in their own time: (10:12 yours)."""
    zone = getattr(context["request"].user, "time_zone", "UTC")
    if moment is None or zone == "UTC":
        return utc(moment)
    try:
        own = moment.astimezone(zoneinfo.ZoneInfo(zone))
    except zoneinfo.ZoneInfoNotFoundError:  # this machine knows fewer zones than the one it was chosen on
        return utc(moment)
    day = "" if own.date() == moment.astimezone(dt.UTC).date() else f"{own.day} {own:%b} "
    return format_html("{} ({}{} yours)", utc(moment), day, own.strftime("%H:%M"))


_SHAPES = {"ok": "✓", "bad": "✕", "warn": "!", "unsure": "?", "run": "◐", "idle": "○"}


@register.simple_tag
def status(kind: str, word: str) -> str:
    """A status: shape and word first, colour third. `kind`: ok, bad, warn, unsure, run, idle."""
    return format_html(
        '<span class="status status-{}"><span class="status-shape" aria-hidden="true">{}</span> {}</span>',
        kind,
        _SHAPES[kind],
        word,
    )
