"""A curator who annotates in a study learns nothing of the answers before it is closed."""

from annotation.services import studies
from medbench.accounts.models import AnnotatorProfile
from medbench.accounts.permissions import Role
from tests.annotation.build import YES, answer_all, make_cases, make_study
from tests.people import join, signed_in

ANSWERED = ("answer-counts", "Answers in the verdicts")


def test_the_progress_page_and_the_api_count_no_answers_for_a_curator_who_annotates(team, ada, chen):
    AnnotatorProfile.objects.create(user=ada, background="pathologist")
    join(team, ada, Role.ANNOTATOR)
    study = make_study(make_cases(team, 1, 2), [ada, chen], ada)
    answer_all(study, chen, YES | {"grounded": "cannot_judge"})
    page = signed_in(ada).get(f"/studies/{study.pk}/").content.decode()
    assert not [words for words in ANSWERED if words in page]
    assert "the answers of others stay hidden from you" in page
    said = signed_in(ada).get(f"/api/v1/studies/{study.pk}/").json()
    assert said["questions"] == []
    assert {row["cannot_judge"] for row in said["annotators"]} == {0}
    assert said["items"]["verdicts"] == 2

    answer_all(study, ada, YES)
    studies.close_study(study)
    page = signed_in(ada).get(f"/studies/{study.pk}/").content.decode()
    assert all(words in page for words in ANSWERED)
    assert len(signed_in(ada).get(f"/api/v1/studies/{study.pk}/").json()["questions"]) == 4


def test_a_curator_who_does_not_annotate_sees_them_at_once(team, ada, bruno, chen):
    study = make_study(make_cases(team, 1, 1), [bruno, chen], ada)
    answer_all(study, chen, YES)
    page = signed_in(ada).get(f"/studies/{study.pk}/").content.decode()
    assert all(words in page for words in ANSWERED)
