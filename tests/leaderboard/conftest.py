import pytest

from leaderboard.models import Board
from leaderboard.services.boards import rouge_profile
from medbench.accounts.models import Team
from medbench.accounts.permissions import Role
from medbench.cases.services import import_benchmark
from medbench.formats.bundle import read_bundle
from tests.people import join


@pytest.fixture
def make_team(db):
    """make_team(person): another team, in which the person is a researcher."""

    def make_team(person):
        team = Team.objects.create(name=f"Team {Team.objects.count() + 1}")
        join(team, person, Role.RESEARCHER)
        return team

    return make_team


@pytest.fixture
def tcga_mini(testdata, db, rosa, team):
    """The open ROUGE-1 board of the bundle tcga-mini, in a team in which Rosa is a researcher."""
    bundle = read_bundle(testdata / "data/bundles/tcga-mini")
    outcome = import_benchmark(bundle, by=None)
    join(outcome.release.benchmark.team, rosa, Role.RESEARCHER)
    return Board.objects.create(release=outcome.release, profile=rouge_profile(), split="open")
