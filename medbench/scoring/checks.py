"""The one validator of result files, used by page, API and commands alike."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from medbench.formats.problems import SHOWN
from medbench.formats.results import read_results
from medbench.scoring.matching import kept_outputs
from medbench.scoring.rouge import DEFAULT_PROFILE, Profile, matrix_of_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from medbench.formats.problems import Findings, Place
    from medbench.formats.results import CaseResult, Limits, ReadResults

DECIMALS = 9  # 0.90 is 0.90 whatever the last bits
NEAR_DUPLICATE = 0.90  # ROUGE-1 of two outputs of a case that say nearly the same


def check_results(
    data: bytes,
    *,
    case_ids: Collection[str],
    left_out: Collection[str] = (),
    limits: Limits | None = None,
    profile: Profile = DEFAULT_PROFILE,
    file: str = "",
    keep: int = SHOWN,
) -> ReadResults:
    """Read and check a result file; never raises on bad data.

    Beside `formats.results.read_results` it warns of insights that scoring under `profile` leaves
    out (`empty_insight`, `duplicate_insight`) and of those that look padded
    (`near_duplicate_insight`, which are scored).
    """
    return read_results(
        data,
        case_ids=case_ids,
        left_out=left_out,
        limits=limits,
        file=file,
        keep=keep,
        also=partial(_look_at, profile),
    )


def _look_at(profile: Profile, case: CaseResult, findings: Findings, place: Place) -> None:
    kept = kept_outputs([output.insight for output in case.outputs], profile)
    for i in kept.empty:
        findings.warning("empty_insight", "The insight is blank: it is not scored.", _at(place, i))
    for i, first in kept.same_as.items():
        message = f"The same words as insights[{first}]: it is not scored."
        findings.warning("duplicate_insight", message, _at(place, i))
    scores = matrix_of_words(kept.words, kept.words).round(DECIMALS)
    for column, i in enumerate(kept.indexes):
        near = np.flatnonzero(scores[:column, column] >= NEAR_DUPLICATE)
        if near.size:
            row = near[0]
            message = (
                f"Nearly insights[{kept.indexes[row]}]: they share {scores[row, column]:.0%} of their words."
            )
            findings.warning("near_duplicate_insight", message, _at(place, i))


def _at(place: Place, i: int) -> Place:
    return (*place, "insights", i)
