"""Models through inspect_ai: one question, one reply, whatever the provider.

The provider's client is called without inspect_ai's own loop around it: that loop shares its
semaphores between threads and keeps every call in memory, and several jobs judge in one process.
Importing inspect_ai takes seconds, so it happens where the first client is made.

Workers must run without any provider's variables in their environment (`ANTHROPIC_AUTH_TOKEN` is
preferred to a key that is given, and would go to the judge's base address).
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medbench.evals import prompts
from medbench.evals.profiles import canonical_json, sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_ai.model import (
        ChatMessage,
        Content,
        GenerateConfig,
        Logprobs,
        Model,
        ModelCall,
        ModelOutput,
    )

    from medbench.evals.profiles import JudgeModel
    from medbench.evals.questions import Question

NO_KEY = "none"  # for servers that ask for none
ALTERNATIVES = 20  # of a token
TOLD = ("temperature", "top_p", "seed", "max_tokens", "max_output_tokens", "maxOutputTokens", "logprobs")
REFUSED_KEY = (401, 403)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. `tokens` are those of the text with their alternatives, if it tells them."""

    text: str
    model: str
    stop: str  # stop, max_tokens, content_filter, ...
    tokens: list[tuple[str, dict[str, float]]] | None
    request_sha256: str
    response_sha256: str
    sent: dict[str, Any]
    input_tokens: int
    cached_tokens: int
    output_tokens: int


class Failed(Exception):
    """The call did not come through. `again`: it may the next time, after `wait_s` if that is known."""

    def __init__(self, what: str, *, again: bool, wait_s: float | None, refused: bool) -> None:
        super().__init__(what)
        self.again, self.wait_s, self.refused = again, wait_s, refused


class Client:
    """A model at its address with a key; every question brings its own settings. Belongs to the event
    loop in which it is made."""

    def __init__(self, model: JudgeModel, key: str, timeout_s: float) -> None:
        from inspect_ai.model import get_model  # seconds

        service = "local/" if model.provider == "openai-api" else ""
        once: dict[str, Any] = {} if model.provider == "google" else {"max_retries": 0}  # the session retries
        self._model: Model = get_model(
            f"{model.provider}/{service}{model.model}",
            base_url=model.base_url or None,
            api_key=key or NO_KEY,
            memoize=False,
            **once,
        )
        self._timeout_s = timeout_s

    async def ask(self, question: Question, mark: str) -> Reply:
        """One call. Raises Failed."""
        import anyio

        try:
            with anyio.fail_after(self._timeout_s):
                answer = await self._model.api.generate(
                    input=_messages(question, mark),
                    tools=[],
                    tool_choice="none",
                    config=_config(question.model, question.kind),
                )
        except Exception as error:
            raise self._failed(error) from error
        output, call = answer if isinstance(answer, tuple) else (answer, None)
        if isinstance(output, Exception):
            raise self._failed(output) from output
        return _reply(output, call)

    async def close(self) -> None:
        await self._model.api.aclose()

    def _failed(self, error: Exception) -> Failed:
        """What a client's error means for the next try."""
        decision = self._model.api.should_retry(error)
        again = decision if isinstance(decision, bool) else decision.retry
        wait_s = None if isinstance(decision, bool) else decision.retry_after
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        # The class alone: messages of providers may repeat the key.
        what = type(error).__name__ + (f" {status}" if status else "")
        again = again or isinstance(error, (TimeoutError, ConnectionError))
        return Failed(what, again=again, wait_s=wait_s, refused=status in REFUSED_KEY)


def _messages(question: Question, mark: str) -> list[ChatMessage]:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

    content: list[Content] = [ContentText(text=prompts.user_text(question.data, mark))]
    if question.image is not None:
        content.insert(
            0, ContentImage(image=f"data:image/png;base64,{base64.b64encode(question.image).decode()}")
        )
    return [ChatMessageSystem(content=prompts.SYSTEM[question.kind]), ChatMessageUser(content=content)]


def _config(model: JudgeModel, kind: prompts.Kind) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    schema = JSONSchema.model_validate(prompts.SCHEMA[kind])
    return GenerateConfig(
        temperature=model.temperature,
        top_p=model.top_p,
        seed=model.seed,
        max_tokens=model.max_tokens,
        logprobs=True if model.logprobs else None,
        top_logprobs=ALTERNATIVES if model.logprobs else None,
        response_schema=ResponseSchema(name=kind, json_schema=schema) if model.structured else None,
        reasoning_summary="none",  # else a probe is sent before the first question
    )


def _reply(output: ModelOutput, call: ModelCall | None) -> Reply:
    choice = output.choices[0] if output.choices else None
    usage = output.usage
    read, written = (
        (usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0) if usage else (0, 0)
    )
    request: Mapping[str, Any] = call.request if call else {}
    return Reply(
        text=output.completion if choice else "",
        model=output.model or "",
        stop=output.stop_reason if choice else "unknown",
        tokens=_tokens(choice.logprobs) if choice and choice.logprobs else None,
        request_sha256=_digest(request),
        response_sha256=_digest(call.response if call else output.completion),
        sent=_told(request),
        input_tokens=usage.input_tokens + read + written if usage else 0,
        cached_tokens=read,
        output_tokens=usage.output_tokens if usage else 0,
    )


def _tokens(logprobs: Logprobs) -> list[tuple[str, dict[str, float]]]:
    return [
        (token.token, {each.token: math.exp(each.logprob) for each in token.top_logprobs or []})
        for token in logprobs.content
    ]


def _told(request: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were really sent, wherever the dialect has them."""
    inner = request.get("generation_config") or request.get("config") or {}
    places = [request, inner if isinstance(inner, dict) else {}]
    return {name: place[name] for place in places for name in TOLD if place.get(name) is not None}


def _digest(value: Any) -> str:
    return sha256(canonical_json(json.loads(json.dumps(value, default=str))))
