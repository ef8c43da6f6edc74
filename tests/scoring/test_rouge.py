"""ROUGE-1 against the library that the field uses, bit by bit."""

import subprocess
import sys
from unicodedata import category, normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from medbench.scoring.rouge import PROFILES, matrix_of_words, pair_matrix, tokenise

WORDS = [
    "tumour",
    "tumours",
    "invaded",
    "invasion",
    "3",
    "5",
    "3.5",
    "T1a",
    "ki-67",
    "β",
    "µm",
    "The",
    "the",
    "肿瘤",
]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=30), max_size=6
)
SCORERS = {
    "parity-ascii": RougeScorer(["rouge1"], use_stemmer=False),
    "porter": RougeScorer(["rouge1"], use_stemmer=True),
}


@pytest.mark.parametrize("profile", SCORERS)
@given(references=TEXTS, outputs=TEXTS)
def test_every_pair_equals_rouge_score_to_the_last_bit(profile, references, outputs):
    scorer = SCORERS[profile]
    expected = [[scorer.score(r, o)["rouge1"].fmeasure for o in outputs] for r in references]
    found = pair_matrix(references, outputs, profile)
    assert found.shape == (len(references), len(outputs))
    assert found.tolist() == expected


@pytest.mark.parametrize("profile", PROFILES)
@given(references=TEXTS, outputs=TEXTS)
def test_pairs_are_symmetric_and_bounded(profile, references, outputs):
    matrix = pair_matrix(references, outputs, profile)
    assert np.array_equal(matrix, pair_matrix(outputs, references, profile).T)
    assert np.all((matrix >= 0) & (matrix <= 1))


@pytest.mark.parametrize("profile", PROFILES)
@given(text=st.text(max_size=40))
def test_a_text_with_words_equals_itself(profile, text):
    score = pair_matrix([text], [text], profile)[0, 0]
    assert score == (1 if tokenise(text, profile) else 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("β-catenin, Ki-67: 15.5 %", ["β", "catenin", "ki", "67", "15.5"]),
        ("３．５ cm × ½", ["3.5", "cm", "1", "2"]),
        ("ends at 5. Next", ["ends", "at", "5", "next"]),
        ("3.5.1 pT2.5 a.5 snake_case", ["3.5.1", "pt2.5", "a", "5", "snake", "case"]),
        ("嫌色性 carcinoma癌", ["嫌", "色", "性", "carcinoma", "癌"]),
        ("テスト・ひらがな 가나", ["テ", "ス", "ト", "ひ", "ら", "が", "な", "가", "나"]),
        ("ट्यूमर naïve STRASSE straße", ["ट्यूमर", "naïve", "strasse", "strasse"]),
        ("опухоль", ["опухоль"]),
        ("— …", []),
    ],
)
def test_words_in_every_script(text, words):
    assert tokenise(text, "unicode") == words


@given(st.text(st.characters(exclude_categories=["Cn", "Cs"]), max_size=60))
def test_unicode_words_hold_every_letter_and_digit_once(text):
    letters = [c for c in normalize("NFKC", text).casefold() if category(c)[0] in "LMN"]
    assert "".join(tokenise(text, "unicode")).replace(".", "") == "".join(letters)


@given(st.text("abz019.,- _A", max_size=20))
def test_ascii_words_are_the_same_beside_other_scripts(text):
    assert tokenise(f"{text} β", "unicode") == [*tokenise(text, "unicode"), "β"]


def test_shared_words_are_counted_as_often_as_both_have_them():
    matrix = matrix_of_words([["a", "a", "b"]], [["a"], ["a", "a", "a"], ["b", "c"]])
    assert matrix[0] == pytest.approx([2 / 4, 4 / 6, 2 / 5])


def test_the_stemmer_is_loaded_only_for_its_profile():
    code = (
        "import sys; from medbench.scoring.rouge import pair_matrix; pair_matrix(['a'], ['a'], 'unicode');"
        "print('nltk' in sys.modules, 'django' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
