"""/cases/<case>/: slide, report with its marks, triplets; what is missing is said."""

import json

import pytest

from medbench.cases.models import Case
from tests.cases.build import REPORT, make_benchmark, make_case, make_release, make_triplet
from tests.cases.test_list_page import CountedQueries, words
from tests.people import signed_in


@pytest.fixture
def benchmark(team):
    return make_benchmark(team)


@pytest.fixture
def case(benchmark):
    case = make_case(benchmark)
    make_triplet(case, "1", evidence="Tumour size: 6 cm.")
    make_triplet(case, "2", evidence="6 cm. All 30 lymph nodes", state="verified", category="predictive")
    return case


@pytest.fixture
def release(case):
    return make_release(case.benchmark)


def page(person, case, query=""):
    return signed_in(person).get(f"/cases/{case.pk}/{query}")


def test_the_page_says_what_the_case_is(case, release, rosa):
    found = words(page(rosa, case))
    assert "Colon · TCGA-COAD · difficulty 2 · open · release 1 · 2 triplets, 1 verified" in found
    assert "Judge the nodal status" in found
    assert "Insight 1 of C-1." in found


def test_evidence_is_marked_by_code_points_and_overlaps_share_their_piece(case, release, rosa):
    text = page(rosa, case, "?triplet=2").content.decode()
    report = text[text.index("data-report>") + len("data-report>") :].split("</div>")[0]
    assert report == (
        "DIAGNOSIS 🔬\n"
        '<span id="span-1" class="anchor"></span><mark class="mark" data-triplets="1">Tumour size: </mark>'
        '<span id="span-2" class="anchor"></span>'
        '<mark class="mark is-current" data-triplets="1 2">6 cm.</mark>'
        '<mark class="mark is-current" data-triplets="2"> All 30 lymph nodes</mark>'
        " are free of tumour.\nMargins: negative."
    )


def test_the_chosen_triplet_is_open_and_others_are_not(case, release, rosa):
    text = page(rosa, case, "?triplet=2").content.decode()
    assert 'data-triplet="2" open>' in text
    assert 'data-triplet="1">' in text


@pytest.mark.parametrize("query", ["?triplet=0", "?triplet=99", "?triplet=x", "?triplet=-1", "?triplet=²"])
def test_a_triplet_that_does_not_exist_chooses_nothing(case, release, rosa, query):
    answer = page(rosa, case, query)
    assert answer.status_code == 200
    assert b"is-current" not in answer.content


def test_evidence_works_without_script(case, release, rosa):
    assert 'href="?release=1&amp;triplet=1#span-1"' in page(rosa, case).content.decode()


def test_an_unanchored_triplet_says_so_and_shows_the_nearest_passage(benchmark, rosa):
    case = make_case(benchmark)
    loose = make_triplet(case)
    type(loose.current).objects.create(
        triplet=loose,
        version=2,
        category="descriptive",
        question="q",
        insight="i",
        evidence="All thirty lymph nodes are tumour free",
        report=case.report,
    )
    loose.current = loose.versions.get(version=2)
    loose.save()
    make_release(benchmark)
    answer = page(rosa, case)
    assert "Evidence not found word for word" in words(answer)
    assert "Show nearest passage" in words(answer)
    assert 'data-near="1"' in answer.content.decode()
    assert b"<mark" not in answer.content


def test_a_case_without_slide_or_report_says_so(benchmark, rosa):
    case = make_case(benchmark, report=None)
    make_triplet(case)
    make_release(benchmark)
    found = words(page(rosa, case))
    assert "No slide for this case" in found
    assert "No report for this case" in found


def test_a_refused_slide_says_why(benchmark, rosa):
    case = make_case(benchmark, slide="secret-name.dcm")
    case.slide.refusal_code, case.slide.refusal_text = "unopenable", "OpenSlide cannot open it."
    case.slide.save()
    make_release(benchmark)
    answer = page(rosa, case)
    assert "Slide refused ( unopenable ): OpenSlide cannot open it." in words(answer)
    assert b"secret-name" not in answer.content


def test_hostile_text_is_shown_as_text(benchmark, ada):
    evil = "<img src=x onerror=alert(1)>"
    case = make_case(benchmark, f"C {evil}", goal=evil, site=evil, project=evil, report=f"{evil} {REPORT}")
    make_triplet(case, evil, question=evil, insight=evil, evidence=evil)
    make_release(benchmark)
    for query in ("", "?release=draft"):
        answer = page(ada, case, query)
        assert b"<img src=x" not in answer.content
        assert evil in words(answer)


def test_previous_and_next_stay_in_the_edition_and_skip_what_is_held_out(benchmark, ada, rosa):
    cases = [make_case(benchmark, f"C-{n}", split="heldout" if n == 1 else "open") for n in range(3)]
    make_release(benchmark)
    text = page(rosa, cases[0]).content.decode()
    assert f'rel="next" href="/cases/{cases[2].pk}/?release=1"' in text
    assert 'rel="prev"' not in text
    assert f'rel="next" href="/cases/{cases[1].pk}/?release=1"' in page(ada, cases[0]).content.decode()


def test_the_list_of_triplets_can_be_filtered(case, release, rosa):
    answer = signed_in(rosa).get(
        f"/cases/{case.pk}/?release=1&category=predictive", headers={"HX-Request": "true"}
    )
    assert b"<html" not in answer.content
    assert 'data-triplet="2"' in answer.content.decode()
    assert 'data-triplet="1"' not in answer.content.decode()
    assert "No triplet matches" in words(page(rosa, case, "?state=rejected"))


def test_only_curators_edit_and_only_the_working_copy(case, release, ada, rosa):
    assert "Edit" not in words(page(rosa, case))
    frozen = words(page(ada, case))
    assert "Release 1 is frozen." in frozen
    assert "Edit goal" not in frozen
    draft = words(page(ada, case, "?release=draft"))
    assert "Edit goal" in draft
    assert "Add triplet" in draft


def test_a_retired_case_is_only_in_its_releases(case, release, ada):
    Case.objects.update(retired_at="2026-01-01T00:00:00Z")
    assert page(ada, case).status_code == 200
    assert page(ada, case, "?release=draft").status_code == 404


def test_hidden_and_missing_cases_are_the_same_page(benchmark, eve, rosa):
    hidden = make_case(benchmark, split="heldout")
    make_release(benchmark)
    missing = page(rosa, type(hidden)())
    assert missing.status_code == 404
    for person in (rosa, eve):
        answer = page(person, hidden)
        assert (answer.status_code, answer.content) == (404, missing.content)


def test_the_number_of_queries_does_not_grow(benchmark, ada, django_assert_num_queries):
    case = make_case(benchmark, slide="x.svs")
    make_triplet(case, "1", evidence="6 cm.")
    make_release(benchmark)
    session = signed_in(ada)
    counts = []
    for query in ("?release=1", "?release=draft"):
        with CountedQueries() as one:
            session.get(f"/cases/{case.pk}/{query}")
        counts.append(len(one))
    make_triplet(case, "2", evidence="6 cm.")
    make_triplet(case, "3", evidence="Margins")
    make_release(benchmark, 2)
    for query, count in zip(("?release=2", "?release=draft"), counts, strict=True):
        with django_assert_num_queries(count):
            session.get(f"/cases/{case.pk}/{query}")


def test_sizes_of_panes_are_kept_for_each_person(case, release, rosa):
    session = signed_in(rosa)
    sizes = {"report": 420, "triplets": 300, "layout": "slide"}
    answer = session.post("/panes/case/", json.dumps(sizes), content_type="application/json")
    assert answer.status_code == 204
    assert "&quot;report&quot;: 420" in session.get(f"/cases/{case.pk}/").content.decode()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[" * 900,
        '{"report": 1' + " " * 1000 + "}",
        "[]",
        '{"report": "wide"}',
        '{"report": -1}',
        '{"report": true}',
        '{"other": 1}',
        '{"layout": "x"}',
    ],
)
def test_sizes_that_are_none_are_refused(rosa, body):
    answer = signed_in(rosa).post("/panes/case/", body, content_type="application/json")
    assert answer.status_code == 400
    rosa.refresh_from_db()
    assert rosa.panes == {}
    good = signed_in(rosa).post("/panes/elsewhere/", "{}", content_type="application/json")
    assert good.status_code == 400
