"""Numbers and times as every page writes them."""

import datetime as dt
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser

from medbench.web.templatetags import medbench as filters

MOMENT = dt.datetime(2026, 11, 30, 23, 59, tzinfo=dt.UTC)
IN_UTC = '<time datetime="2026-11-30T23:59:00+00:00">2026-11-30 23:59 UTC</time>'


@pytest.mark.parametrize(
    ("value", "text"), [(0.5244, "0.524"), (0, "0.000"), (1, "1.000"), (-0.03, "\u22120.030"), (None, "–")]
)
def test_scores_have_three_decimals_and_a_true_minus(value, text):
    assert filters.score(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (26, 30, "86.7\u202f%"),
        (0, 30, "0\u202f%"),
        (30, 30, "100\u202f%"),
        (1, 2000, "0.1\u202f%"),  # 0.05, half up
        (1999, 2000, "100.0\u202f%"),  # rounded, not exact
        (0, 0, "–"),
    ],
)
def test_percentages_have_one_decimal_rounded_half_up(part, whole, text):
    assert filters.percent(part, whole) == text


def test_counts_have_commas():
    assert [filters.count(3933), filters.count(0), filters.count(None)] == ["3,933", "0", "–"]


def test_moments_are_in_utc_for_machines_and_people():
    assert filters.utc(MOMENT) == IN_UTC
    assert filters.utc(None) == "–"


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", IN_UTC),
        ("Europe/Berlin", f"{IN_UTC} (1 Dec 00:59 yours)"),
        ("America/New_York", f"{IN_UTC} (18:59 yours)"),
        ("Mars/Olympus", IN_UTC),
    ],
)
def test_deadlines_add_ones_own_time(zone, text):
    request = SimpleNamespace(user=SimpleNamespace(time_zone=zone))
    assert filters.deadline({"request": request}, MOMENT) == text


def test_deadlines_of_visitors_and_none_at_all():
    context = {"request": SimpleNamespace(user=AnonymousUser())}
    assert filters.deadline(context, MOMENT) == IN_UTC
    assert filters.deadline(context, None) == "–"


def test_a_status_is_a_shape_and_a_word():
    shape = '<span class="status-shape" aria-hidden="true">✓</span>'
    assert filters.status("ok", "<b>") == f'<span class="status status-ok">{shape} &lt;b&gt;</span>'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.934, "93.4\u202f%"),
        (0.0005, "0.1\u202f%"),
        (0, "0\u202f%"),
        (1.0, "100\u202f%"),
        (0.99999, "100.0\u202f%"),  # rounded, not exact
        (None, "–"),
    ],
)
def test_shares_are_written_as_percent(value, text):
    assert filters.share(value) == text


def test_differences_have_a_sign_and_what_rounds_to_zero_is_zero():
    assert [filters.signed(value) for value in (1.94, -1.944, 0, None)] == [
        "+1.94",
        "\u22121.94",
        "+0.00",
        "–",
    ]
    assert filters.score(-0.0001) == "0.000"


def test_intervals_stand_in_brackets_and_where_there_is_none_nothing_does():
    assert filters.bracket((-0.1, 0.25)) == "[\u22120.100, 0.250]"
    assert filters.bracket(None) == ""


def test_reasons_are_words_and_unknown_ones_print_themselves():
    assert filters.reason("no_variation") == "all ratings are equal"
    assert filters.reason("new_code") == "new_code"
