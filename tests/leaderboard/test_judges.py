"""Judges of the site: whose key opens them, where they may live, and what a session gets."""

import logging
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command

from leaderboard.models import Judge
from leaderboard.services import judges
from medbench.errors import Conflict, InvalidInput, NotFound
from medbench.evals.profiles import EvaluatorProfile
from medbench.evals.spending import Stopped
from medbench.evals.stores import MemoryStore
from tests.evals.build import KEY
from tests.evals.scripts import honest
from tests.evals.server import Answer
from tests.leaderboard.judging import allow, make_judge, run_job

pytestmark = [
    pytest.mark.django_db,
    # Google's client subclasses what its HTTP library would rather not have subclassed.
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
]


@pytest.fixture
def server(served, settings):
    server = served(lambda asked: Answer(honest(asked), model=f"{asked.model}-2026-01"))
    allow(settings, server)
    return server


def instrument(*rows, **fields):
    return EvaluatorProfile("Test", tuple(judges.model_of(row) for row in rows), **fields)


def test_a_key_is_stored_sealed_and_comes_out_for_a_session_alone(server, ada, caplog):
    caplog.set_level(logging.DEBUG)
    judge = make_judge(server, ada)
    stored = bytes(Judge.objects.values_list("key_encrypted", flat=True).get())
    assert KEY.encode() not in stored
    assert judges.keys_for(instrument(judge)) == {judges.identity_of(judge): KEY}
    assert KEY not in caplog.text
    assert KEY not in repr(judge.__dict__)


def test_a_session_knows_key_price_budget_and_pace(server, ada):
    money = {"price_input": Decimal(2), "price_output": Decimal(8), "budget": Decimal(5)}
    first = make_judge(server, ada, **money, requests_per_minute=60)
    second = make_judge(server, ada, "judge-2", **money)
    profile = instrument(first, second)
    assert judges.prices_for(profile)["openai-api/judge-1"].output == 8
    assert judges.budget_for(profile).money == 10
    assert judges.limits_for(profile).per_minute == 60
    Judge.objects.filter(pk=second.pk).update(budget=None)
    assert judges.budget_for(profile).money is None
    with judges.session_for(profile, MemoryStore()) as session:
        assert session.spent.calls == 0


def test_a_judge_that_is_gone_or_without_key_stops_the_work(server, ada):
    judge = make_judge(server, ada)
    profile = instrument(judge)
    judges.delete_judge(judge, ada)
    with pytest.raises(Stopped, match="not among the judges"):
        judges.keys_for(profile)
    official = make_judge(None, ada, "gpt-4o", provider="openai", key="")
    with pytest.raises(Stopped, match="no key for gpt-4o"):
        judges.keys_for(instrument(official))


def test_a_key_survives_a_change_of_the_secret(server, ada, settings):
    profile = instrument(make_judge(server, ada))
    settings.JUDGE_SECRETS = ["new", *settings.JUDGE_SECRETS]
    call_command("reseal_judge_keys", stdout=StringIO())
    settings.JUDGE_SECRETS = ["new"]
    assert KEY in judges.keys_for(profile).values()
    settings.JUDGE_SECRETS = ["another"]
    with pytest.raises(Conflict, match="Enter the key again"):
        judges.keys_for(profile)


def test_judges_live_at_listed_addresses_alone(server, ada, settings):
    settings.JUDGE_ADDRESSES = ["https://8.8.8.8/v1"]
    with pytest.raises(InvalidInput, match="not in the site's list"):
        make_judge(server, ada)
    settings.JUDGE_ADDRESSES = [server.base_url("openai"), "http://169.254.169.254/v1"]
    settings.JUDGE_NETWORKS = []
    with pytest.raises(InvalidInput, match="not public"):
        make_judge(server, ada)
    with pytest.raises(InvalidInput, match="not public"):
        judges.save_judge(
            Judge(name="m", provider="openai-api", model="m", base_url="http://169.254.169.254/v1"), "", ada
        )
    settings.JUDGE_ADDRESSES = []
    assert make_judge(None, ada, "gpt-4o", provider="openai").pk  # at its provider


def test_an_address_that_is_no_longer_allowed_gets_no_key(server, ada, settings):
    profile = instrument(make_judge(server, ada))
    settings.JUDGE_NETWORKS = []
    with pytest.raises(InvalidInput, match="not public"):
        judges.session_for(profile, MemoryStore())


def test_a_provider_s_variable_in_the_environment_stops_the_work(server, ada, settings):
    profile = instrument(make_judge(server, ada))
    settings.JUDGE_DETOURS = ["OPENAI_BASE_URL"]
    with pytest.raises(InvalidInput, match="OPENAI_BASE_URL"):
        judges.session_for(profile, MemoryStore())


def test_a_key_does_not_follow_to_another_address(server, ada):
    judge = make_judge(server, ada)
    judge.model = "judge-9"
    judges.save_judge(judge, "", ada)
    judge.refresh_from_db()
    assert (judge.key_encrypted, judge.key_set_at) == (b"", None)


def test_a_stranger_keeps_no_judges(server, ada, rosa):
    with pytest.raises(NotFound):
        make_judge(server, rosa)
    with pytest.raises(NotFound):
        judges.delete_judge(make_judge(server, ada), rosa)


@pytest.mark.parametrize("fields", [{"price_input": Decimal(1)}, {"budget": Decimal(1)}])
def test_money_needs_both_prices(server, ada, fields):
    with pytest.raises(InvalidInput, match="both prices"):
        make_judge(server, ada, **fields)


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai-api", "q3-32b"), ("google", "gemini-2.5-pro"), ("anthropic", "claude-sonnet-5-5")],
)
def test_a_test_call_says_how_the_judge_answers(server, ada, provider, model):
    judge = make_judge(server, ada, model, provider=provider)
    assert run_job(judges.request_test(judge, ada)).state == "done"
    judge.refresh_from_db()
    assert judge.last_check["code"] == "", judge.last_check
    assert judge.last_check["revision"] == f"{model}-2026-01"
    assert len(server.asked) == 1


def test_a_refused_key_is_told_and_not_repeated(server, ada):
    server.script = lambda _: Answer(f"Bad key {KEY}", status=401)
    judge = make_judge(server, ada)
    run_job(judges.request_test(judge, ada))
    judge.refresh_from_db()
    assert judge.last_check["code"] == "judge_refused"
    assert KEY not in str(judge.last_check)


def test_two_presses_make_one_call(server, ada):
    judge = make_judge(server, ada)
    judges.request_test(judge, ada)
    with pytest.raises(Conflict, match="on its way"):
        judges.request_test(judge, ada)
