"""A study over triplets, ready to be annotated."""

from annotation.models import Protocol, Study
from annotation.services import studies
from medbench.cases.editions import Edition
from medbench.review import triplets
from tests.cases.build import make_benchmark, make_case, make_triplet

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
