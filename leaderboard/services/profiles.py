"""Evaluator profiles: made from judges, tried on the fixtures, and only then active.

A profile as it is made names no revisions: a *draft*. The check learns which revisions answer and, where
it passes, stores the profile pinned to them as a row of its own. So a model that changed its revision
passes, if it does, under a new profile, and what was scored under the old one stays on its board.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.models import EvaluatorProfile
from leaderboard.services import judges
from medbench import jobs
from medbench.cases.models import Release, Split
from medbench.cases.queries import references
from medbench.errors import Conflict, NotFound
from medbench.evals.activation import LEAST_ACCURACY, MOST_INFLATION, check_profile, fixtures, n_questions
from medbench.evals.judges import CaseToJudge, questions_of
from medbench.evals.profiles import READY
from medbench.evals.profiles import EvaluatorProfile as Instrument
from medbench.evals.spending import estimate
from medbench.evals.stores import MemoryStore
from medbench.jobs.models import Job

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from django.db.models import QuerySet

    from leaderboard.models import Judge
    from medbench.accounts.models import User
    from medbench.evals.questions import Verdict
    from medbench.evals.session import Limits
    from medbench.jobs.attempt import Attempt

KIND = "leaderboard.check_profile"
SAMPLED = 20  # cases that the estimate of a full scoring looks at
MAY_SCORE = Q(metric="rouge1") | Q(activated_at__isnull=False)

log = logging.getLogger(__name__)


def find_profile(person: User, pk: uuid.UUID) -> EvaluatorProfile:
    """One profile with judges. Raises NotFound where there is none, or for all but curators."""
    judges.require_judges(person)
    found = EvaluatorProfile.objects.filter(pk=pk, metric="judges").first()
    if found is None:
        raise NotFound
    return found


def active_profiles() -> QuerySet[EvaluatorProfile]:
    """Those on which a board may be opened, the one without judges first."""
    return EvaluatorProfile.objects.filter(MAY_SCORE).order_by("-metric", "title", "created_at")


def require_active(profile: EvaluatorProfile) -> None:
    """Raise Conflict (code `profile_not_active`) where the profile may score nothing."""
    if not profile.is_active:
        message = f"“{profile.title}” has not passed its checks, so it may rank nobody. Check it first."
        raise Conflict(message, code="profile_not_active")


def instrument_of(profile: EvaluatorProfile) -> Instrument:
    """The profile as judging takes it. Raises InvalidInput `other_prompts`, as `from_config`."""
    return Instrument.from_config(profile.config)


def compose(
    title: str, chosen: Sequence[Judge], voters: Sequence[Judge], *, mode: str, tau: float, by: User
) -> EvaluatorProfile:
    """Make a draft from judges of the site, or answer the one that is the same.

    Raises NotFound for all but curators, InvalidInput where it could be no profile.
    """
    instrument = Instrument(
        title,
        tuple(judges.model_of(judge) for judge in chosen),
        tuple(judges.model_of(judge) for judge in voters),
        mode=mode,  # type: ignore[arg-type]  # it refuses what is no mode
        tau=tau,
    )
    return _keep(instrument, by)


def make_ready(name: str, by: User) -> EvaluatorProfile:
    """A profile that comes with the software. Raises NotFound, also for an unknown name."""
    judges.require_judges(by)
    if name not in READY:
        raise NotFound
    return _keep(READY[name], by)


def _keep(instrument: Instrument, by: User) -> EvaluatorProfile:
    judges.require_judges(by)
    profile, _ = EvaluatorProfile.objects.get_or_create(
        sha256=instrument.sha256,
        defaults={
            "title": instrument.title[:120],
            "metric": "judges",
            "config": instrument.as_config(),
            "created_by": by,
        },
    )
    return profile


@transaction.atomic
def request_check(profile: EvaluatorProfile, by: User) -> Job:
    """Queue the check that activates. Raises NotFound, Conflict while one runs or for one that is
    pinned, and as `judges.keys_for` where a judge or key is missing."""
    judges.require_judges(by)
    instrument = instrument_of(profile)
    if instrument.is_pinned:
        raise Conflict("This profile is pinned to its revisions. Check the draft that it was made from.")
    judges.keys_for(instrument)
    EvaluatorProfile.objects.select_for_update().get(pk=profile.pk)  # two presses make one check
    newest = newest_check(profile)
    if newest and not newest.is_over:
        raise Conflict("A check of this profile waits or runs already.")
    payload = {"profile": str(profile.pk)}
    return jobs.services.enqueue(KIND, payload, requested_by=by, total=n_questions(instrument))


def cancel_check(profile: EvaluatorProfile, by: User) -> None:
    """Raises NotFound, Conflict where none waits or runs."""
    judges.require_judges(by)
    newest = newest_check(profile)
    if newest is None:
        raise Conflict("No check of this profile was asked for.")
    jobs.services.cancel(newest)


def newest_check(profile: EvaluatorProfile) -> Job | None:
    return Job.objects.filter(kind=KIND, payload__profile=str(profile.pk)).order_by("created_at").last()


def check(attempt: Attempt, *, limits: Limits | None = None) -> None:
    """Ask everything anew, nothing from a store: an old answer says nothing of today's model."""
    profile = EvaluatorProfile.objects.get(pk=attempt.payload["profile"])
    instrument = instrument_of(profile)
    with judges.session_for(instrument, _Told(attempt), limits=limits) as session:
        found = check_profile(session, instrument)
        spent = session.spent
    record = found.as_dict() | {
        "passed": found.passed,
        "checked_at": timezone.now().isoformat(timespec="seconds"),
        "checked_by": attempt.job.requested_by_id,
        "limits": {"inflation": MOST_INFLATION, "accuracy": LEAST_ACCURACY},
        "fixtures": {"injections": len(fixtures().injections), "references": len(fixtures().references)},
        "spent": {"calls": spent.calls, "tokens": spent.tokens, "money": spent.money},
        "estimate": full_scoring(instrument),
    }
    with attempt.writing():
        if found.passed:
            record["pinned"] = str(_activate(profile, found.profile, record).pk)
        EvaluatorProfile.objects.filter(pk=profile.pk).update(activation=record)


def _activate(draft: EvaluatorProfile, pinned: Instrument, record: dict[str, Any]) -> EvaluatorProfile:
    row, _ = EvaluatorProfile.objects.get_or_create(
        sha256=pinned.sha256,
        defaults={
            "title": draft.title,
            "metric": "judges",
            "config": pinned.as_config(),
            "created_by_id": draft.created_by_id,
        },
    )
    row.activation = record
    row.activated_at = row.activated_at or timezone.now()
    row.save(update_fields=["activation", "activated_at"])
    log.warning("profile %s activated, asked for by user %s", row.sha256, record["checked_by"])
    return row


class _Told(MemoryStore):
    """Tells the job of every answer, which is also where a cancelled check stops."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__()
        self._attempt = attempt

    def put(self, verdict: Verdict) -> Verdict:
        kept = super().put(verdict)
        self._attempt.progress(done=len(self.verdicts), stage="Asking the judges")
        return kept


def full_scoring(instrument: Instrument) -> dict[str, Any] | None:
    """About what scoring one submission on the newest release takes, if it has as many outputs as
    there are references. Without novelty, whose votes depend on what is unmatched. None without a
    release."""
    release = Release.objects.select_related("benchmark").order_by("frozen_at").last()
    cases = list(references(release, Split.OPEN)) if release else []
    if not cases:
        return None
    asked = []
    for row in cases[:SAMPLED]:
        texts = tuple(each.version.insight for each in row.triplets.all())
        asked += questions_of(instrument, CaseToJudge(str(row.pk), "", texts, texts))
    found = estimate(asked, prices=judges.prices_for(instrument)).values()
    scale = len(cases) / min(SAMPLED, len(cases))
    money = [each.money for each in found]
    return {
        "cases": len(cases),
        "calls": round(sum(each.calls for each in found) * scale),
        "tokens": round(sum(each.tokens for each in found) * scale),
        "money": None if None in money else round(sum(m for m in money if m is not None) * scale, 2),
    }
