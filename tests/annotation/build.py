"""A study over triplets, ready to be annotated."""

from django.urls import reverse

from annotation.models import Protocol, Study
from annotation.services import agreement, studies
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, submit_verdict
from medbench.cases.editions import Edition
from medbench.jobs.attempt import Attempt, run
from medbench.jobs.models import Job
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
    protocol = Protocol.objects.get(key="triplet", version=1)
    usual = {"title": "Colon verification, round 1", "protocol": protocol}
    study = Study(benchmark=benchmark, annotators_per_item=per_item, **usual | fields)
    items = triplets.as_items(triplets.chosen(Edition(benchmark, None)))
    return studies.draft_study(study, items, annotators, by=by)


def make_study(benchmark, annotators, by, *, per_item=2, **fields):
    """A running study over the whole working copy."""
    return studies.start_study(make_draft(benchmark, annotators, by, per_item=per_item, **fields))


def answer_all(study, person, answers, comment=""):
    """Let somebody submit every item they can get; `answers` for all, or by the item's position."""
    while (held := claim_next(study, person)) is not None:
        said = answers(held.study_item.position) if callable(answers) else answers
        submit_verdict(held, Draft(said, comment, 0))


def compute_agreement(study, by):
    """Have agreement computed here and now, whatever else waits; answers the row."""
    row = agreement.recompute(study, by=by)
    Job.objects.filter(pk=row.job.pk).update(state=Job.State.RUNNING, attempt=1)
    row.job.refresh_from_db()
    run(Attempt(row.job))
    row.refresh_from_db()
    assert row.job.state == Job.State.DONE, row.job.error_text
    return row


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
