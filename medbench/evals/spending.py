"""What judging costs: estimated before, counted while it runs, stopped at a budget."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medbench.errors import MedBenchError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from medbench.evals.questions import Question, Verdict

MILLION = 1_000_000


class Stopped(MedBenchError):
    """Judging cannot go on; what is judged is kept, and a later run goes on from there.

    Codes: budget_spent, judge_changed, judge_refused, judge_unavailable, no_key.
    """

    code = "judging_stopped"
    status = 409


@dataclass(frozen=True, slots=True)
class Price:
    """In any one currency, for a million tokens. Curators enter prices: any table shipped here would
    be out of date."""

    input: float
    output: float
    cached: float | None = None  # None: as input

    def of(self, input_tokens: int, cached_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost; `cached_tokens` are among the input tokens."""
        cached = self.input if self.cached is None else self.cached
        fresh = input_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * cached + output_tokens * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one run may use; None = without limit. `money` needs a price for every model.

    A question is asked where its estimate still fits; only what it uses beyond that can go over.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(slots=True)
class Spent:
    """What was used; `money` is None where a price is missing."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    money: float | None = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(self, calls: int, tokens: tuple[int, int, int], price: Price | None) -> None:
        """Count calls and their (input, cached, output) tokens."""
        self.calls += calls
        self.input_tokens += tokens[0]
        self.cached_tokens += tokens[1]
        self.output_tokens += tokens[2]
        known = self.money is not None and price is not None
        self.money = (self.money or 0.0) + price.of(*tokens) if known and price else None


@dataclass(slots=True)
class Estimate(Spent):
    """What questions would use at most; `known` of them are answered already and cost nothing."""

    known: int = 0


@dataclass
class Purse:
    """The spending of one run, by model, held against its budget. One thread counts."""

    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)  # by JudgeModel.name
    by_model: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    total: Spent = field(default_factory=Spent)
    held: Spent = field(default_factory=Spent)  # by questions that are on their way

    def hold(self, question: Question) -> None:
        """Set aside what a question may use. Raises Stopped `budget_spent` where it is not there."""
        wanted = Spent()
        tokens = (question.input_tokens, 0, question.output_tokens)
        wanted.add(1, tokens, self.prices.get(question.model.name))
        for name in ("calls", "tokens", "money"):
            limit = getattr(self.budget, name)
            used = [getattr(each, name) for each in (self.total, self.held, wanted)]
            if limit is not None and (None in used or sum(used) > limit):
                raise Stopped(self._told(name, None in used), code="budget_spent")
        self._set_aside(question, 1)

    def settle(self, question: Question, calls: int, tokens: tuple[int, int, int]) -> None:
        """Count what the question really used: calls, and (input, cached, output) tokens."""
        self._set_aside(question, -1)
        price = self.prices.get(question.model.name)
        self.total.add(calls, tokens, price)
        self.by_model[question.model.name].add(calls, tokens, price)

    def _set_aside(self, question: Question, sign: int) -> None:
        tokens = (sign * question.input_tokens, 0, sign * question.output_tokens)
        self.held.add(sign, tokens, self.prices.get(question.model.name))

    def _told(self, name: str, unknown: bool) -> str:  # noqa: FBT001 (one caller)
        if unknown:
            return "A budget in money needs the price of every model."
        return f"The budget of {getattr(self.budget, name):,} {name} is used up. Raise it to go on."


def estimate(
    questions: Iterable[Question], known: Collection[str] = (), prices: Mapping[str, Price] | None = None
) -> dict[str, Estimate]:
    """What the questions would use, by the name of the model; keys in `known` are answered already.

    Tokens are counted by the length of texts, which is right to about a third; models that reason
    before they answer use several times the output.
    """
    found: dict[str, Estimate] = defaultdict(Estimate)
    seen: set[str] = set(known)
    for question in questions:
        own = found[question.model.name]
        if question.key in seen:
            own.known += 1
            continue
        seen.add(question.key)
        tokens = (question.input_tokens, 0, question.output_tokens)
        own.add(1, tokens, (prices or {}).get(question.model.name))
    return dict(found)


def used_by(verdict: Verdict) -> tuple[int, int, int]:
    """The (input, cached, output) tokens of a verdict, failed attempts among them."""
    return verdict.input_tokens, verdict.cached_tokens, verdict.output_tokens
