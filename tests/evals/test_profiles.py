"""The instrument as a value: one spelling, one digest, and what it refuses."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from medbench.errors import InvalidInput
from medbench.evals import prompts
from medbench.evals.profiles import PAPER, READY, EvaluatorProfile, JudgeModel

GPT, GEMINI, CLAUDE = (
    JudgeModel("openai", "gpt-4o"),
    JudgeModel("google", "gemini-2.5-pro"),
    JudgeModel("anthropic", "claude-sonnet-5-5"),
)
PROFILE = EvaluatorProfile("Two judges", (GPT, GEMINI), (GPT, GEMINI, CLAUDE))


def test_a_profile_survives_json():
    stored = json.loads(json.dumps(PROFILE.as_config()))
    assert EvaluatorProfile.from_config(stored) == PROFILE
    assert EvaluatorProfile.from_config(stored).sha256 == PROFILE.sha256


CHANGES = {
    "another judge": {"judges": (GPT,)},
    "another order": {"judges": (GEMINI, GPT)},
    "a revision": {"judges": (replace(GPT, revision="gpt-4o-2024-08-06"), GEMINI)},
    "a temperature": {"judges": (replace(GPT, temperature=0.5), GEMINI)},
    "an address": {"judges": (replace(GPT, base_url="https://models.example.org/v1"), GEMINI)},
    "weights": {"judges": (replace(GPT, logprobs=True), GEMINI)},
    "the mode": {"mode": "row"},
    "tau": {"tau": 0.6},
    "words": {"tokeniser": "unicode"},
    "no voters": {"voters": ()},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_changes_a_score_changes_the_digest(change):
    assert replace(PROFILE, **change).sha256 != PROFILE.sha256


def test_another_word_in_a_prompt_is_another_instrument(monkeypatch):
    stored = PROFILE.as_config()
    monkeypatch.setitem(prompts.SYSTEM, "pairwise", prompts.SYSTEM["pairwise"] + " Please.")
    assert PROFILE.as_config() != stored
    with pytest.raises(InvalidInput) as refusal:
        EvaluatorProfile.from_config(stored)
    assert refusal.value.code == "other_prompts"


@pytest.mark.parametrize(
    "wrong",
    [
        {"judges": ()},
        {"judges": (GPT, GPT)},
        {"voters": (GPT, GEMINI)},
        {"mode": "all"},
        {"tau": 0},
        {"tau": 1.5},
        {"tokeniser": "words"},
        {"mode": "row", "judges": (replace(GPT, logprobs=True),)},
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InvalidInput) as refusal:
        replace(PROFILE, **wrong)
    assert refusal.value.code == "bad_profile"


@pytest.mark.parametrize(
    ("provider", "model", "base_url"),
    [
        ("azure", "gpt-4o", ""),
        ("openai", "", ""),
        ("openai", "gpt 4o", ""),
        ("openai", "../gpt", "ftp://example.org"),
        ("openai-api", "qwen3", ""),
        ("openai", "gpt-4o", "http://user:secret@example.org"),
        ("openai", "gpt-4o", "https://example.org/v1?key=1"),
        ("openai", "gpt-4o", "javascript:alert(1)"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(provider, model, base_url):
    with pytest.raises(InvalidInput):
        JudgeModel(provider, model, base_url)


@pytest.mark.parametrize("stored", [{}, {"title": "x"}, {**PROFILE.as_config(), "judges": [{"provider": 1}]}])
def test_what_is_no_profile_is_refused(stored):
    with pytest.raises(InvalidInput):
        EvaluatorProfile.from_config(stored)


def test_pinning_names_the_revisions():
    assert not PROFILE.is_pinned
    found = PROFILE.pinned({model.identity: f"{model.model}-2026" for model in PROFILE.models})
    assert found.is_pinned
    assert found.judges[0].revision == found.voters[0].revision == "gpt-4o-2026"
    assert found.sha256 != PROFILE.sha256


def test_the_judges_of_the_paper_are_ready():
    assert READY["paper"] is PAPER
    assert [judge.name for judge in PAPER.judges] == ["openai/gpt-3.5-turbo", "google/gemini-2.5-pro"]
    assert PAPER.tau == 0.7


def test_prompts_put_reasons_before_scores():
    for kind, last in (("pairwise", "score"), ("vote", "vote")):
        assert list(prompts.SCHEMA[kind]["properties"])[-1] == last
        assert prompts.SYSTEM[kind].index(
            "rationale" if kind == "pairwise" else "reasoning"
        ) < prompts.SYSTEM[kind].rindex(f'"{last}"')


def test_nothing_heavy_is_imported_before_a_model_is_asked():
    code = (
        "import sys, medbench.evals.activation, medbench.evals.reports, medbench.evals.voters;"
        "print([name for name in ('inspect_ai', 'openai', 'django', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
