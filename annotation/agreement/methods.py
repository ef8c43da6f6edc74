"""What a paper says of how agreement was measured: one page of text, with the numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from django.template.loader import render_to_string

from annotation.agreement import coefficients
from medbench.accounts.models import AnnotatorProfile

if TYPE_CHECKING:
    from annotation.models import Agreement


def paragraph(agreement: Agreement) -> str:
    """The text for the methods section, then the results, then what to cite."""
    study = agreement.study
    people = list(study.annotators.values_list("user", flat=True))
    profiles = AnnotatorProfile.objects.filter(user__in=people)
    backgrounds = Counter(profile.get_background_display().lower() for profile in profiles)
    results = (agreement.result or {})["questions"]
    scales = {result["scale"] for result in results}
    context = {
        "agreement": agreement,
        "study": study,
        "n_annotators": len(people),
        "backgrounds": sorted(backgrounds.items()),
        "n_items": max((result["n_items"] for result in results), default=0),
        "n_verdicts": max((result["n_verdicts"] for result in results), default=0),
        "has_kinds": bool(scales & {"categories", "ordered"}),
        "has_order": bool(scales & {"score", "ordered"}),
        "has_scores": "score" in scales,
        "has_reml": any(r["scale"] == "score" and r["icc"]["method"] == "reml" for r in results),
        "results": [(result, coefficients.fitting(result)) for result in results],
    }
    return render_to_string("annotation/agreement/methods.txt", context)
