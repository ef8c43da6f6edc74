"""Evaluator profiles: the whole instrument as a value, with one spelling and one digest.

Whatever changes a score is in it; keys, prices and limits of speed are not.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from medbench.errors import InvalidInput
from medbench.evals import prompts
from medbench.scoring.novelty import TAU
from medbench.scoring.rouge import DEFAULT_PROFILE, PROFILES, Profile

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "medbench.evaluator/1"
VOTERS = 3
Provider = Literal["openai", "google", "anthropic", "openai-api"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
Mode = Literal["pairwise", "row"]
MODES: tuple[Mode, ...] = get_args(Mode)
_MODEL = re.compile(r"[\w.:@+-]+(?:/[\w.:@+-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """One model with everything that is asked of it.

    `openai-api` is any server that speaks Chat Completions, as vLLM does; it needs a `base_url`.
    `revision` is the name that the server must report; "" until activation has learned it.
    `structured`: the server takes a JSON schema. `logprobs`: scores are weighted by the
    probabilities of their tokens (pairwise only). Some models take no temperature: what was sent is
    in each verdict.
    """

    provider: Provider
    model: str
    base_url: str = ""
    revision: str = ""
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int = 4_096  # reasoning counts, and a row may hold 40 answers
    structured: bool = True
    logprobs: bool = False

    def __post_init__(self) -> None:
        _require(self.provider in PROVIDERS, f"“{self.provider}” is none of {', '.join(PROVIDERS)}.")
        _require(bool(_MODEL.fullmatch(self.model)), "Give the model's name as its provider spells it.")
        _require(
            not self.base_url or bool(re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", self.base_url)),
            "A base address begins with http:// or https:// and has no user, query or fragment.",
        )
        needs_address = self.provider == "openai-api" and not self.base_url
        _require(not needs_address, "An OpenAI-compatible server needs its base address.")
        _require(0 < self.max_tokens <= 65_536, "max_tokens is from 1 to 65,536.")

    @property
    def name(self) -> str:
        """How people and tables name it: openai/gpt-4o."""
        return f"{self.provider}/{self.model}"

    @property
    def identity(self) -> str:
        """What keys and limits belong to: the model at its address."""
        return f"{self.name} {self.base_url}".strip()


@dataclass(frozen=True, slots=True)
class EvaluatorProfile:
    """Judges whose scores are averaged, and three voters for novelty (none: no novelty).

    `mode` pairwise asks for each pair by itself, row for all outputs of a case against one
    reference at once. Modes never share a board. `tokeniser` says what a repeated output is.
    """

    title: str
    judges: tuple[JudgeModel, ...]
    voters: tuple[JudgeModel, ...] = ()
    mode: Mode = "pairwise"
    tau: float = TAU
    tokeniser: Profile = DEFAULT_PROFILE

    def __post_init__(self) -> None:
        names = [judge.identity for judge in self.judges]
        _require(bool(names) and len(set(names)) == len(names), "Name at least one judge, each once.")
        _require(len(self.voters) in (0, VOTERS), "Novelty is voted on by three voters.")
        _require(self.mode in MODES, f"“{self.mode}” is no mode: {', '.join(MODES)}.")
        _require(0 < self.tau <= 1, "tau is above 0 and at most 1.")
        _require(self.tokeniser in PROFILES, f"“{self.tokeniser}” is none of {', '.join(PROFILES)}.")
        weighted = any(model.logprobs for model in self.voters) or (
            self.mode == "row" and any(judge.logprobs for judge in self.judges)
        )
        _require(not weighted, "Only scores of single pairs can be weighted by log-probabilities.")

    @property
    def models(self) -> tuple[JudgeModel, ...]:
        """Judges and voters, each once."""
        return tuple(dict.fromkeys(self.judges + self.voters))

    @property
    def is_pinned(self) -> bool:
        """Whether every model has the revision that it must report."""
        return all(model.revision for model in self.models)

    def pinned(self, revisions: Mapping[str, str]) -> EvaluatorProfile:
        """The profile with the revisions that its models reported, by `JudgeModel.identity`."""

        def pin(models: tuple[JudgeModel, ...]) -> tuple[JudgeModel, ...]:
            return tuple(
                replace(model, revision=revisions.get(model.identity, model.revision)) for model in models
            )

        return replace(self, judges=pin(self.judges), voters=pin(self.voters))

    def as_config(self) -> dict[str, Any]:
        """The profile as JSON, with the digests of the prompts of this software."""
        kinds: list[prompts.Kind] = [self.mode, "vote"] if self.voters else [self.mode]
        digests = {kind: prompts.sha256_of(kind) for kind in kinds}
        return {"schema": SCHEMA, **json.loads(json.dumps(asdict(self))), "prompts": digests}

    @property
    def canonical(self) -> str:
        """The one spelling of `as_config`."""
        return canonical_json(self.as_config())

    @property
    def sha256(self) -> str:
        """The digest of the canonical spelling, which names the instrument. The title is part of it."""
        return sha256(self.canonical)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> EvaluatorProfile:
        """The profile that `as_config` wrote.

        Raises InvalidInput for anything else, and `other_prompts` where it was written by software
        that asked other questions: its scores cannot be continued by this one.
        """
        try:
            given = {field.name: config[field.name] for field in fields(cls)}
            for name in ("judges", "voters"):
                given[name] = tuple(JudgeModel(**model) for model in given[name])
            profile = cls(**given)
        except (KeyError, TypeError) as error:
            raise InvalidInput("This is no evaluator profile.", code="bad_profile") from error
        if profile.as_config() != dict(config):
            message = "This profile was made with other prompts. Make a new one; its board is a new board."
            raise InvalidInput(message, code="other_prompts")
        return profile


def canonical_json(value: Any) -> str:
    """One spelling: sorted keys, no spaces. Raises ValueError for NaN and infinities."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _require(holds: bool, message: str) -> None:  # noqa: FBT001 (reads as a sentence)
    if not holds:
        raise InvalidInput(message, code="bad_profile")


_GPT_3_5 = JudgeModel("openai", "gpt-3.5-turbo", structured=False)  # it takes no JSON schema
_GEMINI_2_5 = JudgeModel("google", "gemini-2.5-pro", max_tokens=8_192)  # it reasons before it answers

PAPER = EvaluatorProfile("G-Eval: GPT-3.5 Turbo and Gemini 2.5 Pro", judges=(_GPT_3_5, _GEMINI_2_5))
"""The judges that MedInsightBench names. It prints neither its prompts nor its scale: those are ours.
It has no voters: GPT-3.5 Turbo sees no pictures."""

READY = {"paper": PAPER}
