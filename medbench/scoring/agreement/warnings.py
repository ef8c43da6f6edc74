"""What a reader of the coefficients must know. Messages name no annotator: not everybody may see names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medbench.scoring.agreement.icc import is_connected
from medbench.scoring.agreement.table import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medbench.scoring.agreement.icc import Form
    from medbench.scoring.agreement.table import Coded
    from medbench.scoring.estimate import Estimate

FEW_ITEMS = 30  # an interval from fewer items is rough
SHIFT = 0.05  # ICC(C,1) less ICC(A,1)
MOSTLY = 0.8  # the share of one rating from which chance correction misleads
PARADOX = 0.15  # AC1 less alpha
_MISSING_WORDS = {"na", "n/a", "nan", "null", "none", "missing", "-"}


def warnings_about(
    coded: Coded,
    annotators: Sequence[str],
    alpha: Estimate,
    ac1: Estimate,
    icc: Mapping[Form, Estimate],
) -> Iterator[dict[str, Any]]:
    """Each `{code, message}` and what belongs to the code."""
    per_item = coded.counts.sum(axis=1)
    n_pairable = int((per_item >= 2).sum())
    if n_pairable < FEW_ITEMS:
        message = f"Items with two ratings or more: {n_pairable}. Expect other values from other items."
        yield _warning("low_n", message, n=n_pairable)
    if n_unpaired := int((per_item == 1).sum()):
        message = f"Items with one rating only, which tell nothing of agreement: {n_unpaired}."
        yield _warning("unpaired_ratings", message, n=n_unpaired)
    if n_pairable and not is_connected(coded.codes != MISSING):
        message = "Some annotators share no item with the others, even through third ones: no ICC."
        yield _warning("disconnected_design", message)
    yield from _shift(coded, annotators, icc)
    yield from _paradox(coded, alpha, ac1)
    yield from _constant(coded, annotators)
    if found := [label for label in coded.labels if label.casefold() in _MISSING_WORDS]:
        message = f"“{found[0]}” counts as a rating. Leave the cell empty where a rating is missing."
        yield _warning("looks_missing", message, labels=found)


def _shift(coded: Coded, annotators: Sequence[str], icc: Mapping[Form, Estimate]) -> Iterator[dict[str, Any]]:
    consistency, agreement = icc["ICC(C,1)"].value, icc["ICC(A,1)"].value
    if coded.numbers is None or consistency is None or agreement is None or consistency - agreement <= SHIFT:
        return
    message = (
        "Raters use the scale at different levels: their order of the items agrees more than their ratings."
    )
    means = dict(zip(annotators, np.nanmean(coded.numbers, axis=0).tolist(), strict=True))
    yield _warning("scale_shift", message, rater_means=means)


def _paradox(coded: Coded, alpha: Estimate, ac1: Estimate) -> Iterator[dict[str, Any]]:
    totals = coded.counts.sum(axis=0)
    if alpha.value is None or ac1.value is None:
        return
    share = float(totals.max() / totals.sum())
    if share >= MOSTLY and ac1.value - alpha.value >= PARADOX:
        label = coded.labels[int(totals.argmax())]
        message = (
            f"{share:.0%} of all ratings are “{label}”, so alpha is low by construction: see AC1 beside it."
        )
        yield _warning("paradox", message, label=label, share=share)


def _constant(coded: Coded, annotators: Sequence[str]) -> Iterator[dict[str, Any]]:
    used = [set(column[column != MISSING].tolist()) for column in coded.codes.T]
    times = (coded.codes != MISSING).sum(axis=0)
    found = [
        name for name, labels, n in zip(annotators, used, times, strict=True) if len(labels) == 1 and n >= 3
    ]
    if found and len(set.union(*used)) > 1:
        message = f"Annotators who gave every item the same rating: {len(found)}."
        yield _warning("constant_annotator", message, annotators=found)


def _warning(code: str, message: str, **more: Any) -> dict[str, Any]:
    return {"code": code, "message": message, **more}
