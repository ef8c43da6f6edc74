"""/cases/: what is listed for whom, how it is narrowed, and how much that costs."""

import html
import re

import pytest

from tests.cases.build import REPORT, make_benchmark, make_case, make_release, make_triplet
from tests.people import make_person, signed_in


@pytest.fixture
def benchmark(team):
    return make_benchmark(team)


def words(response):
    """The text of a page, as a person reads it."""
    text = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(text).split())


def listed(response):
    links = re.findall(r'<a class="mono"[^>]*>(.*?)</a>', response.content.decode())
    return [re.sub(r"<[^>]+>", "", link) for link in links]


def test_visitors_are_asked_to_sign_in(client, benchmark):
    assert client.get("/cases/").headers["Location"].startswith("/sign-in/")


def test_a_stranger_reads_that_nothing_is_open(benchmark, eve):
    make_case(benchmark)
    make_release(benchmark)
    page = signed_in(eve).get("/cases/")
    assert "No benchmark is open to you yet" in words(page)
    assert signed_in(eve).get(f"/cases/?benchmark={benchmark.pk}").status_code == 404


def test_a_site_curator_of_an_empty_site_is_led_to_the_import(db):
    sam = make_person("sam", is_superuser=True)
    assert b'href="/benchmarks/import/"' in signed_in(sam).get("/cases/").content


def test_the_newest_release_is_shown_with_its_numbers(benchmark, rosa):
    make_triplet(make_case(benchmark), state="verified")
    make_case(benchmark, "C-2", site="Lung")
    make_release(benchmark)
    make_case(benchmark, "C-3")
    page = signed_in(rosa).get("/cases/")
    assert listed(page) == ["C-1", "C-2"]
    assert "Colon insight, release 1 · 2 cases · 1 triplet" in words(page)
    assert "1/1" in words(page)


def test_held_out_cases_and_the_working_copy_are_for_curators(benchmark, ada, bruno, rosa):
    make_case(benchmark, split="heldout")
    make_case(benchmark, "C-2")
    make_release(benchmark)
    assert listed(signed_in(ada).get("/cases/")) == ["C-1", "C-2"]
    for person in (bruno, rosa):
        page = signed_in(person).get("/cases/")
        assert listed(page) == ["C-2"]
        assert "1 case ·" in words(page)
        assert "Split" not in words(page)
        assert listed(signed_in(person).get("/cases/?split=heldout")) == ["C-2"]
        assert signed_in(person).get("/cases/?release=draft").status_code == 404
    make_case(benchmark, "C-3")
    assert listed(signed_in(ada).get("/cases/?release=draft")) == ["C-1", "C-2", "C-3"]


def test_a_search_marks_what_it_found_and_names_the_source(benchmark, rosa):
    make_triplet(make_case(benchmark), question="What about the lymph vessels?")
    make_case(benchmark, "C-2", report="Nothing")
    make_release(benchmark)
    page = signed_in(rosa).get("/cases/?q=lymph")
    assert listed(page) == ["C-1"]
    assert '<mark class="mark">lymph</mark>' in page.content.decode()
    assert "in report: … size: 6 cm. All 30 lymph nodes" in words(page)
    assert "in question 1: What about the lymph vessels?" in words(page)
    assert "1 case found" in words(page)


def test_a_search_without_a_match_offers_to_clear_it(benchmark, rosa):
    make_case(benchmark)
    make_release(benchmark)
    page = signed_in(rosa).get("/cases/?q=nothing+like+it")
    assert "No case matches." in words(page)
    assert f'href="?benchmark={benchmark.pk}&amp;release=1">Clear filters' in page.content.decode()


def test_hostile_text_is_shown_as_text(benchmark, rosa):
    evil = "<script>alert('x')</script>"
    make_case(benchmark, f"C-1 {evil}", goal=evil, site=evil, report=f"{REPORT} {evil} lymph")
    make_release(benchmark)
    for query in ("", "?q=alert", "?q=%3Cscript%3E"):
        page = signed_in(rosa).get(f"/cases/{query}")
        assert b"<script>alert" not in page.content
        assert "alert('x')" in words(page)


def test_unknown_filters_are_not_filters(benchmark, rosa):
    make_case(benchmark)
    make_release(benchmark)
    query = "site=Nowhere&difficulty=9&difficulty=x&category=none&sort=nothing&page=99&per=7"
    assert listed(signed_in(rosa).get(f"/cases/?{query}")) == ["C-1"]


def test_pages_and_sizes(benchmark, rosa):
    for n in range(30):
        make_case(benchmark, f"C-{n}")
    make_release(benchmark)
    page = signed_in(rosa).get("/cases/?per=25&page=2")
    assert listed(page) == [f"C-{n}" for n in range(25, 30)]
    assert "26–30 of 30" in words(page)
    assert "per=25" in page.content.decode()


def test_a_sort_link_turns_round(benchmark, rosa):
    make_case(benchmark, "C-1", difficulty=3)
    make_case(benchmark, "C-2", difficulty=1)
    make_release(benchmark)
    page = signed_in(rosa).get("/cases/?sort=difficulty&q=nodal")
    assert listed(page) == ["C-2", "C-1"]
    assert 'aria-sort="ascending"' in page.content.decode()
    assert "release=1&amp;sort=-difficulty&amp;q=nodal" in page.content.decode()


def test_htmx_gets_the_table_and_a_clean_address(benchmark, rosa):
    make_case(benchmark)
    make_release(benchmark)
    answer = signed_in(rosa).get("/cases/?q=nodal&site=&category=", headers={"HX-Request": "true"})
    assert b"<html" not in answer.content
    assert listed(answer) == ["C-1"]
    assert answer.headers["HX-Push-Url"] == f"/cases/?benchmark={benchmark.pk}&release=1&q=nodal"


def test_going_back_gets_the_whole_page(benchmark, rosa):
    make_case(benchmark)
    make_release(benchmark)
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert b"<html" in signed_in(rosa).get("/cases/", headers=headers).content


def test_why_there_is_no_thumbnail(benchmark, ada):
    make_case(benchmark, "C-1")
    refused = make_case(benchmark, "C-2", slide="x.dcm").slide
    refused.refusal_code, refused.refusal_text = "unopenable", "OpenSlide cannot open it."
    refused.save()
    waiting = make_case(benchmark, "C-3", slide="y.svs").slide
    waiting.state = "registering"
    waiting.save()
    ready = make_case(benchmark, "C-4", slide="z.svs").slide
    ready.state = "ready"
    ready.save()
    make_release(benchmark)
    page = signed_in(ada).get("/cases/")
    assert {"No slide", "Refused", "unopenable", "Registering"} <= set(
        re.findall(r"No slide|Refused|unopenable|Registering", words(page))
    )
    assert f"/slides/{ready.pk}/thumbnail.jpg" in page.content.decode()
    assert b"x.dcm" not in page.content


@pytest.mark.parametrize(
    "query", ["", "?q=nodal", "?release=draft", "?release=draft&q=nodal&category=predictive"]
)
def test_the_number_of_queries_does_not_grow(benchmark, ada, django_assert_num_queries, query):
    def fill(n):
        case = make_case(benchmark, f"C-{n}", slide=f"{n}.svs")
        for key in range(n):
            make_triplet(case, str(key), category="predictive", evidence="All 30 lymph nodes")

    fill(1)
    make_release(benchmark)
    session = signed_in(ada)
    with CountedQueries() as one:
        session.get(f"/cases/{query}")
    fill(2)
    fill(3)
    make_release(benchmark, 2)
    with django_assert_num_queries(len(one)):
        assert len(listed(session.get(f"/cases/{query}"))) >= 3


class CountedQueries:
    """How many queries the block made."""

    def __enter__(self):
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        self.captured = CaptureQueriesContext(connection)
        self.captured.__enter__()
        return self.captured

    def __exit__(self, *error):
        self.captured.__exit__(*error)
