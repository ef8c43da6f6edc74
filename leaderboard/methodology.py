"""What the page on methods says of one profile: taken from the profile and from the constants that
scoring runs with, so that the page cannot say another number than the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings

from medbench.evals import defences, prompts
from medbench.evals.activation import LEAST_ACCURACY, MOST_INFLATION
from medbench.evals.judges import CAP
from medbench.evals.reports import PROVISIONAL_WITHIN
from medbench.scoring.checks import NEAR_DUPLICATE
from medbench.scoring.intervals import FEWEST_CASES, LEVEL, RESAMPLES
from medbench.scoring.novelty import STRIP
from medbench.scoring.ranking import ALPHA
from medbench.scoring.testing import BOOTSTRAP_FROM, ENUMERATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leaderboard.models import EvaluatorProfile
    from medbench.evals.prompts import Kind

SECTIONS = (
    ("limits", "What these numbers cannot say"),
    ("recall", "Recall"),
    ("precision", "Precision"),
    ("f1", "F1"),
    ("pairs", "The score of a pair"),
    ("judges", "Judges"),
    ("novelty", "Novelty"),
    ("coverage", "Coverage"),
    ("intervals", "Intervals"),
    ("tests", "Tests and ranks"),
    ("floors", "Floors"),
    ("usage", "Usage"),
    ("published", "Published rows"),
    ("provenance", "Provenance"),
)
"""Anchors are addresses: boards and columns link to them."""
OF_JUDGES = {"judges", "novelty", "coverage"}
PROMPT_WORDS = {
    "pairwise": "Prompt: one pair",
    "row": "Prompt: a row of candidates",
    "vote": "Prompt: vote on a new finding",
}


def about(profile: EvaluatorProfile) -> dict[str, Any]:
    """The context of the page."""
    has_judges = profile.metric == "judges"
    return {
        "profile": profile,
        "has_judges": has_judges,
        "sections": [each for each in SECTIONS if has_judges or each[0] not in OF_JUDGES],
        "tokeniser": profile.config["tokeniser"],
        "software": settings.VERSION,
        "prompts": _prompts(profile.config),
        "constants": CONSTANTS,
        "limits": {
            "characters": settings.INSIGHT_MAX_CHARACTERS,
            "insights": settings.INSIGHTS_MAX_PER_CASE,
        },
    }


CONSTANTS: dict[str, Any] = {
    "resamples": RESAMPLES,
    "level": LEVEL,
    "fewest_cases": FEWEST_CASES,
    "bootstrap_from": BOOTSTRAP_FROM,
    "enumerated": ENUMERATED,
    "alpha": ALPHA,
    "strip": ", ".join(f"{tau:.1f}" for tau in STRIP),
    "near_duplicate": NEAR_DUPLICATE,
    "cap": CAP,
    "lowest": prompts.LOWEST,
    "highest": prompts.HIGHEST,
    "decoy_from": defences.DECOY_FROM,
    "provisional": PROVISIONAL_WITHIN,
    "inflation": MOST_INFLATION,
    "accuracy": LEAST_ACCURACY,
    "smallest_p": f"1/{RESAMPLES + 1:,}",
}


def _prompts(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the profile's models are told. A text that this software no longer has is named by its
    digest alone."""
    shown = []
    for kind, digest in config.get("prompts", {}).items():
        is_here = kind in prompts.SYSTEM and prompts.sha256_of(kind) == digest
        text = prompts.SYSTEM[cast("Kind", kind)] if is_here else ""
        shown.append(
            {
                "title": PROMPT_WORDS.get(kind, kind),
                "text": text,
                "n_words": len(text.split()),
                "sha256": digest,
            }
        )
    return shown
