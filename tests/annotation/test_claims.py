"""Who is given which item: exactly as many people as it needs, whatever happens at once."""

import contextlib
import datetime as dt
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation import queries
from annotation.models import Assignment, Study
from annotation.services import assignments, studies, verdicts
from annotation.services.assignments import claim_next, skip, take
from medbench.accounts.permissions import Role
from medbench.errors import Conflict
from tests.annotation.build import YES, make_cases, make_study
from tests.people import join, make_annotator

State = Assignment.State


def submit(assignment):
    verdicts.submit_verdict(assignment, verdicts.Draft(YES, "", 0))


def finish(study, person):
    """Answer everything that `person` is given; answers the positions in the study."""
    done = []
    while (held := claim_next(study, person)) is not None:
        submit(held)
        done.append(held.study_item.position)
    return done


def mine(study, person):
    return queries.work_of(person, Study.objects.filter(pk=study.pk))[0]


def test_one_is_given_the_same_item_until_it_is_submitted(study, bruno):
    first = claim_next(study, bruno)
    assert claim_next(study, bruno) == first
    submit(first)
    second = claim_next(study, bruno)
    assert second != first
    assert (first.number, second.number) == (1, 2)


def test_items_come_in_ones_own_order(study, bruno):
    order = Assignment.objects.filter(annotator=bruno).order_by("position")
    assert finish(study, bruno) == [row.study_item.position for row in order.select_related("study_item")]


def test_all_are_done_when_each_item_has_its_verdicts(study, bruno, chen):
    assert sorted(finish(study, bruno)) == sorted(finish(study, chen)) == [1, 2, 3, 4]
    assert claim_next(study, bruno) is None


def test_with_one_verdict_wanted_nobody_repeats_another(benchmark, bruno, chen, ada):
    study = make_study(benchmark, [bruno, chen], ada, per_item=1)
    first = claim_next(study, bruno)
    others = finish(study, chen)
    assert first.study_item.position not in others
    assert len(others) == 3


def test_a_skipped_item_goes_to_somebody_else(benchmark, bruno, chen, ada):
    study = make_study(benchmark, [bruno, chen], ada, per_item=1)
    skipped = skip(claim_next(study, bruno), "Not my field")
    assert (skipped.state, skipped.skip_reason) == (State.SKIPPED, "Not my field")
    assert skipped.study_item.position not in finish(study, bruno)
    assert finish(study, chen) == [skipped.study_item.position]
    assert take(skipped) is None


def test_a_skipped_item_can_be_taken_up_again_while_it_needs_somebody(study, bruno):
    skipped = skip(claim_next(study, bruno))
    again = take(skipped)
    assert (again.state, again.number) == (State.HELD, 1)
    submit(again)
    again.refresh_from_db()
    assert (again.state, again.skip_reason) == (State.SUBMITTED, "")


def test_a_submitted_item_cannot_be_skipped(study, bruno):
    held = claim_next(study, bruno)
    submit(held)
    with pytest.raises(Conflict):
        skip(held)


def test_a_hold_that_ran_out_goes_to_whoever_needs_it(benchmark, bruno, chen, ada):
    study = make_study(benchmark, [bruno, chen], ada, per_item=1)
    held = claim_next(study, bruno)
    assert len(finish(study, chen)) == 3
    assert claim_next(study, chen) is None
    with time_machine.travel(timezone.now() + assignments.HOLD + dt.timedelta(minutes=1)):
        assert finish(study, chen) == [held.study_item.position]
        assert claim_next(study, bruno) is None
    held.refresh_from_db()
    assert held.state == State.RELEASED


def test_a_released_item_comes_back_when_its_new_holder_skips_it(benchmark, bruno, chen, ada):
    study = make_study(benchmark, [bruno, chen], ada, per_item=1)
    held = claim_next(study, bruno)
    with time_machine.travel(timezone.now() + assignments.HOLD + dt.timedelta(minutes=1)):
        other = take(Assignment.objects.get(study_item=held.study_item, annotator=chen))
        skip(other)
        assert claim_next(study, bruno) == held


def test_the_database_itself_refuses_a_second_person_on_a_seat(study, bruno, chen):
    held = claim_next(study, bruno)
    other = Assignment.objects.get(study_item=held.study_item, annotator=chen)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(pk=other.pk).update(seat=held.seat, state=State.HELD)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(pk=other.pk).update(state=State.SUBMITTED)


def test_ones_part_is_a_fair_share_that_never_falls_below_what_was_done(team, bruno, chen, dara, ada):
    join(team, dara, Role.ANNOTATOR)
    study = make_study(make_cases(team, 3, 2), [bruno, chen, dara], ada)  # 6 items x 2 = 12 verdicts
    assert (mine(study, bruno).total, mine(study, bruno).waiting) == (4, 4)
    for number in range(1, 7):
        held = claim_next(study, bruno)
        assert mine(study, bruno).total == max(4, number)
        submit(held)
    work = mine(study, bruno)
    assert (work.done, work.total, work.waiting, work.open) == (6, 6, 0, 0)
    finish(study, chen)
    assert (mine(study, dara).total, mine(study, dara).waiting) == (0, 0)


@pytest.mark.parametrize("n_triplets", [1, 3, 40])
def test_finding_the_next_item_takes_the_same_queries_in_any_study(
    team, bruno, chen, ada, django_assert_num_queries, n_triplets
):
    study = make_study(make_cases(team, 1, n_triplets), [bruno, chen], ada)
    with django_assert_num_queries(14):
        claim_next(study, bruno)


# --- At once -------------------------------------------------------------------------


def at_once(*calls):
    """Run the calls in threads of their own; answers their results, raises their first error."""
    barrier = threading.Barrier(len(calls))

    def run(call):
        barrier.wait()
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@pytest.fixture
def annotators(transactional_db, team):
    return [join(team, make_annotator(f"reader{n}"), Role.ANNOTATOR) for n in range(8)]


@pytest.fixture
def curator(transactional_db, team):
    return join(team, make_annotator("curator"), Role.CURATOR)


def test_eight_people_asking_for_one_item_at_once_fill_its_seats_and_no_more(team, annotators, curator):
    study = make_study(make_cases(team, 1, 1), annotators, curator, per_item=3)
    got = at_once(*(lambda person=person: claim_next(study, person) for person in annotators))
    holders = [held.annotator for held in got if held is not None]
    assert len(holders) == len(set(holders)) == 3


def test_one_person_in_eight_windows_gets_one_item(team, annotators, curator):
    study = make_study(make_cases(team, 1, 6), annotators, curator, per_item=2)
    got = at_once(*(lambda: claim_next(study, annotators[0]) for _ in range(8)))
    assert len({held.pk for held in got}) == 1
    assert Assignment.objects.filter(state=State.HELD).count() == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_study_read_at_once_with_crashes_ends_with_exactly_n_verdicts(
    team, annotators, curator, seed
):
    """Each reader works in a thread, skips at random, and now and then walks away from a held item
    as if the browser had crashed; holds run out at once so that others meet the walked-away ones."""
    study = make_study(make_cases(team, 3, 5), annotators, curator, per_item=3)
    hold = assignments.HOLD
    assignments.HOLD = dt.timedelta(milliseconds=50)
    try:
        at_once(*(lambda person=person: read_on(study, person, seed) for person in annotators))
        assert_seats_hold(study)
        while sum(len(finish(study, person)) for person in annotators):
            pass
    finally:
        assignments.HOLD = hold
    assert_seats_hold(study)
    seated = Counter(
        Assignment.objects.filter(state=State.SUBMITTED).values_list("study_item__position", flat=True)
    )
    assert seated == dict.fromkeys(range(1, 16), 3)
    assert queries.counted(study).count() == 45


def read_on(study, person, seed):
    chance = random.Random(f"{seed}:{person.username}")
    for _ in range(12):
        held = claim_next(study, person)
        if held is None:
            return
        what = chance.random()
        if what < 0.15:
            skip_quietly(held)
        elif what < 0.85:
            submit_quietly(held)


def skip_quietly(held):
    skip(held)
    take(held)  # and comes back to it if it still needs somebody


def submit_quietly(held):
    with contextlib.suppress(Conflict):  # it went to another reader
        submit(held)


def assert_seats_hold(study):
    seats = Assignment.objects.filter(study_item__study=study, seat__isnull=False)
    pairs = list(seats.values_list("study_item", "seat"))
    assert len(pairs) == len(set(pairs))
    assert all(1 <= seat <= study.annotators_per_item for _, seat in pairs)


def test_a_verdict_is_either_counted_when_the_study_closes_or_refused(team, annotators, curator):
    study = make_study(make_cases(team, 1, 1), annotators[:2], curator)
    first, second = (claim_next(study, person) for person in annotators[:2])
    submit(first)
    refused = []

    def submit_second():
        try:
            submit(second)
        except Conflict:
            refused.append(second)

    at_once(submit_second, lambda: studies.close_study(study))
    verified = study.items.get().item.results.filter(outcome="verified").exists()
    assert verified is not bool(refused)
