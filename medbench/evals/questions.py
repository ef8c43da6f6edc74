"""What is asked of a model, and what came of it: questions with their content key, and verdicts."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from medbench.evals import prompts
from medbench.evals.profiles import JudgeModel, canonical_json, sha256

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Status = Literal["scored", "unscored"]

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_500
OUTPUT_TOKENS: dict[prompts.Kind, int] = {"pairwise": 110, "row": 110, "vote": 220}  # of one answer


@dataclass(frozen=True)
class Question:
    """One question to one model. `data` is canonical JSON; `ids` name the candidates of a row."""

    kind: prompts.Kind
    model: JudgeModel
    data: str
    ids: tuple[str, ...] = ()
    image: bytes | None = field(default=None, repr=False, compare=False)  # PNG
    image_sha256: str = ""

    @cached_property
    def key(self) -> str:
        """The content key: equal for equal questions to the same model in the same version, whoever
        asks. It names no submission and no person, so equal pairs are judged once."""
        about = {
            "kind": self.kind,
            "model": asdict(self.model),
            "prompt": prompts.sha256_of(self.kind),
            "data": self.data,
            "image": self.image_sha256,
        }
        return sha256(canonical_json(about))

    @property
    def fixed_tokens(self) -> int:
        """About how many tokens every question of its kind begins with (a provider may cache them)."""
        return len(prompts.SYSTEM[self.kind]) // CHARACTERS_PER_TOKEN

    @property
    def input_tokens(self) -> int:
        """About how many tokens it has, the fixed ones among them."""
        own = len(self.data) // CHARACTERS_PER_TOKEN + 20
        return self.fixed_tokens + own + (IMAGE_TOKENS if self.image_sha256 else 0)

    @property
    def output_tokens(self) -> int:
        """About how many tokens its answer has."""
        return OUTPUT_TOKENS[self.kind] * max(len(self.ids), 1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a question, with everything that is needed to check it later.

    `answer` is the last valid JSON object of the reply: for a pair {"score", "checks", "rationale"},
    for a row {"scores": [...]}, for a vote {"vote", "reasoning"}. `expected` is the score weighted by
    the probabilities of its tokens, None where it is not weighted. An unscored verdict has a `reason`:
    out_of_range, no_json, refused, truncated, call_failed.
    """

    key: str
    status: Status
    reason: str = ""
    answer: dict[str, Any] | None = None
    expected: float | None = None
    text: str = ""  # the reply, whole; what failed where none came
    model: str = ""  # as the server reported it
    request_sha256: str = ""
    response_sha256: str = ""
    sent: dict[str, Any] = field(default_factory=dict)  # temperature and the like, as really sent
    attempts: int = 0
    input_tokens: int = 0  # cached ones among them
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    asked_at: str = ""  # ISO 8601, UTC
    version: str = ""  # of inspect_ai

    @property
    def is_scored(self) -> bool:
        return self.status == "scored"

    def as_dict(self) -> dict[str, Any]:
        """The verdict as JSON, for stores."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Verdict:
        """The verdict that `as_dict` wrote; what a later version added is left out."""
        return cls(**{each.name: stored[each.name] for each in fields(cls) if each.name in stored})


def pair_question(model: JudgeModel, goal: str, reference: str, candidate: str) -> Question:
    """One candidate against one reference; texts are normalised."""
    data = {"goal": goal, "reference": reference, "candidate": candidate}
    return Question("pairwise", model, canonical_json(data))


def row_question(
    model: JudgeModel, goal: str, reference: str, candidates: Sequence[str], *, is_reversed: bool = False
) -> tuple[Question, list[int]]:
    """All candidates against one reference, and which candidate stands at which place.

    The order comes from a hash of the texts, so it is the same for the same texts and favours nobody.
    """
    order = sorted(range(len(candidates)), key=lambda i: (sha256(f"{reference}\n{candidates[i]}"), i))
    if is_reversed:
        order.reverse()
    ids = tuple(f"c{place}" for place in range(1, len(order) + 1))
    shown = [{"id": id_, "text": candidates[i]} for id_, i in zip(ids, order, strict=True)]
    data = canonical_json({"goal": goal, "reference": reference, "candidates": shown})
    return Question("row", model, data, ids), order


def vote_question(
    model: JudgeModel, goal: str, history: Sequence[str], finding: str, image: bytes
) -> Question:
    """Is a finding correct, seen with the picture, the goal and what was found before?"""
    data = canonical_json({"goal": goal, "history": list(history), "finding": finding})
    return Question("vote", model, data, image=image, image_sha256=hashlib.sha256(image).hexdigest())
