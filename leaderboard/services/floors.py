"""Two floors of a board: what answers score that hold no insight into the case at all.

Without them a reader cannot tell a low score from none: common words alone match any reference.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from leaderboard.models import Board, Floor
from leaderboard.services.board_scores import SUMS, references_of, seed_for, totals, word_profile
from medbench.scoring.matching import score_case
from medbench.scoring.rouge import tokenise
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from leaderboard.services.board_scores import References
    from medbench.jobs.attempt import Attempt
    from medbench.scoring.rouge import Profile

KIND = "leaderboard.floors"


def compute(attempt: Attempt) -> None:
    """Score the floors of a board that are not there yet. Source: metrics_spec section 1."""
    board = Board.objects.select_related("release", "profile").get(pk=attempt.payload["board"])
    cases, profile = references_of(board), word_profile(board)
    answers = {Floor.Kind.FREQUENT_WORDS: _frequent_words(cases, profile)}
    if len(cases) > 1:
        answers[Floor.Kind.OTHER_CASE] = _other_cases(cases, seed_for(board))
    for kind, outputs in answers.items():
        pairs = zip(cases, outputs, strict=True)
        scores = [score_case(case.texts, output, profile) for case, output in pairs]
        found = totals(board, scores)
        with attempt.writing():
            Floor.objects.get_or_create(board=board, kind=kind, defaults={name: found[name] for name in SUMS})


def _other_cases(cases: list[References], seed: int) -> list[list[str]]:
    """For each case the references of another one, drawn by the board's seed."""
    drawn = random.Random(seed)  # noqa: S311  # a reproducible draw, no secret
    return [drawn.choice([other for other in cases if other is not case]).texts for case in cases]


def _frequent_words(cases: list[References], profile: Profile) -> list[list[str]]:
    """For every case the same single output: the words that stand in most references, as many as a
    reference has on average."""
    references = [tokenise(normalise(text), profile) for case in cases for text in case.texts]
    length = round(sum(len(words) for words in references) / len(references))
    in_references = Counter(word for words in references for word in sorted(set(words)))
    output = " ".join(word for word, _ in in_references.most_common(length))
    return [[output]] * len(cases)
