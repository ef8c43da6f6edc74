"""A whole submission as its judges see it: complete or not, bounds, flags, and how far to trust it.

Source: metrics_spec section 9.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medbench.scoring.agreement.alpha import alpha
from medbench.scoring.agreement.table import RatingsTable, code
from medbench.scoring.matching import aggregate
from medbench.scoring.novelty import sensitivity

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from medbench.evals.defences import Flag
    from medbench.evals.judges import JudgedCase
    from medbench.evals.profiles import EvaluatorProfile, JudgeModel
    from medbench.scoring.matching import Totals

PROVISIONAL_WITHIN = 0.002  # of the F1 bounds: shown, still not ranked
FEWEST_POINTS = 10  # for a slope
FAMILIES = {
    "openai": ("gpt", "openai", "chatgpt", "o1", "o3", "o4"),
    "google": ("gemini", "gemma", "medgemma", "palm", "google"),
    "anthropic": ("claude", "anthropic"),
    "qwen": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "llama": ("llama", "vicuna", "llava"),
    "mistral": ("mistral", "mixtral", "pixtral"),
    "internvl": ("internvl", "internlm"),
}


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """One judge on one submission."""

    name: str
    revisions: tuple[str, ...]  # as reported
    n_verdicts: int
    n_unscored: int
    n_weighted: int
    n_over_the_cap: int  # scores above 2 although a check differs: the judge broke its rubric
    mean: float | None  # score in [0, 1]
    log_length_slope: float | None  # score per factor e of the output's length
    position_change: float | None  # mean absolute change in the reverse order (row mode)
    same_family: bool  # as the submitted backbone: scores may favour it

    @property
    def is_mixed(self) -> bool:
        """Whether some scores are weighted by probabilities and some are not."""
        return 0 < self.n_weighted < self.n_verdicts - self.n_unscored


@dataclass(frozen=True)
class Report:
    """One submission. `totals` are None while a pair is unscored; `f1_bounds` always hold.

    `blocked_by` says why it is not ranked, "" where it may be: incomplete, flagged, mixed_weighting.
    """

    totals: Totals | None
    f1_bounds: tuple[float, float]
    n_pairs: int
    n_scored: int
    n_decoys_unscored: int
    reasons: dict[str, int]  # of unscored verdicts
    flags: tuple[Flag, ...]
    judges: tuple[JudgeReport, ...]
    alpha: float | None  # Krippendorff's, ordinal, of the judges' raw scores of the same pairs
    disagreement: float | None  # mean absolute difference of the first two judges, over their pairs
    original_by_tau: dict[float, float] | None
    blocked_by: str

    @property
    def coverage(self) -> float | None:
        """Scored pairs of all; None without pairs."""
        return self.n_scored / self.n_pairs if self.n_pairs else None

    @property
    def is_provisional(self) -> bool:
        """Incomplete, and whatever the missing pairs are worth changes next to nothing."""
        low, high = self.f1_bounds
        return self.totals is None and high - low < PROVISIONAL_WITHIN


def report(
    profile: EvaluatorProfile,
    cases: Sequence[JudgedCase],
    flags: Collection[Flag] = (),
    *,
    backbone: str = "",
    lengths: Sequence[Sequence[int]] | None = None,
) -> Report:
    """All cases of the split together. `lengths` are the characters of the kept outputs, case by case,
    for the slope of the score on length. Raises InvalidInput without cases."""
    low, high = (aggregate([case.bounds[side] for case in cases]).f1 for side in (0, 1))
    scores = [case.score for case in cases]
    whole = [score for score in scores if score is not None]
    is_complete = len(whole) == len(cases)
    unwatched = sum(case.n_decoys_unscored for case in cases)
    judges = tuple(_judge(i, judge, cases, backbone, lengths or ()) for i, judge in enumerate(profile.judges))
    return Report(
        totals=aggregate(whole) if is_complete else None,
        f1_bounds=(low, high),
        n_pairs=sum(case.n_pairs for case in cases),
        n_scored=sum(case.n_scored for case in cases),
        n_decoys_unscored=unwatched,
        reasons=dict(sum((case.reasons for case in cases), Counter())),
        flags=tuple(flags),
        judges=judges,
        alpha=_alpha(cases),
        disagreement=_disagreement(cases),
        original_by_tau=sensitivity([score.matrix for score in whole]) if is_complete else None,
        blocked_by=_blocked_by(flags, judges, is_complete=is_complete and not unwatched),
    )


def family(model: str) -> str:
    """Who a model comes from, "" where its name does not tell."""
    name = model.casefold().rsplit("/", 1)[-1]
    known = ((start, who) for who, starts in FAMILIES.items() for start in starts)
    return next((who for start, who in known if start in name), "")


def _blocked_by(flags: Collection[Flag], judges: Collection[JudgeReport], *, is_complete: bool) -> str:
    if not is_complete:
        return "incomplete"
    if any(flag.is_blocking for flag in flags):
        return "flagged"
    return "mixed_weighting" if any(judge.is_mixed for judge in judges) else ""


def _judge(
    index: int,
    judge: JudgeModel,
    cases: Sequence[JudgedCase],
    backbone: str,
    lengths: Sequence[Sequence[int]],
) -> JudgeReport:
    cells = [cell for case in cases for row in case.rows for cell in row.cells[index]]
    scored = [cell for cell in cells if cell.raw is not None]
    turns = [row.turns[index] for case in cases for row in case.rows if not math.isnan(row.turns[index])]
    own = family(judge.model)
    return JudgeReport(
        name=judge.name,
        revisions=tuple(sorted({cell.model for cell in scored})),
        n_verdicts=len(cells),
        n_unscored=len(cells) - len(scored),
        n_weighted=sum(cell.expected is not None for cell in scored),
        n_over_the_cap=sum(cell.is_over_the_cap for cell in scored),
        mean=math.fsum(cell.score for cell in scored) / len(scored) if scored else None,
        log_length_slope=_slope(index, cases, lengths),
        position_change=math.fsum(turns) / len(turns) if turns else None,
        same_family=bool(own) and own == family(backbone),
    )


def _slope(index: int, cases: Sequence[JudgedCase], lengths: Sequence[Sequence[int]]) -> float | None:
    """Least squares of an output's mean score on the logarithm of its length."""
    points = [
        (math.log(length), score)
        for case, own in zip(cases, lengths, strict=False)
        for length, score in zip(own, case.by_judge[index].mean(axis=0), strict=True)
        if np.isfinite(score)
    ]
    if len(points) < FEWEST_POINTS:
        return None
    x, y = np.array(points).T
    spread = x.var()
    return float(((x - x.mean()) * (y - y.mean())).mean() / spread) if spread > 0 else None


def _alpha(cases: Sequence[JudgedCase]) -> float | None:
    """Do the judges rank pairs alike? None with one judge, or where all scores are equal."""
    raw = [
        [cell.raw for cell in pair]
        for case in cases
        for row in case.rows
        for pair in zip(*row.cells, strict=True)
    ]
    if not raw or len(raw[0]) < 2:
        return None
    return alpha(code(RatingsTable.from_matrix(raw), "ordinal"), "ordinal").value


def _disagreement(cases: Sequence[JudgedCase]) -> float | None:
    """Over pairs that the first two judges scored; None with one judge."""
    differences = [np.abs(case.by_judge[0] - case.by_judge[1]) for case in cases if len(case.by_judge) > 1]
    values = np.concatenate([each.ravel() for each in differences]) if differences else np.empty(0)
    values = values[np.isfinite(values)]
    return float(values.mean()) if values.size else None
