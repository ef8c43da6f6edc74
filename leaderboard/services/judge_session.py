"""A session with judges inside a job: it shows life, counts what is spent, and keeps the budget over
all attempts at one evaluation."""

from __future__ import annotations

import time
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from leaderboard.services import judges
from medbench.errors import Conflict, MedBenchError, Unavailable
from medbench.evals.session import Session
from medbench.evals.spending import Budget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leaderboard.models import Evaluation
    from leaderboard.services.verdict_store import VerdictStore
    from medbench.evals.profiles import EvaluatorProfile as Instrument
    from medbench.evals.questions import Question, Verdict
    from medbench.evals.spending import Stopped
    from medbench.jobs.attempt import Attempt

TOLD_EVERY_S = 1.0


class JobSession(Session):
    """Every second in which answers come, the job's lease is renewed and what was spent is written:
    `Evaluation.spent` in US dollars, null where a price is missing, and `report["spent"]` in calls and
    tokens. A worker that is killed forgets what it spent in its last second."""

    def __init__(
        self, attempt: Attempt, evaluation: Evaluation, instrument: Instrument, store: VerdictStore
    ) -> None:
        self._attempt, self._evaluation = attempt, evaluation
        self._before: dict[str, Any] = (evaluation.report or {}).get("spent", {})
        self._told = 0.0
        budget = judges.budget_for(instrument)
        if budget.money is not None:
            budget = Budget(money=max(budget.money - (self._before.get("money") or 0.0), 0.0))
        super().__init__(
            judges.keys_for(instrument),
            store,
            budget=budget,
            prices=judges.prices_for(instrument),
            limits=judges.limits_for(instrument),
        )

    def ask(self, questions: Iterable[Question]) -> Iterator[Verdict]:
        for verdict in super().ask(questions):
            if time.monotonic() - self._told > TOLD_EVERY_S:
                self.tell()
            yield verdict

    def tell(self) -> None:
        """Write what this and earlier attempts spent. Raises as `Attempt.writing`."""
        self._told = time.monotonic()
        spent = self.spent_in_all()
        money = spent["money"]
        self._evaluation.report = {**(self._evaluation.report or {}), "spent": spent}
        self._evaluation.spent = None if money is None else Decimal(f"{money:.4f}")
        with self._attempt.writing():
            self._evaluation.save(update_fields=["report", "spent"])

    def spent_in_all(self) -> dict[str, Any]:
        """Calls, tokens and money of this attempt and those before."""
        return {
            name: None if None in (value, before) else value + before
            for name, value in asdict(self.spent).items()
            for before in [self._before.get(name, 0)]
        }


def told(stopped: Stopped) -> MedBenchError:
    """Why judging stopped, as the page of the submission says it. A server that does not answer is
    asked again by the job itself."""
    if stopped.code == "budget_spent":
        message = "The budget of this evaluation is used up. Once a curator has raised it on the page of "
        message += "a judge, run the evaluation again."
    else:
        message = stopped.message
    kept = f"{message} What was judged is kept: it goes on from there."
    kind = Unavailable if stopped.code == "judge_unavailable" else Conflict
    return kind(kept, code=stopped.code)
