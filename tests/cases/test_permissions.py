"""Who may see which case, edition and slide."""

import uuid

import pytest
from django.contrib.auth.models import AnonymousUser

from medbench.cases import permissions
from medbench.errors import NotAllowed, NotFound
from tests.cases.build import make_benchmark, make_case, make_release


@pytest.fixture
def benchmark(team):
    return make_benchmark(team)


def sees(person, case, token=""):
    try:
        return permissions.case_for(person, case.pk, token)[1].token
    except NotFound:
        return None


def test_members_see_an_open_case_in_its_newest_release(benchmark, ada, bruno, dara, rosa):
    case = make_case(benchmark)
    make_release(benchmark, 1)
    make_release(benchmark, 2)
    assert [sees(person, case) for person in (ada, bruno, dara, rosa)] == ["2"] * 4
    assert sees(rosa, case, "1") == "1"


def test_strangers_and_visitors_see_nothing(benchmark, eve):
    case = make_case(benchmark)
    make_release(benchmark)
    assert sees(eve, case) is None
    assert sees(AnonymousUser(), case) is None


def test_signed_in_people_read_an_open_team(benchmark, team, eve):
    case = make_case(benchmark)
    make_release(benchmark)
    team.open_to_researchers = True
    team.save()
    assert sees(eve, case) == "1"
    assert sees(AnonymousUser(), case) is None


def test_held_out_cases_are_for_curators(benchmark, ada, bruno, dara, rosa):
    case = make_case(benchmark, split="heldout")
    make_release(benchmark)
    assert [sees(person, case) for person in (ada, bruno, dara, rosa)] == ["1", None, None, None]


def test_the_working_copy_is_for_curators(benchmark, ada, bruno, rosa):
    """Opening a held-out case in the working copy shows its references to nobody else."""
    case = make_case(benchmark, split="heldout")
    make_release(benchmark)
    case.split = "open"
    case.save()
    assert [sees(person, case, "draft") for person in (ada, bruno, rosa)] == ["draft", None, None]


def test_a_case_without_a_release_is_shown_to_curators_as_working_copy(benchmark, ada, rosa):
    case = make_case(benchmark)
    assert [sees(ada, case), sees(rosa, case)] == ["draft", None]


@pytest.mark.parametrize("token", ["3", "0", "-1", "x", "٣", "9" * 400])
def test_a_release_that_does_not_exist_is_not_found(benchmark, ada, token):
    case = make_case(benchmark)
    make_release(benchmark)
    assert sees(ada, case, token) is None
    with pytest.raises(NotFound):
        permissions.edition_for(ada, benchmark, token)


def test_an_unknown_id_is_not_found(ada):
    with pytest.raises(NotFound):
        permissions.case_for(ada, uuid.uuid4())
    with pytest.raises(NotFound):
        permissions.release_for(ada, uuid.uuid4())
    for unknown in (uuid.uuid4(), "no-such-name", "", "\0"):
        with pytest.raises(NotFound):
            permissions.benchmark_for(ada, unknown)


def test_only_curators_edit(benchmark, ada, rosa, eve):
    case = make_case(benchmark)
    make_release(benchmark)
    assert permissions.case_to_edit(ada, case.pk) == case
    with pytest.raises(NotAllowed):
        permissions.case_to_edit(rosa, case.pk)
    with pytest.raises(NotFound):
        permissions.case_to_edit(eve, case.pk)


def test_slides_of_open_cases_are_seen_by_all_who_read_cases(benchmark, ada, bruno, rosa, eve):
    slide = make_case(benchmark, slide="x.svs").slide
    make_release(benchmark)
    seen = [permissions.may_see_slide(person, slide) for person in (ada, bruno, rosa, eve, AnonymousUser())]
    assert seen == [True, True, True, False, False]


def test_other_slides_are_seen_by_those_who_may_judge_them(benchmark, ada, bruno, dara, rosa):
    held_out = make_case(benchmark, slide="x.svs", split="heldout").slide
    make_release(benchmark)
    unreleased = make_case(benchmark, "C-2", slide="y.svs").slide
    for slide in (held_out, unreleased):
        seen = [permissions.may_see_slide(person, slide) for person in (ada, bruno, dara, rosa)]
        assert seen == [True, True, True, False]
