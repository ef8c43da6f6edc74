"""From the text of a model to an answer: the last valid JSON object counts, or nothing does.

Never the first number found, never a guess. A text that quotes an answer before the real one does not
change it, since the last one counts. Source: metrics_spec section 9.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from medbench.evals.prompts import CHECKED, CHECKS, HIGHEST, LOWEST, VOTES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from medbench.evals.prompts import Kind

LEAST_PROBABLE = 0.01  # alternatives below it carry nothing
LONGEST = 50_000  # characters of a reply that are looked at, from its end
BRACES = 500  # that may begin an object, from the end; a row of 40 has 81
_DECODER = json.JSONDecoder()
_SCORE_IN_TEXT = re.compile(r'"score"\s*:\s*(\d+)')


class BadReply(Exception):
    """No answer in it; `reason` is a code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse(kind: Kind, text: str, ids: Collection[str] = ()) -> dict[str, Any]:
    """The last valid answer in a text. Raises BadReply `out_of_range` where the last one that looks
    like an answer has another score or vote than is offered, else `no_json`."""
    for found in objects_from_the_end(text[-LONGEST:]):
        answer = _PARSERS[kind](found, ids)
        if answer is not None:
            return answer
    raise BadReply("no_json")


def objects_from_the_end(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text, the last one first."""
    found: list[dict[str, Any]] = []
    end = 0
    for start in [match.start() for match in re.finditer("{", text)][-BRACES:]:
        if start < end:  # inside the last one
            continue
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, start)
            found.append(value)
    yield from reversed(found)


def _judged(found: dict[str, Any], _: Collection[str] = ()) -> dict[str, Any] | None:
    """One score with what was checked; None where it is none."""
    if "score" not in found:
        return None
    score = found["score"]
    if isinstance(score, bool) or not isinstance(score, int) or not LOWEST <= score <= HIGHEST:
        raise BadReply("out_of_range")
    checks = found.get("checks")
    told = checks if isinstance(checks, dict) else {}
    return {
        "score": score,
        "checks": {name: told[name] for name in CHECKS if told.get(name) in CHECKED},
        "rationale": str(found.get("rationale") or ""),
    }


def _row(found: dict[str, Any], ids: Collection[str]) -> dict[str, Any] | None:
    """Every candidate once, or nothing: a row that lost one is asked again."""
    rows = found.get("scores")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    by_id = {str(row.get("id")): _judged(row) for row in rows}
    if len(rows) != len(ids) or by_id.keys() != set(ids) or None in by_id.values():
        return None
    return {"scores": [{"id": id_, **(by_id[id_] or {})} for id_ in ids]}


def _vote(found: dict[str, Any], _: Collection[str]) -> dict[str, Any] | None:
    if "vote" not in found:
        return None
    if found["vote"] not in VOTES:
        raise BadReply("out_of_range")
    return {"vote": found["vote"], "reasoning": str(found.get("reasoning") or "")}


_PARSERS: dict[Kind, Callable[[dict[str, Any], Collection[str]], dict[str, Any] | None]] = {
    "pairwise": _judged,
    "row": _row,
    "vote": _vote,
}


def expected_score(tokens: Sequence[tuple[str, Mapping[str, float]]], raw: int) -> float | None:
    """The score weighted by the probabilities of the legal scores at its token, renormalised.

    `tokens` are those of the whole reply, each with its alternatives and their probabilities. None,
    so that the raw score stands unweighted, where the score is not one token ("1" and "0"), where no
    alternative is legal, and where "1" may be the beginning of a 10.
    """
    alternatives = _alternatives_of(tokens, str(raw))
    legal: dict[int, float] = {}
    for token, probability in (alternatives or {}).items():
        text = token.strip()
        if text.isdecimal() and LOWEST <= int(text) <= HIGHEST and probability >= LEAST_PROBABLE:
            legal[int(text)] = legal.get(int(text), 0.0) + probability
    if not legal or (1 in legal and HIGHEST not in legal):
        return None
    return math.fsum(score * p for score, p in legal.items()) / math.fsum(legal.values())


def _alternatives_of(
    tokens: Sequence[tuple[str, Mapping[str, float]]], digits: str
) -> Mapping[str, float] | None:
    """The alternatives of the token that is the last score of the text and nothing else."""
    text = "".join(token for token, _ in tokens)
    scores = list(_SCORE_IN_TEXT.finditer(text))
    if not scores or scores[-1][1] != digits:
        return None
    last = scores[-1]
    start = 0
    for token, alternatives in tokens:
        end = start + len(token)
        if start <= last.start(1) and last.end(1) <= end:
            return alternatives if token.strip() == digits else None
        start = end
    return None
