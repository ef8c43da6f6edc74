"""The item that comes next, shown before it is given out; and what "next" costs at any size."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment
from annotation.services import studies
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, submit_verdict
from tests.annotation.build import FORM, YES, ask, make_cases, make_study
from tests.cases.build import make_triplet
from tests.people import signed_in


def ahead_of(person, assignment):
    return signed_in(person).get(reverse("annotation:ahead", args=[assignment.pk]))


@pytest.fixture
def held(study, bruno):
    return claim_next(study, bruno)


def test_it_shows_the_item_that_is_given_out_next_and_holds_nothing(study, held, bruno):
    shown = ahead_of(bruno, held).content.decode()
    assert Assignment.objects.filter(annotator=bruno, number__isnull=False).get() == held
    address = ask(bruno, held, do="submit", **FORM).json()["next"]
    assert f'action="{address}"' in shown
    page = signed_in(bruno).get(address).content.decode()
    for part in (r"<title>.*</title>", r'<div class="work-place".*?</div>', r"<h1.*?</h1>"):
        assert re.search(part, shown, re.DOTALL)[0] == re.search(part, page, re.DOTALL)[0]


def test_an_item_in_hand_comes_before_a_new_one(study, held, bruno):
    submit_verdict(held, Draft(YES, "", 0))
    second = claim_next(study, bruno)
    assert f"/annotate/{second.pk}/" in ahead_of(bruno, held).content.decode()


def test_at_the_end_there_is_none_nor_in_a_paused_study(study, held, bruno):
    studies.pause_study(study)
    assert ahead_of(bruno, held).status_code == 204
    studies.resume_study(study)
    while (last := claim_next(study, bruno)) is not None:
        held = last
        submit_verdict(held, Draft(YES, "", 0))
    assert ahead_of(bruno, held).status_code == 204


def test_an_item_that_others_fill_is_not_shown(team, ada, bruno, chen):
    study = make_study(make_cases(team, 1, 2), [bruno, chen], ada, per_item=1)
    held = claim_next(study, bruno)
    claim_next(study, chen)
    assert ahead_of(bruno, held).status_code == 204


@pytest.mark.parametrize("what", ["page", "ahead", "submit"])
def test_an_item_costs_the_same_queries_in_a_small_and_a_large_study(team, ada, bruno, chen, what):
    counts, benchmark = [], make_cases(team, 1, 0)
    for keys in (range(2), range(2, 40)):
        for key in keys:
            make_triplet(benchmark.cases.get(), str(key))
        study = make_study(benchmark, [bruno, chen], ada)
        held = claim_next(study, bruno)
        with CaptureQueriesContext(connection) as queries:
            if what == "submit":
                assert ask(bruno, held, do="submit", **FORM).status_code == 200
            else:
                address = reverse(f"annotation:{'item' if what == 'page' else 'ahead'}", args=[held.pk])
                assert signed_in(bruno).get(address).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
