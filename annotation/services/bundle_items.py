"""The items of a bundle, found again among the cases that are here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.bundles import sha256_of
from medbench.cases.models import Case, Goal, TripletVersion
from medbench.review.models import ReviewItem
from medbench.review.services import payload_digest
from medbench.slides.models import Slide

if TYPE_CHECKING:
    from annotation.models import Study
    from medbench.cases.models import Report
    from medbench.formats.problems import Findings

Kind = ReviewItem.Kind
NONE = type(None)
# The fields of what is judged, by the kinds of their values.
SHOWN: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("category", "question", "insight", "evidence", "goal"), (str,)),
    **dict.fromkeys(("number", "difficulty"), (int,)),
    "report_version": (int, NONE),
    "span": (list, NONE),
    "slide": (list, NONE),
    "triplets": (list,),
}
WORDING = ("category", "question", "insight", "evidence")


def item_of(study: Study, given: dict[str, Any], findings: Findings) -> ReviewItem | None:
    """The unsaved review item that a line of a bundle tells of, on the case, report and slide that are
    here. None where it cannot be found again, with the problem noted."""
    findings.case_id = str(given.get("case_id") or "")
    try:
        return _item(study, given)
    except LookupError as missing:
        findings.problem("unknown_item", str(missing.args[0]))
        return None
    finally:
        findings.case_id = ""


def _item(study: Study, given: dict[str, Any]) -> ReviewItem:
    kind, payload = given["kind"], dict(given["payload"])
    if kind != study.protocol.kind:
        raise LookupError("The protocol is not about items of this kind.")
    if not all(isinstance(each, str) for each in given["hides"]):
        raise LookupError("What an item hides is named by field.")
    if kind in (Kind.OUTPUT, Kind.NOVELTY):
        return _known(given)
    _check_payload(payload)
    case = (
        Case.objects.select_related("slide")
        .filter(benchmark=study.benchmark, case_id=str(given.get("case_id")))
        .first()
    )
    if case is None:
        raise LookupError("The benchmark has no such case. Import its cases first.")
    report = _report(case, given.get("report_sha256"))
    slide = _slide(case, payload.get("slide"), given.get("slide_sha256"))
    payload["report_version"] = report.version if report else None
    payload["slide"] = [str(slide.pk), slide.revision] if slide else None
    return ReviewItem(
        benchmark=study.benchmark,
        kind=kind,
        subject_id=_subject(kind, case, given),
        payload=payload,
        hides=given["hides"],
        case=case,
        slide=slide,
        report=report,
    )


def _check_payload(payload: dict[str, Any]) -> None:
    """Raise LookupError unless the pages that show it can."""
    for name, value in payload.items():
        allowed = SHOWN.get(name)
        if allowed is None or type(value) not in allowed:
            raise LookupError(f"“{name}” of what is judged is of the wrong kind.")
    span = payload.get("span")
    if span and not (len(span) == 2 and all(type(each) is int for each in span)):
        raise LookupError("A span is two numbers.")
    for each in payload.get("triplets", ()):
        if not isinstance(each, dict) or not all(isinstance(text, str) for text in each.values()):
            raise LookupError("The triplets of a case are texts by name.")


def _known(given: dict[str, Any]) -> ReviewItem:
    """Outputs are put up by the leaderboard, so they are here or nowhere."""
    digest = payload_digest(given["payload"])
    found = ReviewItem.objects.filter(
        kind=given["kind"], subject_id=given["subject_id"], payload_sha256=digest
    ).first()
    if found is None:
        raise LookupError("This output is not on this site: its submission would have to be here.")
    return found


def _subject(kind: str, case: Case, given: dict[str, Any]) -> str:
    payload = given["payload"]
    if kind == Kind.TRIPLET:
        wording = {name: payload.get(name) for name in WORDING}
        versions = TripletVersion.objects.filter(
            triplet__case=case, triplet__key=str(given.get("triplet")), **wording
        )
        exact = (
            versions.filter(pk=int(given["subject_id"]))
            if given["subject_id"].isdecimal()
            else versions.none()
        )
        found = exact.first() or versions.order_by("-version").first()
        if found is None:
            raise LookupError(f"The case has no triplet {given.get('triplet')} with these words.")
        return str(found.pk)
    if kind == Kind.GOAL:
        goal = Goal.objects.filter(case=case, text=payload.get("goal")).order_by("-version").first()
        if goal is None:
            raise LookupError("The case has no goal with these words.")
        return str(goal.pk)
    return str(case.pk)


def _report(case: Case, sha256: Any) -> Report | None:
    if sha256 is None:
        return None
    for report in case.report_versions.order_by("-version"):
        if sha256_of(report.text) == sha256:
            return report
    raise LookupError("The case has no report with this text.")


def _slide(case: Case, named: Any, sha256: Any) -> Slide | None:
    """The slide that was judged: the one that is named, else that of the case, if its file is the same."""
    if not named:
        return None
    exact = Slide.objects.filter(pk=named[0]).first() if isinstance(named, list) and named else None
    for slide in (exact, case.slide):
        if slide is not None and slide.sha256 == (sha256 or ""):
            return slide
    raise LookupError("The slide of the case is not here, or its file is another one.")
