"""How much the outputs of a method repeat one another, over a whole submission.

Words are those of `parity-ascii`. Source: metrics_spec section 8.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from medbench.scoring.rouge import tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence

BLEU_ORDERS = (1, 2, 3, 4)
FEWEST_WORDS = 4  # of a sentence that BLEU-4 can measure
TOO_FEW_TEXTS = "too_few_texts"
NO_BIGRAM = "no_bigram"


class Measure(NamedTuple):
    """A value in [0, 1], or None and the reason. `n` texts were measured, `n_excluded` could not be."""

    value: float | None
    n: int
    n_excluded: int = 0
    reason: str = ""


def tfidf_cosine(texts: Sequence[str]) -> Measure:
    """Mean cosine of the TF-IDF vectors of all unordered pairs of texts.

    Words of two characters and more; idf = ln((1+N)/(1+df)) + 1. The mean over pairs comes from
    the length of the sum of the unit vectors: no pair is looked at.
    """
    return tfidf_cosine_within([texts])


def tfidf_cosine_within(groups: Sequence[Sequence[str]]) -> Measure:
    """The same over all pairs of texts of one group (say, a case); idf is that of all texts."""
    vectors = iter(_unit_vectors([text for texts in groups for text in texts]))
    total, n_pairs, n = 0.0, 0, 0
    for texts in groups:
        total += _sum_of_cosines(list(islice(vectors, len(texts))))
        n_pairs += len(texts) * (len(texts) - 1)
        n += len(texts)
    if not n_pairs:
        return Measure(None, n, reason=TOO_FEW_TEXTS)
    return Measure(_share(total / n_pairs), n)


def _unit_vectors(texts: Sequence[str]) -> list[dict[str, float]]:
    counts = [Counter(word for word in tokenise(text) if len(word) >= 2) for text in texts]
    n_with = Counter(word for count in counts for word in count)
    idf = {word: math.log((1 + len(texts)) / (1 + df)) + 1 for word, df in n_with.items()}
    vectors = []
    for count in counts:
        weights = {word: times * idf[word] for word, times in count.items()}
        length = math.hypot(*weights.values())
        vectors.append({word: weight / length for word, weight in weights.items()})
    return vectors


def _sum_of_cosines(vectors: Sequence[dict[str, float]]) -> float:
    """Over all ordered pairs; vectors have length 1, or no word."""
    total: defaultdict[str, float] = defaultdict(float)
    for vector in vectors:
        for word, weight in vector.items():
            total[word] += weight
    return math.fsum(weight * weight for weight in total.values()) - sum(map(bool, vectors))


def self_bleu(texts: Sequence[str]) -> Measure:
    """Mean BLEU-4 of every text against all others: uniform weights, closest reference length, no
    smoothing. Texts of fewer than four words are left out and counted."""
    return self_bleu_within([texts])


def self_bleu_within(groups: Sequence[Sequence[str]]) -> Measure:
    """The same against the others of the own group; the mean is over all texts that have others."""
    scores: list[float] = []
    for texts in groups:
        found = [words for words in map(tokenise, texts) if len(words) >= FEWEST_WORDS]
        if len(found) >= 2:
            scores += _bleus(found)
    n = sum(map(len, groups))
    if not scores:
        n_short = sum(len(tokenise(text)) < FEWEST_WORDS for texts in groups for text in texts)
        return Measure(None, n - n_short, n_short, TOO_FEW_TEXTS)
    return Measure(_share(math.fsum(scores) / len(scores)), len(scores), n - len(scores))


def _bleus(sentences: Sequence[Sequence[str]]) -> list[float]:
    precisions = [_clipped_precisions(sentences, order) for order in BLEU_ORDERS]
    penalties = _brevity_penalties([len(words) for words in sentences])
    return [
        penalty * math.prod(shares) ** (1 / len(shares))
        for penalty, *shares in zip(penalties, *precisions, strict=True)
    ]


def distinct_2(texts: Sequence[str]) -> Measure:
    """Different bigrams per bigram, pooled over texts; a bigram never crosses texts."""
    return distinct_2_within([texts])


def distinct_2_within(groups: Sequence[Sequence[str]]) -> Measure:
    """The same where a bigram of one group is different from that of another."""
    bigrams = Counter(
        (i, pair) for i, texts in enumerate(groups) for text in texts for pair in _ngrams(tokenise(text), 2)
    )
    n = sum(map(len, groups))
    if not bigrams:
        return Measure(None, n, reason=NO_BIGRAM)
    return Measure(len(bigrams) / bigrams.total(), n)


# By the names that files and pages give them: over all texts, and over those of a case alone.
MEASURES = {"tfidf_cosine": tfidf_cosine, "self_bleu": self_bleu, "distinct_2": distinct_2}
MEASURES_WITHIN = {
    "tfidf_cosine": tfidf_cosine_within,
    "self_bleu": self_bleu_within,
    "distinct_2": distinct_2_within,
}


def _ngrams(words: Sequence[str], order: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[i:] for i in range(order)), strict=False))


def _clipped_precisions(sentences: Sequence[Sequence[str]], order: int) -> list[float]:
    """The share of each sentence's n-grams that others have as often.

    Linear in the text: of each n-gram the two highest counts and the holder of the highest are
    enough to know the highest count in all *other* sentences.
    """
    counts = [Counter(_ngrams(words, order)) for words in sentences]
    first: dict[tuple[str, ...], tuple[int, int]] = {}  # n-gram -> (count, sentence)
    second: Counter[tuple[str, ...]] = Counter()
    for i, count in enumerate(counts):
        for gram, times in count.items():
            highest, _ = first.get(gram, (0, i))
            if times > highest:
                first[gram], second[gram] = (times, i), highest
            else:
                second[gram] = max(second[gram], times)
    return [
        sum(
            min(times, second[gram] if first[gram][1] == i else first[gram][0])
            for gram, times in count.items()
        )
        / count.total()
        for i, count in enumerate(counts)
    ]


def _brevity_penalties(lengths: Sequence[int]) -> list[float]:
    """exp(1 - r/c) where the closest other length r is larger than the own length c, else 1."""
    n_of = Counter(lengths)
    ordered = sorted(n_of)
    penalties = []
    for length in lengths:
        i = bisect_left(ordered, length)
        others = ordered[max(i - 1, 0) : i] + ordered[i + 1 : i + 2] + [length] * (n_of[length] > 1)
        closest = min(others, key=lambda other: (abs(other - length), other))
        penalties.append(min(1.0, math.exp(1 - closest / length)))
    return penalties


def _share(value: float) -> float:
    """A value that is in [0, 1] but for rounding."""
    return min(max(value, 0.0), 1.0)
