"""Further rounds: the same people read the same items again, after a wash-out."""

import datetime as dt

import pytest
from django.utils import timezone

from annotation import adjudication, progress, queries
from annotation.models import Assignment, Study, Verdict
from annotation.services import assignments, rounds, studies, verdicts
from annotation.services.adjudication import Ruling, decide
from medbench.accounts.models import Membership
from medbench.errors import Conflict
from medbench.review.models import ItemResult
from tests.annotation.build import YES, address, answer_all, compute_agreement, make_cases, make_study
from tests.people import signed_in

NO = YES | {"faithful": "no"}


@pytest.fixture
def closed(study, bruno, chen, ada):
    """Four items, read by Bruno and Chen."""
    answer_all(study, bruno, YES)
    answer_all(study, chen, YES)
    return studies.close_study(study, by=ada)


def again(study, by, days=0, **fields):
    drafted = rounds.draft_round(study, title="Round 2", wash_out_days=days, by=by, **fields)
    return studies.start_study(drafted, by=by)


def order_of(study, person):
    rows = Assignment.objects.filter(study_item__study=study, annotator=person).order_by("position")
    return list(rows.values_list("study_item__position", flat=True))


def test_everybody_gets_what_they_read_and_nothing_else(study, bruno, chen, ada):
    answer_all(study, bruno, YES)
    held = assignments.claim_next(study, chen)
    verdicts.submit_verdict(held, verdicts.Draft(YES, "", 0))
    second = again(studies.close_study(study), ada)
    assert sorted(order_of(second, bruno)) == [1, 2, 3, 4]
    assert order_of(second, chen) == [held.study_item.position]
    assert set(second.items.values_list("item", flat=True)) == set(study.items.values_list("item", flat=True))


def test_the_order_is_drawn_anew(team, bruno, chen, ada):
    study = make_study(make_cases(team, n_cases=4, n_triplets=5), [bruno, chen], ada)
    answer_all(study, bruno, YES)
    second = again(studies.close_study(study), ada)
    assert sorted(order_of(second, bruno)) == sorted(order_of(study, bruno))
    assert order_of(second, bruno) != order_of(study, bruno)


def test_an_item_comes_again_only_after_its_wash_out(closed, bruno, ada):
    long_ago = timezone.now() - dt.timedelta(days=20)
    early = Verdict.objects.filter(assignment__annotator=bruno).first()
    Verdict.objects.filter(pk=early.pk).update(submitted_at=long_ago)
    second = again(closed, ada, days=14)
    held = assignments.claim_next(second, bruno)
    assert held.study_item.item_id == early.assignment.study_item.item_id
    verdicts.submit_verdict(held, verdicts.Draft(YES, "", 0))
    assert assignments.claim_next(second, bruno) is None
    page = signed_in(bruno).get(f"/annotate/next/{second.pk}/").content.decode()
    assert f'from <time datetime="{queries.wash_out_ends(second, bruno):%Y-%m-%d}' in page
    later = Assignment.objects.filter(study_item__study=second, annotator=bruno, state="waiting").first()
    with pytest.raises(Conflict, match="again from"):
        assignments.take(later)


def test_what_one_said_is_hidden_until_it_is_said_again(closed, bruno, ada):
    first = Assignment.objects.filter(study_item__study=closed, annotator=bruno).first()
    client = signed_in(bruno)
    assert client.get(address(first)).status_code == 200
    second = again(closed, ada)
    for part in ("", "guidelines/", "regions.geojson"):
        assert client.get(address(first) + part).status_code == 403
    answer_all(second, bruno, NO)
    assert client.get(address(first)).status_code == 200


def test_a_curator_who_reads_again_sees_no_answers_of_the_first_round(closed, bruno, ada, team):
    Membership.objects.create(user=bruno, team=team, role="curator")
    bruno.__dict__.pop("roles_by_team", None)
    client = signed_in(bruno)
    assert client.get(f"/studies/{closed.pk}/agreement/").status_code == 200
    again(closed, ada)
    assert client.get(f"/studies/{closed.pk}/agreement/").status_code == 403
    assert client.get(f"/studies/{closed.pk}/items/1/").status_code == 403


def test_a_round_decides_nothing(closed, bruno, chen, dara, ada):
    before = ItemResult.objects.count()
    second = again(closed, ada)
    answer_all(second, bruno, YES)
    answer_all(second, chen, YES)
    studies.close_study(second, by=ada)
    item = second.items.get(position=1)
    with pytest.raises(Conflict, match="decides nothing"):
        decide(item, Ruling({}, "rejected", "No."), by=dara)
    assert adjudication.queue_of(second, dara) == []
    assert ItemResult.objects.count() == before


def test_a_round_takes_no_other_items_and_no_other_people(closed, chen, ada):
    second = again(closed, ada)
    with pytest.raises(Conflict, match="further round"):
        studies.append_items(second, [])
    with pytest.raises(Conflict, match="further round"):
        studies.add_annotators(second, [chen, ada])


def test_there_is_one_round_at_a_time(study, closed, ada):
    second = again(closed, ada)
    with pytest.raises(Conflict, match="all its rounds are closed"):
        again(closed, ada)
    third = again(studies.close_study(second), ada)
    assert third.repeats == closed


def test_who_is_no_annotator_any_more_is_left_out(closed, bruno, chen, ada):
    Membership.objects.filter(user=chen).update(ended_at=timezone.now())
    second = again(closed, ada)
    assert [each.user for each in second.annotators.all()] == [bruno]
    assert second.annotators_per_item == 1


def test_a_curator_opens_a_round_from_the_page_of_the_closed_study(study, bruno, ada):
    client, page = signed_in(ada), f"/studies/{study.pk}/round/"
    assert "once this study" in client.get(page).content.decode()
    answer_all(study, bruno, YES)
    studies.close_study(study)
    assert page in client.get(f"/studies/{study.pk}/").content.decode()
    assert "4 items, 1 annotator" in client.get(page).content.decode()
    form = {"title": "Again", "wash_out_days": "-1", "due_at": ""}
    assert client.post(page, form).status_code == 422
    answer = client.post(page, form | {"wash_out_days": "30"})
    drafted = Study.objects.get(title="Again")
    assert answer["Location"] == f"/studies/{drafted.pk}/"
    assert (drafted.state, drafted.wash_out_days) == ("draft", 30)
    assert "30 days after" in client.get(f"/studies/{drafted.pk}/set-up/").content.decode()


def rows_of(study, by):
    """(question, annotator) -> how often they said the same again."""
    found = compute_agreement(study, by).result["again"]
    return {(row["question"], row["letter"]): (row["n_pairable"], row["percent_agreement"]) for row in found}


def test_the_page_says_how_steady_each_annotator_is(closed, bruno, chen, dara, ada):
    assert rows_of(closed, ada) == {}
    second = again(closed, ada)
    answer_all(second, bruno, lambda position: NO if position == 1 else YES)
    answer_all(second, chen, lambda position: YES | {"faithful": "cannot_judge"} if position < 3 else YES)
    rows = rows_of(second, ada)
    letters = progress.letters(second)
    assert rows["faithful", letters[bruno.pk]] == (4, 0.75)
    assert rows["faithful", letters[chen.pk]] == (2, 1.0)  # “cannot judge” is no answer to compare
    assert rows["faithful", ""] == (6, 5 / 6)
    page = signed_in(ada).get(f"/studies/{second.pk}/agreement/").content.decode()
    mine = page.split('id="again"')[1]
    assert "Bruno Costa" in mine
    assert "4 of 4" in mine
    theirs = signed_in(dara).get(f"/studies/{second.pk}/agreement/").content.decode()
    assert 'id="again"' in theirs
    assert "Bruno Costa" not in theirs
