"""What is frozen never changes, whichever way somebody tries."""

import pytest
from django.db import transaction

from medbench.cases.models import Goal, Release, ReleaseCase, ReleaseTriplet, Report, TripletVersion
from medbench.errors import Conflict, InvalidInput
from tests.cases.build import REPORT, make_benchmark, make_case, make_release, make_triplet, make_version

FROZEN = (Release, ReleaseCase, ReleaseTriplet, Report, Goal, TripletVersion)


@pytest.fixture
def release(team):
    case = make_case(make_benchmark(team))
    make_triplet(case, evidence="Tumour size: 6 cm.")
    return make_release(case.benchmark)


@pytest.mark.parametrize("kind", FROZEN)
def test_a_frozen_row_cannot_be_saved_again(release, kind):
    row = kind.objects.get()
    with pytest.raises(Conflict):
        row.save()


@pytest.mark.parametrize("kind", FROZEN)
def test_a_frozen_row_cannot_be_deleted(release, kind):
    with pytest.raises(Conflict):
        kind.objects.get().delete()
    with pytest.raises(Conflict):
        kind.objects.all().delete()
    assert kind.objects.count() == 1


@pytest.mark.parametrize("kind", FROZEN)
def test_a_frozen_row_cannot_be_changed_in_bulk(release, kind):
    row = kind.objects.get()
    name = {"Release": "version", "ReleaseCase": "site", "ReleaseTriplet": "position"}.get(
        kind.__name__, "version"
    )
    setattr(row, name, 9)
    with pytest.raises(Conflict):
        kind.objects.filter(pk=row.pk).update(**{name: 9})
    with pytest.raises(Conflict), transaction.atomic():
        kind.objects.bulk_update([row], [name])
    assert getattr(kind.objects.get(), name) not in (9, "9")


def test_frozen_rows_survive_the_person_who_made_them(release, ada):
    goal = Goal.objects.create(case=release.cases.get().case, version=2, text="Another", made_by=ada)
    ada.delete()
    goal.refresh_from_db()
    assert goal.made_by is None


def test_a_span_that_is_not_its_quote_is_refused(release):
    triplet = release.cases.get().case.triplets.get()
    fields = {"triplet": triplet, "version": 2, "category": "descriptive", "question": "q", "insight": "i"}
    wrong = TripletVersion(**fields, report=triplet.case.report, span_start=0, span_end=4, quote="not it")
    with pytest.raises(InvalidInput):
        wrong.save()
    with pytest.raises(InvalidInput):
        TripletVersion.objects.bulk_create([wrong])


def test_spans_count_code_points(release):
    """The microscope before the passage is one code point, two UTF-16 units and four bytes."""
    triplet = release.cases.get().case.triplets.get()
    version = make_version(
        triplet, 2, evidence="Margins: negative.", category="descriptive", question="q", insight="i"
    )
    assert REPORT[version.span_start : version.span_end] == "Margins: negative."
    assert version.span_start == len("DIAGNOSIS ") + 1 + len(
        "\nTumour size: 6 cm. All 30 lymph nodes are free of tumour.\n"
    )
