"""A study over triplets, ready to be annotated."""

from django.urls import reverse

from annotation.models import Protocol, Study
from annotation.services import studies
from medbench.cases.editions import Edition
from medbench.review import triplets
from tests.cases.build import make_benchmark, make_case, make_triplet
from tests.people import signed_in

YES = {"grounded": "yes", "faithful": "yes", "aligned": "yes", "category": "yes"}


def make_cases(team, n_cases=1, n_triplets=3, **case_fields):
    """A benchmark of the team with so many cases of so many triplets."""
    benchmark = make_benchmark(team)
    for number in range(1, n_cases + 1):
        case = make_case(benchmark, f"TCGA-{number}", **case_fields)
        for key in range(1, n_triplets + 1):
            make_triplet(case, str(key), evidence="Tumour size: 6 cm")
    return benchmark


def make_draft(benchmark, annotators, by, *, per_item=2, **fields):
    """A draft of a study over the whole working copy."""
    study = Study(
        benchmark=benchmark,
        protocol=Protocol.objects.get(key="triplet", version=1),
        annotators_per_item=per_item,
        **{"title": "Colon verification, round 1"} | fields,
    )
    items = triplets.as_items(triplets.chosen(Edition(benchmark, None)))
    return studies.draft_study(study, items, annotators, by=by)


def make_study(benchmark, annotators, by, *, per_item=2, **fields):
    """A running study over the whole working copy."""
    return studies.start_study(make_draft(benchmark, annotators, by, per_item=per_item, **fields))


# --- The page of an item -----------------------------------------------------------------

FORM = {f"answer-{key}": value for key, value in YES.items()}


def address(assignment):
    return reverse("annotation:item", args=[assignment.pk])


def post(person, assignment, **fields):
    return signed_in(person).post(address(assignment), {"comment": "", "version": 0} | fields)


def ask(person, assignment, **fields):
    """The same, as the script of the page asks."""
    data = {"comment": "", "version": 0} | fields
    return signed_in(person).post(address(assignment), data, HTTP_ACCEPT="application/json")
