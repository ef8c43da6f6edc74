"""Asking many questions: together, in the limits of speed and budget, each answered once for all.

A session has one event loop in a thread of its own; the thread that asks gets verdicts as they come
and stores each before the next, so it may use an ORM, cancel at any time, and lose nothing but what
is on its way when it is killed.
"""

from __future__ import annotations

import asyncio
import queue
import random
import secrets
import threading
import time
from collections import defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Self

from medbench.evals.models import Client, Failed
from medbench.evals.questions import Verdict
from medbench.evals.replies import BadReply, expected_score, parse
from medbench.evals.spending import Budget, Purse, Stopped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from medbench.evals.models import Reply
    from medbench.evals.profiles import JudgeModel
    from medbench.evals.questions import Question
    from medbench.evals.spending import Price, Spent
    from medbench.evals.stores import Store

CALL_FAILED = "call_failed"
CLOSED_WITHIN_S = 5
Came = queue.SimpleQueue[tuple[Verdict, asyncio.Event] | BaseException]
NOT_ANSWERED = {"max_tokens": "truncated", "model_length": "truncated", "content_filter": "refused"}


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast and how patiently a session asks each model."""

    connections: int = 8
    per_minute: int | None = None  # calls
    retries: int = 5  # of a call that does not come through
    parse_retries: int = 2  # of a reply without a valid answer
    first_wait_s: float = 1.0  # doubled each time
    longest_wait_s: float = 60.0
    timeout_s: float = 180.0
    failures_in_a_row: int = 20  # calls that never came through, before the run stops


class Session:
    """A place to ask questions, as a context manager.

    `keys` are API keys by `JudgeModel.identity`; "" for a server that needs none. `prices` are by
    `JudgeModel.name`. `spent` and `spent_by_model` say what was used so far. `revisions` are the
    names that models reported, by identity.
    """

    def __init__(
        self,
        keys: Mapping[str, str],
        store: Store,
        *,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._keys, self._store = dict(keys), store
        self._limits = limits or Limits()
        self._purse = Purse(budget or Budget(), dict(prices or {}))
        self._models: dict[str, _Asked] = {}
        self.revisions: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="judges", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def spent(self) -> Spent:
        return self._purse.total

    @property
    def spent_by_model(self) -> dict[str, Spent]:
        return dict(self._purse.by_model)

    def ask(self, questions: Iterable[Question]) -> Iterator[Verdict]:
        """The verdict of each different question, in the order in which they come.

        What the store has is not asked again. Raises Stopped; verdicts that came before are stored.
        """
        unique = {question.key: question for question in questions}
        known = self._store.get(unique)
        for key, verdict in known.items():
            self._meet(unique[key].model, verdict.model)
            yield verdict
        todo = [question for key, question in unique.items() if key not in known]
        if not todo:
            return
        came: Came = queue.SimpleQueue()
        asking = asyncio.run_coroutine_threadsafe(self._ask_all(todo, came), self._loop)
        try:
            for _ in todo:
                arrived = came.get()
                if isinstance(arrived, BaseException):
                    raise arrived
                new, is_kept = arrived
                stands = self._store.put(new) if new.is_scored else new
                self._loop.call_soon_threadsafe(is_kept.set)
                yield stands
        finally:
            asking.cancel()

    async def _ask_all(self, todo: list[Question], came: Came) -> None:
        """Workers for each model share its questions. The first error ends all of them; where the budget
        ends, what is on its way still arrives."""
        waiting: dict[str, deque[Question]] = defaultdict(deque)
        for question in todo:
            waiting[question.model.identity].append(question)
        spent: list[Stopped] = []
        try:
            async with asyncio.TaskGroup() as group:
                for questions in waiting.values():
                    for _ in range(min(self._limits.connections, len(questions))):
                        group.create_task(self._work(questions, came, spent))
        except BaseExceptionGroup as errors:
            came.put(errors.exceptions[0])
        else:
            if spent:
                came.put(spent[0])

    async def _work(self, questions: deque[Question], came: Came, spent: list[Stopped]) -> None:
        """Ask one after the other; the next only when the last is stored, so that nothing piles up that
        could be lost."""
        while questions and not spent:
            question = questions.popleft()
            try:
                self._purse.hold(question)
            except Stopped as stopped:
                spent.append(stopped)
            else:
                is_kept = asyncio.Event()
                came.put((await self._answer(question), is_kept))
                await is_kept.wait()

    async def _answer(self, question: Question) -> Verdict:
        """Ask until there is a valid answer or the tries are used up. The question is on hold."""
        asked = _Attempts(question)
        try:
            return await self._tries(question, asked)
        finally:
            self._purse.settle(question, asked.calls, (asked.input, asked.cached, asked.output))

    async def _tries(self, question: Question, asked: _Attempts) -> Verdict:
        reason = ""
        for _ in range(1 + self._limits.parse_retries):
            reply = await self._call(question, asked)
            if reply is None:
                return asked.verdict(CALL_FAILED)
            self._meet(question.model, reply.model)
            asked.take(reply)
            try:
                return asked.scored(reply)
            except BadReply as bad:
                reason = NOT_ANSWERED.get(reply.stop, bad.reason)
        return asked.verdict(reason)

    async def _call(self, question: Question, asked: _Attempts) -> Reply | None:
        """One reply, after as many tries as are allowed; None where none came through."""
        model = self._model(question.model)
        for attempt in range(1 + self._limits.retries):
            await model.turn(self._limits.per_minute)
            asked.calls += 1
            try:
                reply = await model.client.ask(question, secrets.token_hex(8))
            except Failed as failed:
                asked.failed = str(failed)
                if failed.refused:
                    message = f"{question.model.name} refuses the key ({failed})."
                    raise Stopped(message, code="judge_refused") from failed
                if not failed.again or attempt == self._limits.retries:
                    model.count_failure(question.model, self._limits.failures_in_a_row, failed)
                    return None
                await asyncio.sleep(self._wait_s(attempt, failed.wait_s))
            else:
                model.failures = 0
                return reply
        return None

    def _wait_s(self, attempt: int, told: float | None) -> float:
        """Twice as long each time, up to a longest; what the server says, if it says so."""
        wait = self._limits.first_wait_s * 2**attempt * random.uniform(0.75, 1.25)  # noqa: S311 (no secret)
        return min(told if told is not None else wait, self._limits.longest_wait_s)

    def _model(self, model: JudgeModel) -> _Asked:
        if model.identity not in self._models:
            if model.identity not in self._keys:
                raise Stopped(f"There is no key for {model.name}. Enter one to go on.", code="no_key")
            key = self._keys[model.identity]
            self._models[model.identity] = _Asked(Client(model, key, self._limits.timeout_s))
        return self._models[model.identity]

    def _meet(self, model: JudgeModel, reported: str) -> None:
        """Take note of the revision that a model reports; stop where it is another than it was."""
        expected = self.revisions.setdefault(model.identity, model.revision or reported)
        if reported != expected:
            message = f"{model.name} answers as {reported} now, not as {expected}. Scores of two models do"
            raise Stopped(f"{message} not mix: make a new profile and judge anew.", code="judge_changed")

    async def _close(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for model in self._models.values():
            with suppress(Exception):  # a client that cannot be closed holds nothing that matters
                await asyncio.wait_for(model.client.close(), CLOSED_WITHIN_S)


@dataclass
class _Asked:
    """One model during a session: its client, its pace, how often it failed in a row."""

    client: Client
    failures: int = 0
    next_turn: float = 0.0

    async def turn(self, per_minute: int | None) -> None:
        """Wait for the next call that the rate allows."""
        if not per_minute:
            return
        now = time.monotonic()
        self.next_turn = max(self.next_turn, now) + 60 / per_minute
        await asyncio.sleep(self.next_turn - 60 / per_minute - now)

    def count_failure(self, model: JudgeModel, most: int, last: Failed) -> None:
        """A question that never came through; too many of them in a row end the run."""
        self.failures += 1
        if self.failures >= most:
            message = f"{model.name} cannot be reached ({last}). Try again later."
            raise Stopped(message, code="judge_unavailable") from last


@dataclass
class _Attempts:
    """The tries of one question and what they used."""

    question: Question
    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reply: Reply | None = None
    failed: str = ""
    started: float = field(default_factory=time.monotonic)

    def take(self, reply: Reply) -> None:
        self.reply = reply
        self.input += reply.input_tokens
        self.cached += reply.cached_tokens
        self.output += reply.output_tokens

    def scored(self, reply: Reply) -> Verdict:
        """Raises BadReply."""
        answer = parse(self.question.kind, reply.text, self.question.ids)
        is_weighted = self.question.model.logprobs and reply.tokens
        expected = expected_score(reply.tokens or [], answer["score"]) if is_weighted else None
        return self.verdict(answer=answer, expected=expected)

    def verdict(
        self, reason: str = "", *, answer: dict[str, object] | None = None, expected: float | None = None
    ) -> Verdict:
        reply = self.reply
        return Verdict(
            key=self.question.key,
            status="unscored" if answer is None else "scored",
            reason=reason,
            answer=answer,
            expected=expected,
            text=reply.text if reply else self.failed,
            model=reply.model if reply else "",
            request_sha256=reply.request_sha256 if reply else "",
            response_sha256=reply.response_sha256 if reply else "",
            sent=reply.sent if reply else {},
            attempts=self.calls,
            input_tokens=self.input,
            cached_tokens=self.cached,
            output_tokens=self.output,
            seconds=round(time.monotonic() - self.started, 3),
            asked_at=datetime.now(UTC).isoformat(timespec="seconds"),
            version=_version(),
        )


@cache
def _version() -> str:
    return version("inspect_ai")
