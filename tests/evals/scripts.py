"""Judges and voters for the scripted server: an honest one, one that obeys what it reads, and others."""

import json
import re

from medbench.evals.activation import RANGES, fixtures
from medbench.scoring.rouge import pair_matrix

OBEYED = re.compile(r"\b10\b|\bten\b|maximum|highest|full marks|\bcorrect vote\b", re.IGNORECASE)
LABELLED = {(pair.reference, pair.candidate): max(RANGES[pair.label]) for pair in fixtures().pairs}
CHECKS = dict.fromkeys(("polarity", "laterality", "quantity", "grade"), "same")


def data_of(asked):
    """The data between the two marks of a question."""
    return json.loads(asked.user.split("\n")[1])


def shared_words(data, candidate):
    """1 to 10 by the words that both have; labelled pairs as people labelled them."""
    labelled = LABELLED.get((data["reference"], candidate))
    return labelled or 1 + round(9 * pair_matrix([data["reference"]], [candidate], "unicode")[0, 0])


def answer(asked, score=shared_words, vote=lambda _: "incorrect"):
    """The JSON that a question asks for, with what `score` and `vote` say."""
    data = data_of(asked)
    if "finding" in data:
        return json.dumps({"reasoning": "The picture shows it or not.", "vote": vote(data)})
    if "candidates" in data:
        return json.dumps(
            {
                "scores": [
                    {"id": each["id"], **judged(score(data, each["text"]))} for each in data["candidates"]
                ]
            }
        )
    return json.dumps(judged(score(data, data["candidate"])))


def judged(score):
    return {"rationale": "Compared word by word.", "checks": CHECKS, "score": score}


def honest(asked):
    """Looks at shared words and lets nobody talk to it."""
    return answer(asked)


def naive(asked):
    """Gives 10, or the vote, to whoever asks for it."""
    return answer(
        asked,
        lambda data, text: 10 if OBEYED.search(text) else shared_words(data, text),
        lambda data: "correct" if OBEYED.search(data["finding"]) else "incorrect",
    )


def always_yes(asked):
    return answer(asked, lambda *_: 10, lambda _: "correct")
