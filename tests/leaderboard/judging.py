"""Judges of the site whose models live on a scripted server."""

import json

from django.utils import timezone

from leaderboard.models import Board, EvaluatorProfile, Judge
from leaderboard.services import judges, profiles
from tests.evals.build import KEY
from tests.evals.scripts import data_of
from tests.leaderboard.build import make_board, own_insights


def allow(settings, server):
    """Let judges live on the scripted server, as a site's owner would."""
    settings.JUDGE_ADDRESSES = [
        *settings.JUDGE_ADDRESSES,
        *{server.base_url(p) for p in ("openai", "google")},
    ]
    settings.JUDGE_NETWORKS = ["127.0.0.0/8"]


def make_judge(server, by, name="judge-1", provider="openai-api", key=KEY, **fields):
    """A judge with a key, whose model has its name; its address must be allowed."""
    judge = Judge(
        name=name,
        provider=provider,
        model=name,
        base_url=server.base_url(provider) if server else "",
        **fields,
    )
    return judges.save_judge(judge, key, by)


def run_job(job):
    """Do a queued job, as a worker would, and answer its row as it stands then."""
    from medbench.jobs import attempt, services

    claimed = services.claim("test")
    assert claimed.pk == job.pk, "another job was waiting"
    attempt.run(attempt.Attempt(claimed))
    job.refresh_from_db()
    return job


def make_draft(*rows, by, title="Two judges", mode="row", voters=(), tau=0.7):
    """A profile that was not checked yet. A row asks less than pairs do."""
    return profiles.compose(title, rows, voters, mode=mode, tau=tau, by=by)


def activated(draft, by):
    """Check a draft, and answer the profile that came of it."""
    run_job(profiles.request_check(draft, by))
    draft.refresh_from_db()
    return EvaluatorProfile.objects.get(pk=draft.activation["pinned"])


def judged_board(
    server,
    team,
    by,
    *,
    judges=1,
    voters=0,
    mode="row",
    n_cases=3,
    price=None,
    budget=None,
    slide=None,
    split="open",
):
    """A board whose profile is active without having been checked; its models live on the server."""
    money = {"price_input": price, "price_output": price, "budget": budget}
    names = [f"judge-{n}" for n in range(1, judges + 1)], [f"voter-{n}" for n in range(1, voters + 1)]
    rows = [[make_judge(server, by, name, **money) for name in group] for group in names]
    profile = make_draft(*rows[0], voters=rows[1], by=by, mode=mode)
    EvaluatorProfile.objects.filter(pk=profile.pk).update(activated_at=timezone.now())
    profile.refresh_from_db()
    board = make_board(team, n_cases=n_cases, slide=slide, insights=own_insights, split=split)
    Board.objects.filter(pk=board.pk).update(profile=profile)
    board.refresh_from_db()
    return board


def keys_asked(server):
    """Every question as it was asked: model and data, but for the random marks around it."""
    return [(asked.model, json.dumps(data_of(asked))) for asked in server.asked]
