"""Redundancy of outputs against direct definitions."""

import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medbench.scoring.redundancy import distinct_2, self_bleu, tfidf_cosine
from medbench.scoring.rouge import tokenise

WORDS = st.sampled_from(["aa", "bb", "cc", "dd", "e", "aa bb cc dd"])
TEXTS = st.lists(st.lists(WORDS, max_size=9).map(" ".join), max_size=7)


def slow_tfidf(texts):
    """Every pair by itself."""
    counts = [Counter(word for word in tokenise(text) if len(word) > 1) for text in texts]
    df = Counter(word for count in counts for word in count)
    idf = {word: math.log((1 + len(texts)) / (1 + n)) + 1 for word, n in df.items()}
    cosines = []
    for a, b in combinations([{w: n * idf[w] for w, n in count.items()} for count in counts], 2):
        norm = math.hypot(*a.values()) * math.hypot(*b.values())
        cosines.append(sum(a[w] * b.get(w, 0) for w in a) / norm if norm else 0)
    return sum(cosines) / len(cosines)


def slow_self_bleu(texts):
    """Papineni et al. 2002, every sentence against all others."""
    sentences = [words for words in map(tokenise, texts) if len(words) >= 4]
    scores = []
    for i, words in enumerate(sentences):
        others = sentences[:i] + sentences[i + 1 :]
        product = 1.0
        for n in (1, 2, 3, 4):
            own = Counter(zip(*(words[k:] for k in range(n)), strict=False))
            theirs = [Counter(zip(*(other[k:] for k in range(n)), strict=False)) for other in others]
            clipped = sum(min(own[g], max(t[g] for t in theirs)) for g in own)
            product *= clipped / own.total()
        closest = min((abs(len(o) - len(words)), len(o)) for o in others)[1]
        scores.append(min(1, math.exp(1 - closest / len(words))) * product**0.25)
    return sum(scores) / len(scores)


@settings(max_examples=200)
@given(TEXTS.filter(lambda texts: len(texts) > 1))
def test_tfidf_without_pairs_equals_the_mean_over_pairs(texts):
    assert tfidf_cosine(texts).value == pytest.approx(slow_tfidf(texts), abs=1e-12)


@settings(max_examples=200)
@given(TEXTS)
def test_self_bleu_in_one_pass_equals_the_definition(texts):
    found = self_bleu(texts)
    long = [text for text in texts if len(tokenise(text)) >= 4]
    assert found.n == len(long)
    assert found.n_excluded == len(texts) - len(long)
    if len(long) < 2:
        assert (found.value, found.reason) == (None, "too_few_texts")
    else:
        assert found.value == pytest.approx(slow_self_bleu(texts), abs=1e-12)


def test_a_short_text_is_penalised_by_the_closest_other():
    texts = ["a b c d", "a b c d e f", "a b c d e f g h"]
    lengths = [math.exp(1 - 6 / 4), 1, 1]  # 6 is nearer to 4 than 8; 4 and 8 are as near to 6: the shorter
    precisions = [1, 1, (6 / 8 * 5 / 7 * 4 / 6 * 3 / 5) ** 0.25]
    expected = sum(p * b for p, b in zip(precisions, lengths, strict=True)) / 3
    assert self_bleu(texts).value == pytest.approx(expected)


def test_repeats_are_wholly_redundant():
    texts = ["invasive ductal carcinoma of the breast"] * 3
    assert tfidf_cosine(texts).value == pytest.approx(1)
    assert self_bleu(texts).value == pytest.approx(1)
    assert distinct_2(texts).value == pytest.approx(1 / 3)


@pytest.mark.parametrize("texts", [[], ["one text alone here"]])
def test_what_needs_two_texts_is_undefined_for_less(texts):
    for measure in (tfidf_cosine, self_bleu):
        assert measure(texts).value is None
        assert measure(texts).reason == "too_few_texts"


@pytest.mark.parametrize("texts", [[], ["a", "b"], ["肿瘤", "转移"]])
def test_without_bigrams_there_is_no_share(texts):
    assert (distinct_2(texts).value, distinct_2(texts).reason) == (None, "no_bigram")


def test_texts_without_words_share_nothing():
    assert tfidf_cosine(["肿瘤", "a b", "…"]).value == 0
