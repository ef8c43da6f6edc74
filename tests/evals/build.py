"""Profiles and sessions whose models live on a scripted server."""

from medbench.evals.profiles import EvaluatorProfile, JudgeModel
from medbench.evals.session import Limits, Session
from medbench.evals.stores import MemoryStore

KEY = "sk-test-secret"
QUICK = Limits(connections=4, retries=2, first_wait_s=0.01, longest_wait_s=0.02, timeout_s=20)


def model_at(server, name="local-judge", provider="openai-api", **settings):
    """A model of a scripted server."""
    return JudgeModel(provider, name, base_url=server.base_url(provider), **settings)


def profile_at(server, *, judges=2, voters=0, **settings):
    """A profile whose models all live on a scripted server."""
    return EvaluatorProfile(
        "Test",
        tuple(model_at(server, f"judge-{i}") for i in range(1, judges + 1)),
        tuple(model_at(server, f"voter-{i}") for i in range(1, voters + 1)),
        **settings,
    )


def session_for(*models, store=None, limits=QUICK, **settings):
    """A session with a key for each model."""
    keys = {model.identity: KEY for model in models}
    return Session(keys, MemoryStore() if store is None else store, limits=limits, **settings)
