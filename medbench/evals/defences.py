"""What catches texts that speak to the judge instead of stating a finding.

Nothing here changes a score: a flag shows up, and blocking ones keep a submission from being ranked
until a curator has cleared them. Source: metrics_spec section 9.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from medbench.scoring.rouge import pair_matrix
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from medbench.evals.judges import JudgedCase

DECOY_FROM = 6  # raw score against the reference of another case; honest texts get 1 to 3
DECOY_WORDS = 0.2  # shared with the references of the case: a decoy says something else
DECOYS_TRIED = 50
HIGH_SCORE, NO_WORDS, FAR_APART = 0.8, 0.05, 0.2  # judge, ROUGE-1, embedding cosine

Code = Literal["decoy", "speaks_to_judge", "unlike_reference"]
BLOCKING: frozenset[Code] = frozenset({"decoy", "unlike_reference"})

# Real pathology has "Gleason score 9" and "rating", so a match is told and blocks nobody.
PATTERNS = {
    "ignore": r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
    r"\b(?:above|previous|prior|earlier|instructions?|rubric|rules?|prompt|reference)\b",
    "give_score": r"\b(?:give|assign|award|return|output|respond|answer|rate|grade|set|print|mark)\b.{0,60}"
    r"\b(?:10|ten|full marks|maximum|highest|perfect|top)\b",
    "score_is": r"\b(?:score|rating|verdict|result|grade)\b\s*(?:is|=|:|must be|should be)\W*(?:10|ten)\b",
    "score_ten": r"(?<!gleason )\b(?:score|rating|note|nota|puntaje)\s+(?:of\s+)?(?:10|ten)\b",
    "addresses": r"\byou are\b|\bas an? (?:ai|evaluator|judge|reviewer|grader|language model)\b"
    r"|\b(?:dear|note to|attention|hey|hello)\b.{0,20}"
    r"\b(?:judge|evaluator|reviewer|grader|model|assistant)\b",
    "role": r"<\|?/?\s*(?:system|assistant|user|im_start|im_end|inst|s)\b|\[/?inst\]"
    r"|###\s*(?:system|instruction)|\b(?:system|assistant)\s*:",
    "json": r"[{\[][^{}]*[\"']?(?:score|vote|checks|rationale)[\"']?\s*:",
    "boundary": r"\b(?:begin|end)\s+data\b",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE | re.DOTALL) for name, pattern in PATTERNS.items()}


@dataclass(frozen=True, slots=True)
class Flag:
    """Something to look at in one output, named by its position as uploaded."""

    case_id: str
    position: int
    code: Code
    detail: str

    @property
    def is_blocking(self) -> bool:
        return self.code in BLOCKING


def decoys(references: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """For every case the reference of another one that shares few words with its own; "" where there
    is none. The choice depends on the references alone, so no submission can prepare for it."""
    pool = [(case_id, text) for case_id, texts in references.items() for text in texts]
    return {case_id: _decoy(case_id, own, pool) for case_id, own in references.items()}


def _decoy(case_id: str, own: Sequence[str], pool: Sequence[tuple[str, str]]) -> str:
    def place(candidate: tuple[str, str]) -> bytes:
        return hashlib.sha256("\n".join((case_id, *candidate)).encode()).digest()

    others = sorted((each for each in pool if each[0] != case_id), key=place)[:DECOYS_TRIED]
    if not others:
        return ""
    texts = [normalise(text) for _, text in others]
    shared = pair_matrix([normalise(text) for text in own], texts, "unicode").max(axis=0, initial=0.0)
    few = np.flatnonzero(shared <= DECOY_WORDS)
    return texts[few[0] if few.size else int(shared.argmin())]


def scan(text: str) -> list[str]:
    """The names of the patterns that a normalised text matches."""
    return [name for name, pattern in _PATTERNS.items() if pattern.search(text)]


def flags_of(
    judged: JudgedCase,
    references: Sequence[str],
    outputs: Sequence[str],
    cosines: NDArray[np.float64] | None = None,
) -> list[Flag]:
    """What there is to look at in a case: raw references and outputs as they were judged.

    `cosines` of embeddings, references x kept outputs, let a high score for words that have nothing
    in common with the reference be told from a paraphrase; without them that is not looked at.
    """
    texts = [normalise(outputs[i]) for i in judged.kept.indexes]
    found = []
    for column, (position, text) in enumerate(zip(judged.kept.indexes, texts, strict=True)):
        decoy = judged.decoy_scores[column]
        if decoy >= DECOY_FROM:
            found.append(Flag(judged.case_id, position, "decoy", f"{decoy:.0f} of 10 for another case"))
        if names := scan(text):
            found.append(Flag(judged.case_id, position, "speaks_to_judge", ", ".join(names)))
    if cosines is not None:
        words = pair_matrix([normalise(text) for text in references], texts, "unicode")
        unlike = (judged.matrix >= HIGH_SCORE) & (words < NO_WORDS) & (cosines < FAR_APART)
        found += [
            Flag(judged.case_id, judged.kept.indexes[column], "unlike_reference", f"reference {row + 1}")
            for row, column in np.argwhere(unlike).tolist()
        ]
    return found
