"""Who can be told apart on a board: computed after a change, in the background, and stored."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from leaderboard.models import CaseScore, Ranking
from leaderboard.services.board_scores import seed_for
from leaderboard.standings import Place
from medbench import jobs
from medbench.jobs.models import Job
from medbench.scoring.ablations import ablation_table, interactions
from medbench.scoring.intervals import MOST_RESAMPLES, resample_counts
from medbench.scoring.ranking import rank_entries, resamples_for

if TYPE_CHECKING:
    import uuid

    import numpy as np
    from numpy.typing import NDArray

    from leaderboard.models import Board, Evaluation

    Run = list[tuple[float, float]]

KIND = "leaderboard.rank"


def request(board_pk: uuid.UUID) -> None:
    """Rank the board again, within the caller's transaction. One waiting job answers for any number
    of changes: its row is locked, so that it starts only when this change can be seen."""
    waiting = Job.objects.filter(kind=KIND, state=Job.State.QUEUED, payload__board=str(board_pk))
    if not waiting.select_for_update().first():
        jobs.services.enqueue(KIND, {"board": str(board_pk)})


def compute(board: Board, entries: list[Evaluation]) -> Ranking:
    """The ranking of these evaluations, not stored yet."""
    runs = _runs(entries)
    whole = [each for each in entries if each.pk in runs]
    resamples = min(resamples_for(len(whole)), MOST_RESAMPLES)
    found = Ranking(board=board, resamples=resamples, computed_at=timezone.now())
    if whole:
        n_cases = len(runs[whole[0].pk])
        counts = resample_counts(n_cases, seed=seed_for(board), resamples=resamples)
        found.places = _places(whole, runs, counts, seed_for(board))
        found.ablations = _ablations(whole, runs, counts)
    return found


def store(found: Ranking) -> None:
    """Put it in the place of the board's last one."""
    fields = ("places", "ablations", "resamples", "computed_at")
    Ranking.objects.update_or_create(
        board=found.board, defaults={name: getattr(found, name) for name in fields}
    )


def _runs(entries: list[Evaluation]) -> dict[uuid.UUID, Run]:
    """Evaluation id -> recall and precision of every case, in the order of the release."""
    runs: dict[uuid.UUID, Run] = {}
    scores = CaseScore.objects.filter(evaluation__in=entries, recall__isnull=False, precision__isnull=False)
    rows = scores.order_by("release_case__position").values_list("evaluation", "recall", "precision")
    for pk, recall, precision in rows.iterator(chunk_size=10_000):
        assert recall is not None  # filtered above
        assert precision is not None
        runs.setdefault(pk, []).append((recall, precision))
    return {each.pk: runs[each.pk] for each in entries if len(runs.get(each.pk, ())) == each.n_cases}


def _places(
    entries: list[Evaluation], runs: dict[uuid.UUID, Run], counts: NDArray[np.float64], seed: int
) -> dict[str, Any]:
    found = rank_entries([runs[each.pk] for each in entries], counts, seed=seed)
    first = {each.group: each.rank for each in sorted(found, key=lambda each: -each.rank)}
    places = {}
    for entry, each in zip(entries, found, strict=True):
        low, high = each.rank_interval or (None, None)
        place = Place(each.group, first[each.group], low, high, each.p_first, each.p_holm)
        places[str(entry.pk)] = asdict(place)
    return places


def _ablations(
    entries: list[Evaluation], runs: dict[uuid.UUID, Run], counts: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """For each whole method: its variants with their losses, and what two parts lose together. Of two
    variants without the same parts the newest counts."""
    by_whole: dict[uuid.UUID, dict[frozenset[str], Evaluation]] = {}
    for entry in entries:
        if entry.submission.variant_of_id and entry.submission.without:
            variants = by_whole.setdefault(entry.submission.variant_of_id, {})
            variants[frozenset(entry.submission.without)] = entry
    return [
        _ablation(entry, by_whole[entry.submission_id], runs, counts)
        for entry in entries
        if entry.submission_id in by_whole
    ]


def _ablation(
    whole: Evaluation,
    variants: dict[frozenset[str], Evaluation],
    runs: dict[uuid.UUID, Run],
    counts: NDArray[np.float64],
) -> dict[str, Any]:
    given = {without: runs[each.pk] for without, each in variants.items()}
    table = ablation_table(runs[whole.pk], given, counts)
    return {
        "submission": str(whole.submission_id),
        "variants": [
            {
                "submission": str(variants[each.without].submission_id),
                "without": sorted(each.without),
                "f1": each.f1,
                "recall_loss": each.recall_loss,
                "precision_loss": each.precision_loss,
                "f1_loss": each.loss.difference,
                "interval": each.loss.interval,
                "p_holm": each.p_holm,
            }
            for each in table
        ],
        "interactions": [
            asdict(each) | {"parts": [sorted(parts) for parts in each.parts]}
            for each in interactions(runs[whole.pk], given, counts)
        ],
    }
