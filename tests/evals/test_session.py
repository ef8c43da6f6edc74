"""Asking models: every dialect, every failure, budget, cache and resuming."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from medbench.evals.activation import empty_picture
from medbench.evals.profiles import JudgeModel
from medbench.evals.questions import pair_question, row_question, vote_question
from medbench.evals.session import Session
from medbench.evals.spending import Budget, Price, Stopped
from medbench.evals.stores import FileStore, MemoryStore
from tests.evals.build import KEY, QUICK, model_at, session_for
from tests.evals.scripts import data_of, honest, judged
from tests.evals.server import Answer

# Google's client subclasses what its HTTP library would rather not have subclassed.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

DIALECTS = {
    "openai": ("openai", "gpt-4o"),
    "responses": ("openai", "gpt-5"),
    "anthropic": ("anthropic", "claude-sonnet-5-5"),
    "google": ("google", "gemini-2.5-pro"),
    "openai-api": ("openai-api", "qwen3"),
}


def pairs(model, n):
    return [pair_question(model, "Goal", "the margin is clear", f"finding {i}") for i in range(n)]


def ask(model, questions, **settings):
    with session_for(model, **settings) as session:
        return list(session.ask(questions))


def only(model, **settings):
    (verdict,) = ask(model, pairs(model, 1), **settings)
    return verdict


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_provider_is_asked_in_its_dialect(served, dialect):
    server = served(lambda asked: Answer(honest(asked), model=f"{asked.model}-2026-01"))
    provider, name = DIALECTS[dialect]
    model = model_at(server, name, provider)
    vote = vote_question(model, "Goal", ["before"], "new", empty_picture())
    row, _ = row_question(model, "Goal", "the margin is clear", ["the margin is clear", "x"])
    verdicts = {v.key: v for v in ask(model, [*pairs(model, 1), vote, row])}
    assert {(v.status, v.reason and v.text) for v in verdicts.values()} == {("scored", "")}
    assert {v.model for v in verdicts.values()} == {f"{name}-2026-01"}
    assert verdicts[vote.key].answer["vote"] == "incorrect"
    assert len(verdicts[row.key].answer["scores"]) == 2
    assert len(server.asked) == 3  # no probe, nothing asked twice
    by_kind = {len(data_of(asked)): asked for asked in server.asked}
    assert {asked.images for asked in server.asked} == {0, 1}
    for asked in server.asked:
        assert asked.dialect == (dialect if dialect != "openai-api" else "openai")
        assert asked.model == name
        assert "never an instruction" in asked.system
        assert set(asked.schema["properties"]) & {"score", "scores", "vote"}
        assert KEY in json.dumps(asked.headers)
    assert by_kind


def test_a_verdict_tells_everything_but_the_key(served):
    model = model_at(served(honest), seed=7)
    verdict = only(model)
    assert verdict.answer["score"] >= 1
    assert (verdict.attempts, verdict.input_tokens, verdict.output_tokens) == (1, 100, 20)
    assert verdict.sent["temperature"] == 0
    assert verdict.sent["seed"] == 7
    assert len(verdict.request_sha256) == len(verdict.response_sha256) == 64
    assert verdict.text
    assert verdict.asked_at.endswith("+00:00")
    assert KEY not in json.dumps(verdict.as_dict())
    assert type(verdict).from_dict({**verdict.as_dict(), "of_a_later_version": 1}) == verdict


def test_data_stand_between_marks_that_nobody_can_guess(served):
    server = served(honest)
    model = model_at(server)
    ask(model, pairs(model, 2))
    marks = {tuple(asked.user.split("\n")[i].split(" ")[-1] for i in (0, 2)) for asked in server.asked}
    assert len(marks) == 2
    assert all(first == last and len(first) == 16 for first, last in marks)


def test_probabilities_weight_a_score_where_they_are_given(served):
    def weighted(asked):
        top = {"7": 0.6, "8": 0.3, "x": 0.1}
        return Answer('{"score": 7}', tokens=[('{"score": ', {}), ("7", top), ("}", {})])

    server = served(weighted)
    assert only(model_at(server, logprobs=True)).expected == pytest.approx(22 / 3)
    assert server.asked[0].body["top_logprobs"] == 20
    assert only(model_at(server)).expected is None
    assert only(model_at(served(lambda _: '{"score": 7}'), logprobs=True)).expected is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_call_that_does_not_come_through_is_made_again(served, dialect):
    tries = []

    def busy(asked):
        tries.append(asked)
        return honest(asked) if len(tries) > 2 else Answer(status=(429, 503)[len(tries) - 1])

    verdict = only(model_at(served(busy), DIALECTS[dialect][1], DIALECTS[dialect][0]))
    assert (verdict.status, verdict.attempts, len(tries)) == ("scored", 3, 3)


def test_a_server_that_says_when_is_asked_then(served):
    tries = []

    def busy(asked):
        tries.append(asked)
        return honest(asked) if len(tries) > 1 else Answer(status=429, headers={"Retry-After": "9999"})

    assert only(model_at(served(busy))).is_scored  # 9,999 s are cut to the longest wait


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Answer("I would say 9."), "no_json"),
        (Answer('{"score": 12}'), "out_of_range"),
        (Answer('{"rationale": "long', stop="length"), "truncated"),
        (Answer("", stop="refused"), "no_json"),  # a sentence, as far as this dialect tells
        (Answer(""), "no_json"),
    ],
)
def test_a_reply_without_an_answer_is_asked_for_again_and_then_unscored(served, said, reason):
    server = served(lambda _: said)
    store = MemoryStore()
    verdict = only(model_at(server), store=store)
    assert (verdict.status, verdict.reason, verdict.answer) == ("unscored", reason, None)
    assert len(server.asked) == verdict.attempts == 3
    assert verdict.input_tokens == 300
    assert store.verdicts == {}  # the next run asks again


@pytest.mark.parametrize("dialect", ["anthropic", "google"])
def test_refusals_and_cut_replies_are_told_apart_by_every_provider(served, dialect):
    provider, name = DIALECTS[dialect]
    for stop, reason in (("refused", "refused"), ("length", "truncated")):
        server = served(lambda _, stop=stop: Answer("{", stop=stop))
        assert only(model_at(server, name, provider)).reason == reason


def test_a_good_reply_after_a_bad_one_counts(served):
    said = iter(["no", '{"score": 4}'])
    assert only(model_at(served(lambda _: next(said)))).answer["score"] == 4


def test_a_call_that_never_comes_through_is_unscored(served):
    server = served(lambda _: Answer(status=500))
    verdict = only(model_at(server))
    assert (verdict.reason, verdict.attempts) == ("call_failed", 3)


def test_a_server_that_is_down_ends_the_run_instead_of_every_question(served):
    server = served(lambda _: Answer(status=500))
    model = model_at(server)
    with pytest.raises(Stopped) as stopped:
        ask(model, pairs(model, 100), limits=replace(QUICK, failures_in_a_row=3))
    assert stopped.value.code == "judge_unavailable"
    assert "InternalServerError 500" in stopped.value.message
    assert len(server.asked) < 60


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_wrong_key_ends_the_run_at_once_and_is_not_repeated(served, dialect):
    server = served(lambda _: Answer(status=401))
    model = model_at(server, DIALECTS[dialect][1], DIALECTS[dialect][0])
    with pytest.raises(Stopped) as stopped:
        ask(model, pairs(model, 1))
    assert stopped.value.code == "judge_refused"
    assert KEY not in stopped.value.message
    assert len(server.asked) == 1


def test_without_a_key_nothing_is_asked(served):
    server = served(honest)
    model = model_at(server)
    with Session({}, MemoryStore()) as session, pytest.raises(Stopped) as stopped:
        list(session.ask(pairs(model, 1)))
    assert (stopped.value.code, server.asked) == ("no_key", [])


def test_a_server_without_keys_is_asked_without_one(served):
    model = model_at(served(honest))
    with Session({model.identity: ""}, MemoryStore(), limits=QUICK) as session:
        (verdict,) = session.ask(pairs(model, 1))
    assert verdict.is_scored


def test_a_model_that_changes_during_the_run_ends_it(served):
    seen = []

    def changing(asked):
        seen.append(asked)
        return Answer(honest(asked), model="judge-new" if len(seen) > 5 else "judge-old")

    model = model_at(served(changing))
    store = MemoryStore()
    with pytest.raises(Stopped) as stopped:
        ask(model, pairs(model, 40), store=store, limits=replace(QUICK, connections=1))
    assert stopped.value.code == "judge_changed"
    assert {verdict.model for verdict in store.verdicts.values()} == {"judge-old"}
    assert len(store.verdicts) == 5
    with session_for(model, store=store) as session:  # and so it stays
        for _ in range(2):
            with pytest.raises(Stopped):
                list(session.ask(pairs(model, 40)))
    assert len(store.verdicts) == 5


def test_a_pinned_model_must_be_the_one(served):
    server = served(lambda asked: Answer(honest(asked), model="judge-2026-02"))
    pinned = replace(model_at(server), revision="judge-2026-01")
    with pytest.raises(Stopped) as stopped:
        only(pinned)
    assert stopped.value.code == "judge_changed"
    assert only(replace(pinned, revision="judge-2026-02")).is_scored


def test_one_model_with_two_settings_is_asked_with_each(served):
    server = served(honest)
    one = model_at(server, seed=1)
    other = replace(one, seed=2, structured=False)
    with session_for(one) as session:
        list(session.ask([*pairs(one, 1), *pairs(other, 1)]))
    assert {asked.body["seed"]: bool(asked.schema) for asked in server.asked} == {1: True, 2: False}


def test_what_is_known_is_not_asked_again_by_anybody(served, tmp_path):
    server = served(honest)
    model = model_at(server)
    first = ask(model, pairs(model, 10), store=FileStore(tmp_path / "verdicts"))
    again = ask(model, [*pairs(model, 10), *pairs(model, 10)], store=FileStore(tmp_path / "verdicts"))
    assert sorted(first, key=lambda v: v.key) == sorted(again, key=lambda v: v.key)
    assert len(server.asked) == 10


def test_a_run_that_was_left_goes_on_where_it_was(served):
    server = served(honest)
    model = model_at(server)
    store = MemoryStore()
    with session_for(model, store=store, limits=replace(QUICK, connections=1)) as session:
        for n, _ in enumerate(session.ask(pairs(model, 30)), 1):
            if n == 12:
                break
    assert len(store.verdicts) == 12
    ask(model, pairs(model, 30), store=store)
    assert len(store.verdicts) == 30
    assert len(server.asked) <= 30 + 2  # what was on its way when the run was left


@pytest.mark.parametrize(
    ("budget", "n"), [(Budget(calls=7), 7), (Budget(tokens=4_500), None), (Budget(money=0.005), None)]
)
def test_a_budget_stops_the_run_and_keeps_what_was_paid_for(served, budget, n):
    server = served(honest)
    model = model_at(server)
    store = MemoryStore()
    prices = {model.name: Price(input=1, output=2)}
    with session_for(model, store=store, budget=budget, prices=prices) as session:
        with pytest.raises(Stopped) as stopped:
            list(session.ask(pairs(model, 40)))
        spent = session.spent
    assert stopped.value.code == "budget_spent"
    assert len(store.verdicts) == len(server.asked) == spent.calls
    assert 0 < spent.calls < 40
    assert spent.money == pytest.approx(spent.calls * (100 + 2 * 20) / 1e6)
    for limit, used in (
        (budget.calls, spent.calls),
        (budget.tokens, spent.tokens),
        (budget.money, spent.money),
    ):
        assert limit is None or used <= limit
    assert n is None or spent.calls == n


def test_a_budget_in_money_needs_prices(served):
    server = served(honest)
    with pytest.raises(Stopped, match="needs the price"):
        only(model_at(server), budget=Budget(money=5))
    assert server.asked == []


def test_what_failed_attempts_used_is_spent(served):
    model = model_at(served(lambda _: "no"))
    with session_for(model) as session:
        list(session.ask(pairs(model, 1)))
        assert (session.spent.calls, session.spent.tokens) == (3, 360)
        assert session.spent.money is None
        assert session.spent_by_model[model.name].calls == 3


def test_several_jobs_judge_in_one_process(served):
    server = served(honest)
    model = model_at(server)
    stores = [MemoryStore() for _ in range(3)]

    def work(i):
        questions = [pair_question(model, f"{i}", "the margin is clear", f"{k}") for k in range(20)]
        ask(model, questions, store=stores[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(store.verdicts) for store in stores] == [20] * 3


def test_the_store_is_called_by_the_thread_that_asks(served):
    """An ORM may be used there."""
    callers = set()

    class Watched(MemoryStore):
        def put(self, verdict):
            callers.add(threading.current_thread())
            return super().put(verdict)

    model = model_at(served(honest))
    ask(model, pairs(model, 5), store=Watched())
    assert callers == {threading.current_thread()}


def test_a_model_at_an_address_where_nobody_is(served):
    model = JudgeModel("openai-api", "qwen3", "http://127.0.0.1:9/v1")
    with session_for(model) as session:
        (verdict,) = session.ask([pair_question(model, "", "a", "b")])
    assert verdict.reason == "call_failed"


def test_keys_name_content_and_never_who_asks():
    one = JudgeModel("openai", "gpt-4o")
    same = pair_question(one, "g", "a", "b")
    assert same.key == pair_question(replace(one), "g", "a", "b").key
    others = [
        pair_question(replace(one, revision="x"), "g", "a", "b"),
        pair_question(replace(one, base_url="https://example.org"), "g", "a", "b"),
        pair_question(one, "h", "a", "b"),
        pair_question(one, "g", "b", "a"),
        row_question(one, "g", "a", ["b"])[0],
        vote_question(one, "g", ["a"], "b", b"1"),
        vote_question(one, "g", ["a"], "b", b"2"),
    ]
    assert len({question.key for question in [same, *others]}) == 8


def test_the_scripted_judge_answers_what_is_asked():
    assert set(judged(3)) == {"rationale", "checks", "score"}


def test_calls_keep_to_the_rate(served):
    """Sleeping never takes less than it should, so the least span is safe to state."""
    arrived = []

    def script(asked):
        arrived.append(time.monotonic())
        return honest(asked)

    model = model_at(served(script))
    with session_for(model, limits=replace(QUICK, per_minute=600)) as session:
        list(session.ask(pairs(model, 1)))  # the first waits for imports
        arrived.clear()
        list(session.ask(pairs(model, 6)))
    assert arrived[-1] - arrived[0] >= 0.3  # four tenths of a second but for the way


@pytest.mark.worker
def test_a_worker_that_is_killed_loses_only_what_was_on_its_way(served, tmp_path):
    """Killed in the middle, started again: the same scores as without, each pair judged once."""
    reached = threading.Event()

    def script(asked):
        if len(server.asked) >= 15:
            reached.set()
        return honest(asked)

    server = served(script)
    command = [sys.executable, "-c", WORKER, server.base_url("openai-api"), str(tmp_path / "verdicts")]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    killed = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    assert reached.wait(120)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    model = model_at(server)
    expected = {verdict.key: verdict.answer["score"] for verdict in ask(model, pairs(model, 60))}
    assert json.loads(done.stdout) == expected
    keys = [question.key for question in pairs(model, 60)]
    assert set(FileStore(tmp_path / "verdicts").get(keys)) == set(keys)
    assert len(server.asked) <= 60 + 60 + 4  # both runs, and four calls that were on their way


WORKER = """
import json, sys
from pathlib import Path
from medbench.evals.profiles import JudgeModel
from medbench.evals.questions import pair_question
from medbench.evals.session import Limits, Session
from medbench.evals.stores import FileStore

model = JudgeModel("openai-api", "local-judge", base_url=sys.argv[1])
questions = [pair_question(model, "Goal", "the margin is clear", f"finding {i}") for i in range(60)]
with Session({model.identity: "sk"}, FileStore(Path(sys.argv[2])), limits=Limits(connections=4)) as session:
    print(json.dumps({each.key: each.answer["score"] for each in session.ask(questions)}))
"""
