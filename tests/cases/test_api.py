"""The same cases, by script: the same visibility, counts and filters."""

import pytest

from tests.cases.build import make_benchmark, make_case, make_release, make_triplet
from tests.cases.test_list_page import CountedQueries
from tests.people import join, signed_in


@pytest.fixture
def benchmark(team):
    return make_benchmark(team)


def get(person, path):
    return signed_in(person).get(f"/api/v1/{path}")


def ids(answer):
    return [case["case_id"] for case in answer.json()["results"]]


def test_cases_of_the_newest_release(benchmark, rosa):
    case = make_case(benchmark, slide="secret.svs")
    make_triplet(case, state="verified")
    make_release(benchmark)
    answer = get(rosa, "cases/")
    (found,) = answer.json()["results"]
    assert found["id"] == str(case.pk)
    assert (found["case_id"], found["release"], found["n_triplets"], found["n_verified"]) == ("C-1", 1, 1, 1)
    assert found["goal"] == "Judge the nodal status"
    assert found["slide"]["state"] == "pending"
    assert b"secret" not in answer.content


def test_filters_are_those_of_the_page(benchmark, rosa):
    make_case(benchmark, "C-1", site="Colon")
    make_case(benchmark, "C-2", site="Lung", difficulty=4)
    make_release(benchmark)
    assert ids(get(rosa, "cases/?site=Lung")) == ["C-2"]
    assert ids(get(rosa, "cases/?difficulty=4&difficulty=1")) == ["C-2"]
    assert ids(get(rosa, "cases/?q=nodal&sort=-case")) == ["C-2", "C-1"]
    assert ids(get(rosa, "cases/?page_size=1&page=2")) == ["C-2"]


def test_held_out_cases_are_for_curators(benchmark, ada, bruno, rosa, eve):
    case = make_case(benchmark, split="heldout")
    make_release(benchmark)
    assert ids(get(ada, "cases/")) == ["C-1"]
    assert get(ada, f"cases/{case.pk}/").status_code == 200
    for person in (bruno, rosa):
        assert ids(get(person, "cases/")) == []
        assert get(person, f"cases/{case.pk}/").status_code == 404
        assert get(person, "cases/?release=draft").status_code == 404
    assert get(eve, "cases/").status_code == 404
    assert get(eve, f"cases/?benchmark={benchmark.name}").status_code == 404


def test_nobody_is_let_in_without_a_token(client, benchmark):
    for path in ("cases/", "benchmarks/", "releases/"):
        assert client.get(f"/api/v1/{path}").status_code == 401


def test_a_case_whole(benchmark, rosa):
    case = make_case(benchmark)
    make_triplet(case, "a", evidence="Margins: negative.")
    make_triplet(case, "b")
    make_release(benchmark)
    found = get(rosa, f"cases/{case.pk}/").json()
    first, second = found["triplets"]
    span = first["span"]
    assert found["report"]["text"][span["start"] : span["end"]] == span["quote"] == "Margins: negative."
    assert (first["number"], first["id"], second["span"]) == (1, "a", None)


def test_several_benchmarks_must_be_told_apart(benchmark, team, rosa):
    from medbench.accounts.models import Team

    other = make_benchmark(Team.objects.create(name="Lung"), "lung")
    join(other.team, rosa, "researcher")
    for each in (benchmark, other):
        make_case(each, f"of-{each.name}")
        make_release(each)
    assert get(rosa, "cases/").status_code == 400
    assert ids(get(rosa, "cases/?benchmark=lung")) == ["of-lung"]
    assert ids(get(rosa, f"cases/?benchmark={benchmark.pk}")) == ["of-colon"]
    assert [each["name"] for each in get(rosa, "benchmarks/").json()["results"]] == ["colon", "lung"]
    assert [each["benchmark"] for each in get(rosa, "releases/?benchmark=lung").json()["results"]] == ["lung"]


@pytest.mark.parametrize("path", ["cases/", "cases/?q=nodal", "releases/", "benchmarks/"])
def test_the_number_of_queries_does_not_grow(benchmark, rosa, django_assert_num_queries, path):
    make_triplet(make_case(benchmark, slide="x.svs"))
    make_release(benchmark)
    session = signed_in(rosa)
    with CountedQueries() as one:
        session.get(f"/api/v1/{path}")
    for n in (2, 3):
        make_triplet(make_case(benchmark, f"C-{n}", slide="y.svs"))
        make_release(benchmark, n)
    with django_assert_num_queries(len(one)):
        assert session.get(f"/api/v1/{path}").status_code == 200
