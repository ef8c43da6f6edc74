"""Changing the working copy: new versions, spans found anew, releases untouched."""

import pytest

from medbench.cases.models import Triplet
from medbench.cases.services import Wording, add_triplet, edit_case, edit_goal, edit_triplet, retire_triplet
from medbench.errors import Conflict, InvalidInput
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet
from tests.cases.test_list_page import words
from tests.people import signed_in


@pytest.fixture
def case(team):
    case = make_case(make_benchmark(team))
    make_triplet(case, "1", evidence="Tumour size: 6 cm.", state="verified")
    return case


@pytest.fixture
def triplet(case):
    return case.triplets.get()


WORDING = Wording("predictive", "What follows?", "A good outlook.", "Margins:\nnegative.")


def test_an_edit_is_a_new_version_with_its_span_and_is_proposed_anew(triplet, ada):
    version = edit_triplet(triplet, WORDING, by=ada, based_on=1)
    triplet.refresh_from_db()
    assert (triplet.current, version.version, version.made_by) == (version, 2, ada)
    assert (version.quote, version.is_anchored) == ("Margins: negative.", True)
    assert triplet.state == Triplet.State.PROPOSED
    assert triplet.versions.get(version=1).question == "How large is it?"


def test_evidence_that_is_not_in_the_report_is_kept_unanchored(triplet, ada):
    wording = Wording("predictive", "q", "i", "Nowhere in there")
    version = edit_triplet(triplet, wording, by=ada, based_on=1)
    assert (version.evidence, version.quote, version.is_anchored) == ("Nowhere in there", "", False)


def test_the_same_wording_again_changes_nothing(triplet, ada):
    same = Wording.of(triplet.current)
    assert edit_triplet(triplet, same, by=ada, based_on=1).version == 1
    triplet.refresh_from_db()
    assert (triplet.versions.count(), triplet.state) == (1, Triplet.State.VERIFIED)


def test_an_edit_of_an_older_version_is_refused(triplet, ada):
    edit_triplet(triplet, WORDING, by=ada, based_on=1)
    with pytest.raises(Conflict, match="version 2"):
        edit_triplet(triplet, Wording("predictive", "q", "i"), by=ada, based_on=1)
    assert triplet.versions.count() == 2


@pytest.mark.parametrize(
    "wording",
    [
        Wording("predictive", " ", "i"),
        Wording("predictive", "q", "\n"),
        Wording("guess", "q", "i"),
        Wording("predictive", "q", "a\0b"),
        Wording("predictive", "q", "i", "\ud83d"),
    ],
)
def test_a_wording_that_says_nothing_is_refused(case, triplet, ada, wording):
    with pytest.raises(InvalidInput):
        edit_triplet(triplet, wording, by=ada, based_on=1)
    with pytest.raises(InvalidInput):
        add_triplet(case, wording, by=ada)
    assert (triplet.versions.count(), case.triplets.count()) == (1, 1)


def test_a_new_triplet_gets_an_id_that_was_never_used(case, triplet, ada):
    make_triplet(case, "3")
    retire_triplet(triplet)
    added = add_triplet(case, WORDING, by=ada)
    assert (added.key, added.position, added.current.version) == ("4", 2, 1)


def test_a_retired_triplet_cannot_be_edited(triplet, ada):
    retire_triplet(triplet)
    with pytest.raises(Conflict):
        edit_triplet(triplet, WORDING, by=ada, based_on=1)


def test_a_goal_has_versions_too(case, ada):
    assert edit_goal(case, "Judge the margins", by=ada).version == 2
    assert edit_goal(case, "Judge the margins", by=ada).version == 2
    case.refresh_from_db()
    assert (case.goal.text, case.goal_versions.count()) == ("Judge the margins", 2)
    with pytest.raises(InvalidInput):
        edit_goal(case, " ", by=ada)


def test_facts_of_a_case_change_in_the_working_copy_only(case):
    release = make_release(case.benchmark)
    edit_case(case, project="P", site="Lung", difficulty=4, split="heldout")
    case.refresh_from_db()
    assert (case.site, case.difficulty, case.split) == ("Lung", 4, "heldout")
    assert release.cases.get().split == "open"
    for wrong in ({"difficulty": 5, "split": "open"}, {"difficulty": 1, "split": "secret"}):
        with pytest.raises(InvalidInput):
            edit_case(case, project="", site="", **wrong)


# --- Pages -------------------------------------------------------------------------


def form(**fields):
    wording = {"category": "predictive", "question": "q", "insight": "i", "evidence": "Margins:\r\nnegative."}
    return wording | {"based_on": 1} | fields


@pytest.fixture
def address(case, triplet):
    return f"/cases/{case.pk}/triplets/{triplet.pk}/"


def test_a_triplet_is_edited_without_script(case, triplet, ada, address):
    session = signed_in(ada)
    assert "Tumour size: 6 cm." in session.get(address).content.decode()
    answer = session.post(address, form())
    assert answer.headers["Location"] == f"/cases/{case.pk}/?release=draft&triplet=1"
    triplet.refresh_from_db()
    assert (triplet.current.version, triplet.current.evidence) == (2, "Margins:\nnegative.")


def test_a_triplet_is_edited_in_its_place_by_htmx(case, triplet, ada, address):
    session = signed_in(ada)
    htmx = {"HX-Request": "true"}
    assert b"<html" not in session.get(address, headers=htmx).content
    answer = session.post(address, form(), headers=htmx)
    assert answer.status_code == 204
    assert answer.headers["HX-Redirect"] == f"/cases/{case.pk}/?release=draft&triplet=1"


def test_an_incomplete_form_comes_back_with_its_problem(ada, address, triplet):
    answer = signed_in(ada).post(address, form(insight=""))
    assert answer.status_code == 422
    assert "1 problem. Nothing was saved." in words(answer)
    assert triplet.versions.count() == 1


def test_a_change_meanwhile_is_told(ada, address, triplet):
    session = signed_in(ada)
    session.post(address, form())
    answer = session.post(address, form(insight="mine"))
    assert answer.status_code == 409
    assert "Somebody changed this triplet meanwhile" in words(answer)


def test_evidence_that_was_not_found_is_told_after_saving(ada, case, address):
    answer = signed_in(ada).post(address, form(evidence="Nowhere in there"), follow=True)
    assert "the evidence was not found word for word" in words(answer)


def test_a_triplet_is_added_and_taken_out(ada, case):
    session = signed_in(ada)
    answer = session.post(f"/cases/{case.pk}/triplets/new/", form(based_on=0))
    assert answer.headers["Location"].endswith("triplet=2")
    added = case.triplets.get(key="2")
    session.post(f"/cases/{case.pk}/triplets/{added.pk}/retire/")
    added.refresh_from_db()
    assert added.retired_at
    assert session.get(f"/cases/{case.pk}/triplets/{added.pk}/").status_code == 404


def test_goal_and_facts_have_pages(ada, case):
    session = signed_in(ada)
    assert session.post(f"/cases/{case.pk}/goal/", {"text": "Judge the margins"}).status_code == 302
    facts = {"site": "Lung", "project": "", "difficulty": "4", "split": "heldout"}
    assert session.post(f"/cases/{case.pk}/edit/", facts).status_code == 302
    case.refresh_from_db()
    assert (case.goal.text, case.site, case.difficulty, case.split) == (
        "Judge the margins",
        "Lung",
        4,
        "heldout",
    )
    assert session.post(f"/cases/{case.pk}/edit/", facts | {"difficulty": "7"}).status_code == 422


def test_readers_cannot_edit_and_strangers_see_nothing(case, triplet, address, bruno, rosa, eve):
    make_release(case.benchmark)
    for path in (
        address,
        f"/cases/{case.pk}/goal/",
        f"/cases/{case.pk}/edit/",
        f"/cases/{case.pk}/triplets/new/",
    ):
        for person, status in ((rosa, 403), (bruno, 403), (eve, 404)):
            assert signed_in(person).post(path, form()).status_code == status
    assert triplet.versions.count() == 1


def test_a_triplet_of_another_case_is_not_found(case, triplet, ada):
    other = make_case(case.benchmark, "C-2")
    assert signed_in(ada).get(f"/cases/{other.pk}/triplets/{triplet.pk}/").status_code == 404
