"""The judges of the site: models with their keys, and what a session with them needs.

A key goes in by `save_judge` and comes out in a worker by `session_for`, nowhere else.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from django.db import transaction
from django.utils import timezone

from leaderboard import addresses, sealing
from leaderboard.models import EvaluatorProfile, Judge
from medbench import jobs
from medbench.accounts.permissions import visible_teams
from medbench.errors import Conflict, InvalidInput, NotFound
from medbench.evals.profiles import JudgeModel
from medbench.evals.questions import pair_question
from medbench.evals.session import Limits, Session
from medbench.evals.spending import Budget, Price, Stopped
from medbench.evals.stores import MemoryStore
from medbench.jobs.models import Job

if TYPE_CHECKING:
    import uuid

    from medbench.accounts.models import User
    from medbench.evals.profiles import EvaluatorProfile as Instrument
    from medbench.evals.profiles import Provider
    from medbench.evals.stores import Store
    from medbench.jobs.attempt import Attempt

KIND = "leaderboard.test_judge"
TEST_LIMITS = Limits(connections=1, retries=1, parse_retries=0, timeout_s=60)
WITHOUT_KEY = "openai-api"  # one's own server may ask for none

log = logging.getLogger(__name__)


def require_judges(person: User) -> None:
    """Judges belong to the site: whoever curates any benchmark keeps them. Raises NotFound for others."""
    if not visible_teams(person, "judge.manage").exists():
        raise NotFound


def find_judge(person: User, pk: uuid.UUID) -> Judge:
    """One judge. Raises NotFound where there is none, or for all but curators."""
    require_judges(person)
    found = Judge.objects.filter(pk=pk).first()
    if found is None:
        raise NotFound
    return found


def identity_of(judge: Judge) -> str:
    """What profiles know the judge by."""
    return f"{judge.provider}/{judge.model} {judge.base_url}".strip()


def model_of(judge: Judge, **settings: Any) -> JudgeModel:
    """The judge as profiles hold it. Raises InvalidInput where it could not be one.

    GPT-3.5 is the one model of the official providers that takes no JSON schema.
    """
    settings.setdefault("structured", not judge.model.startswith("gpt-3.5"))
    return JudgeModel(cast("Provider", judge.provider), judge.model, base_url=judge.base_url, **settings)


def judges_of(profile: Instrument) -> dict[str, Judge]:
    """The judges behind a profile's models, by identity. Raises Stopped `no_key` where one is gone."""
    wanted = {model.identity: model for model in profile.models}
    names = {model.model for model in profile.models}
    found = {identity_of(judge): judge for judge in Judge.objects.filter(model__in=names)}
    for identity, model in wanted.items():
        if identity not in found:
            message = f"{model.name} is not among the judges of this site. A curator can add it."
            raise Stopped(message, code="no_key")
    return {identity: found[identity] for identity in wanted}


def keys_for(profile: Instrument) -> dict[str, str]:
    """Opened keys by `JudgeModel.identity`, for a `Session` and nobody else.

    Raises Stopped `no_key` where one is missing, Conflict `key_unreadable`, and InvalidInput
    `address_refused` where a base address is no longer allowed.
    """
    addresses.refuse_variables()
    return {identity: _key_of(judge) for identity, judge in judges_of(profile).items()}


def _key_of(judge: Judge) -> str:
    addresses.refuse_address(judge.base_url)
    if judge.key_encrypted:
        return sealing.unseal(judge.key_encrypted)
    if judge.provider == WITHOUT_KEY:
        return ""
    raise Stopped(f"There is no key for {judge.name}. A curator can enter one.", code="no_key")


def prices_for(profile: Instrument) -> dict[str, Price]:
    """US dollars for a million tokens by `JudgeModel.name`; judges without a price are left out."""
    return {
        f"{judge.provider}/{judge.model}": Price(float(judge.price_input), float(judge.price_output))
        for judge in judges_of(profile).values()
        if judge.price_input is not None and judge.price_output is not None
    }


def budget_for(profile: Instrument) -> Budget:
    """What one evaluation may spend: the budgets of its judges together. Without limit where one of
    them has none."""
    budgets = [judge.budget for judge in judges_of(profile).values()]
    return Budget(money=float(sum(b for b in budgets if b is not None)) if None not in budgets else None)


def limits_for(profile: Instrument) -> Limits:
    """The pace of a session: that of its slowest judge."""
    rates = [judge.requests_per_minute for judge in judges_of(profile).values()]
    return Limits(per_minute=min((rate for rate in rates if rate), default=None))


def session_for(profile: Instrument, store: Store, *, limits: Limits | None = None) -> Session:
    """A session with everything that the site knows of the profile's judges. Raises as `keys_for`."""
    return Session(
        keys_for(profile),
        store,
        budget=budget_for(profile),
        prices=prices_for(profile),
        limits=limits or limits_for(profile),
    )


def profiles_with(judge: Judge) -> list[EvaluatorProfile]:
    """The profiles that name the judge."""
    identity = identity_of(judge)
    return [row for row in EvaluatorProfile.objects.filter(metric="judges") if identity in identities(row)]


def identities(profile: EvaluatorProfile) -> set[str]:
    """Of all models that a stored profile names, whatever software wrote it."""
    models = [*profile.config.get("judges", ()), *profile.config.get("voters", ())]
    return {f"{m['provider']}/{m['model']} {m.get('base_url', '')}".strip() for m in models}


@transaction.atomic
def save_judge(judge: Judge, key: str, by: User) -> Judge:
    """Add or change a judge; an empty `key` leaves the stored one.

    Raises NotFound for all but curators, InvalidInput for an address or a name of a model that may not
    be, Conflict where the model of a used judge would become another.
    """
    require_judges(by)
    model_of(judge)
    addresses.refuse_address(judge.base_url)
    _refuse_half_known_money(judge)
    before = Judge.objects.select_for_update().filter(pk=judge.pk).first()
    if before is None:
        judge.created_by = by
    elif identity_of(before) != identity_of(judge):
        if profiles_with(before):
            raise Conflict("A profile names this judge: its model stays as it is. Add another judge.")
        # A key goes to the address it was entered for, and to no other.
        judge.key_encrypted, judge.key_set_at, judge.last_check = b"", None, None
    if key:
        judge.key_encrypted, judge.key_set_at, judge.last_check = sealing.seal(key), timezone.now(), None
    judge.save()
    log.warning("judge %s saved by user %s%s", judge.pk, by.pk, ", with a new key" if key else "")
    return judge


def _refuse_half_known_money(judge: Judge) -> None:
    known = sum(price is not None for price in (judge.price_input, judge.price_output))
    if known == 1 or (judge.budget is not None and known == 0):
        raise InvalidInput("Give both prices or neither; a budget needs both.", code="price_missing")


@transaction.atomic
def delete_judge(judge: Judge, by: User) -> None:
    """Raises NotFound for all but curators, Conflict where a profile names it."""
    require_judges(by)
    used = profiles_with(judge)
    if used:
        raise Conflict(f"“{used[0].title}” names this judge, and scores may rest on it. It stays.")
    judge.delete()
    log.warning("judge %s deleted by user %s", judge.pk, by.pk)


@transaction.atomic
def request_test(judge: Judge, by: User) -> Job:
    """Queue one call. Raises NotFound, Conflict while one waits or runs."""
    require_judges(by)
    Judge.objects.select_for_update().get(pk=judge.pk)  # two presses make one call
    newest = newest_test(judge)
    if newest and not newest.is_over:
        raise Conflict("A test call is on its way.")
    return jobs.services.enqueue(KIND, {"judge": str(judge.pk)}, requested_by=by, total=1)


def newest_test(judge: Judge) -> Job | None:
    return Job.objects.filter(kind=KIND, payload__judge=str(judge.pk)).order_by("created_at").last()


def test_judge(attempt: Attempt) -> None:
    """Ask the judge one question and keep what came of it, with a code where nothing did."""
    judge = Judge.objects.get(pk=attempt.payload["judge"])
    found = _tested(judge)
    with attempt.writing():
        Judge.objects.filter(pk=judge.pk).update(last_check={"at": timezone.now().isoformat(), **found})
        attempt.progress(done=1)


def _tested(judge: Judge) -> dict[str, object]:
    model = model_of(judge)
    try:
        keys = {model.identity: _key_of(judge)}
        addresses.refuse_variables()
        with Session(keys, MemoryStore(), limits=TEST_LIMITS) as session:
            question = pair_question(model, "Test.", "Margins are negative.", "Margins are negative.")
            verdict = next(iter(session.ask([question])))
    except (Stopped, Conflict, InvalidInput) as error:
        return {"code": error.code, "seconds": None, "revision": "", "text": error.message}
    return {
        "code": verdict.reason,
        "seconds": verdict.seconds,
        "revision": verdict.model,
        "text": "" if verdict.is_scored else WHY.get(verdict.reason, verdict.reason),
        # The class and status of the client's error: never its message, which may repeat the key.
        "error": verdict.text if verdict.reason == "call_failed" else "",
    }


WHY = {
    "call_failed": "No answer came. Check the name of the model, the address and the key.",
    "no_json": "It answered, but not as asked. A model that takes no JSON schema may be too weak a judge.",
    "out_of_range": "It answered with a score outside 1 to 10.",
    "refused": "It refused to answer.",
    "truncated": "Its answer was cut off.",
}
