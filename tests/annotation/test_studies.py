"""Studies from draft to closed."""

import datetime as dt

import pytest
from django.utils import timezone

from annotation import queries
from annotation.models import Assignment, Study, StudyItem
from annotation.services import assignments, studies, verdicts
from medbench.accounts.models import Membership
from medbench.cases.editions import Edition
from medbench.cases.models import Triplet
from medbench.errors import Conflict, InvalidInput
from medbench.review import triplets
from medbench.review.models import ItemResult, ReviewItem
from tests.annotation.build import YES, make_cases, make_draft, make_study
from tests.cases.build import make_case, make_triplet, make_version


def order_of(study, person):
    rows = Assignment.objects.filter(study_item__study=study, annotator=person).order_by("position")
    return [row.study_item.position for row in rows.select_related("study_item")]


def answer(study, person, answers, times=1):
    """`person` submits the same answers to their next items."""
    for _ in range(times):
        held = assignments.claim_next(study, person)
        verdicts.submit_verdict(held, verdicts.Draft(answers, "", 0))


def answer_item(study, person, position, answers):
    row = Assignment.objects.get(study_item__study=study, study_item__position=position, annotator=person)
    verdicts.submit_verdict(assignments.take(row), verdicts.Draft(answers, "", 0))


def states(benchmark):
    return list(
        Triplet.objects.filter(case__benchmark=benchmark)
        .order_by("case__position", "position")
        .values_list("state", flat=True)
    )


def test_a_draft_gives_nothing_to_anybody(benchmark, bruno, chen, ada):
    study = make_draft(benchmark, [bruno, chen], ada)
    assert (study.state, study.created_by) == (Study.State.DRAFT, ada)
    assert [item.position for item in study.items.all()] == [1, 2, 3, 4]
    assert not Assignment.objects.exists()


def test_each_annotator_gets_all_items_in_a_stored_order_of_their_own(team, bruno, chen, ada):
    study = make_study(make_cases(team, n_cases=4, n_triplets=5), [bruno, chen], ada)
    assert (study.state, study.started_at is None) == (Study.State.RUNNING, False)
    first, second = order_of(study, bruno), order_of(study, chen)
    assert sorted(first) == sorted(second) == list(range(1, 21))
    assert first != second
    assert order_of(study, bruno) == first


def test_the_seed_decides_the_order(team, bruno, chen, ada):
    benchmark = make_cases(team, n_cases=4, n_triplets=5)
    orders = [order_of(make_study(benchmark, [bruno, chen], ada, seed=seed), bruno) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def missing(raised):
    return [(problem.code, problem.field) for problem in raised.value.problems]


def test_a_study_that_lacks_everything_names_it_all(benchmark, ada):
    study = make_draft(benchmark, [], ada, due_at=timezone.now() - dt.timedelta(days=1))
    study.items.all().delete()
    with pytest.raises(studies.NotReady) as raised:
        studies.start_study(study)
    assert missing(raised) == [
        ("no_items", "items"),
        ("no_annotators", "annotators"),
        ("due_is_past", "due_at"),
    ]
    study.refresh_from_db()
    assert study.state == Study.State.DRAFT


def test_fewer_annotators_than_verdicts_wanted_cannot_start(benchmark, bruno, ada):
    study = make_draft(benchmark, [bruno], ada, per_item=2)
    with pytest.raises(studies.NotReady, match="2 per item are wanted, and 1 are chosen") as raised:
        studies.start_study(study)
    assert missing(raised) == [("too_few_annotators", "annotators")]


def test_somebody_who_lost_the_role_is_named(benchmark, bruno, chen, ada):
    study = make_draft(benchmark, [bruno, chen], ada)
    Membership.objects.filter(user=chen).update(ended_at=timezone.now())
    with pytest.raises(studies.NotReady, match="Chen Wei"):
        studies.start_study(study)


def test_items_of_another_kind_or_benchmark_are_refused(benchmark, study, team):
    (item, *_) = triplets.as_items(triplets.chosen(Edition(benchmark, None)))
    item.kind = ReviewItem.Kind.GOAL
    with pytest.raises(InvalidInput):
        studies.append_items(study, [item])


def test_appended_items_come_last_in_every_order(study, benchmark, bruno, chen):
    before = order_of(study, bruno)
    case = make_case(benchmark, "TCGA-9")
    for key in "123":
        make_triplet(case, key)
    everything = triplets.as_items(triplets.chosen(Edition(benchmark, None)))
    assert studies.append_items(study, everything) == 3
    for person in (bruno, chen):
        assert sorted(order_of(study, person)[4:]) == [5, 6, 7]
    assert order_of(study, bruno)[:4] == before
    assert studies.append_items(study, triplets.as_items(triplets.chosen(Edition(benchmark, None)))) == 0


def test_a_paused_study_gives_out_nothing_and_takes_no_verdict_but_keeps_drafts(study, bruno):
    held = assignments.claim_next(study, bruno)
    studies.pause_study(study)
    with pytest.raises(Conflict, match="paused"):
        assignments.claim_next(study, bruno)
    with pytest.raises(Conflict, match="paused"):
        verdicts.submit_verdict(held, verdicts.Draft(YES, "kept", 0))
    assert held.verdict.comment == "kept"
    assert held.verdict.submitted_at is None
    studies.resume_study(study)
    verdicts.submit_verdict(held, verdicts.Draft(YES, "kept", 1))


def test_steps_that_do_not_fit_the_state_are_refused(study, benchmark, bruno, chen, ada):
    draft = make_draft(benchmark, [bruno, chen], ada)
    for step in (studies.start_study, studies.resume_study, studies.discard_draft):
        with pytest.raises(Conflict):
            step(study)
    for step in (studies.pause_study, studies.close_study):
        with pytest.raises(Conflict):
            step(draft)
    studies.close_study(study)
    for step in (studies.close_study, studies.pause_study, studies.resume_study, studies.start_study):
        with pytest.raises(Conflict):
            step(study)
    with pytest.raises(Conflict):
        studies.append_items(study, [])


def test_a_discarded_draft_leaves_its_review_items_to_others(benchmark, bruno, chen, ada):
    studies.discard_draft(make_draft(benchmark, [bruno, chen], ada))
    assert not Study.objects.exists()
    assert not StudyItem.objects.exists()
    assert ReviewItem.objects.count() == 4


def test_only_what_all_affirm_is_verified_when_a_study_closes(study, benchmark, bruno, chen):
    doubted, refused = YES | {"aligned": "cannot_judge"}, YES | {"category": "no"}
    for position, first, second in ((1, YES, YES), (2, YES, doubted), (3, refused, refused)):
        answer_item(study, bruno, position, first)
        answer_item(study, chen, position, second)
    answer_item(study, bruno, 4, YES)  # one verdict short
    studies.close_study(study)
    assert states(benchmark) == ["verified", "proposed", "proposed", "proposed"]
    result = ItemResult.objects.get()
    assert (result.outcome, result.source) == ("verified", f"study:{study.pk}")
    assert result.detail == {"verdicts": 2, "protocol": "Triplet v1"}


def test_a_change_that_was_not_submitted_does_not_count(study, benchmark, bruno, chen):
    answer(study, bruno, YES, times=4)
    answer(study, chen, YES, times=4)
    row = Assignment.objects.get(study_item__study=study, study_item__position=1, annotator=chen)
    verdicts.save_verdict(row, verdicts.Draft(YES | {"faithful": "no"}, "", row.verdict.version))
    studies.close_study(study)
    assert states(benchmark) == ["verified"] * 4


def test_a_triplet_reworded_during_the_study_is_not_verified(study, benchmark, bruno, chen):
    triplet = Triplet.objects.order_by("case__position", "position").first()
    triplet.current = make_version(
        triplet, 2, category="descriptive", question="How large?", insight="It measures 6 cm."
    )
    triplet.save()
    answer(study, bruno, YES, times=4)
    answer(study, chen, YES, times=4)
    studies.close_study(study)
    assert states(benchmark) == ["proposed", "verified", "verified", "verified"]


def test_done_counts_items_with_all_their_verdicts(study, bruno, chen):
    answer(study, bruno, YES, times=3)
    answer_item(study, chen, order_of(study, bruno)[0], YES)
    assert queries.with_progress(Study.objects.all()).get().n_done == 1
