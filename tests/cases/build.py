"""Benchmarks built row by row, for tests that need exactly these cases."""

import hashlib

from medbench.cases.models import (
    Benchmark,
    Case,
    Goal,
    Release,
    ReleaseCase,
    ReleaseTriplet,
    Report,
    Triplet,
    TripletVersion,
)
from medbench.slides.models import Slide

REPORT = "DIAGNOSIS 🔬\nTumour size: 6 cm. All 30 lymph nodes are free of tumour.\nMargins: negative."


def make_benchmark(team, name="colon", **fields):
    return Benchmark.objects.create(team=team, name=name, title=f"{name.title()} insight", **fields)


def make_case(
    benchmark, case_id="C-1", *, goal="Judge the nodal status", report=REPORT, slide=None, **fields
):
    """A case of the working copy; `slide` is a file name."""
    position = benchmark.cases.count()
    fields = {"difficulty": 2, "site": "Colon", "project": "TCGA-COAD", "position": position} | fields
    case = Case(benchmark=benchmark, case_id=case_id, **fields)
    case.slide = Slide.objects.create(file_name=slide) if slide else None
    case.save()
    case.goal = Goal.objects.create(case=case, version=1, text=goal)
    case.report = Report.objects.create(case=case, version=1, text=report) if report else None
    case.save()
    return case


def make_triplet(case, key="1", *, evidence="", category="descriptive", state="proposed", **fields):
    """A triplet whose evidence stands word for word in the report, or is empty."""
    fields = {"question": "How large is it?", "insight": f"Insight {key} of {case}."} | fields
    triplet = Triplet.objects.create(case=case, key=key, position=case.triplets.count(), state=state)
    triplet.current = make_version(triplet, 1, evidence=evidence, category=category, **fields)
    triplet.save()
    return triplet


def make_version(triplet, version, *, evidence="", **fields):
    report = triplet.case.report
    start = report.text.index(evidence) if evidence else None
    return TripletVersion.objects.create(
        triplet=triplet,
        version=version,
        evidence=evidence,
        quote=evidence,
        report=report,
        span_start=start,
        span_end=start + len(evidence) if evidence else None,
        **fields,
    )


def make_release(benchmark, number=1):
    """A release of the working copy as it is now, made by hand."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    release = Release.objects.create(
        benchmark=benchmark,
        number=number,
        version=str(number),
        digest=digest,
        **{name: getattr(benchmark, name) for name in ("title", "description", "licence", "citation")},
    )
    for case in benchmark.cases.filter(retired_at=None):
        copied = {
            name: getattr(case, name)
            for name in ("position", "project", "site", "difficulty", "split", "slide", "report", "goal")
        }
        row = ReleaseCase.objects.create(release=release, case=case, **copied)
        for triplet in case.triplets.filter(retired_at=None).exclude(state="rejected"):
            ReleaseTriplet.objects.create(
                release_case=row, version=triplet.current, position=triplet.position
            )
    return release
