"""The demo is made by the services that people use; what a newcomer finds in it."""

import openslide
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Study, Verdict
from leaderboard.models import Evaluation
from medbench.accounts.models import User
from medbench.cases.models import Release
from medbench.demo.people import PASSWORD, PEOPLE
from medbench.demo.slides import MPP_UM, write_slide
from medbench.jobs.models import Job


@pytest.fixture
def demo(transactional_db, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    call_command("make_demo", no_slides=True)


def test_demo_has_a_study_half_done_and_a_board_with_finished_evaluations(demo):
    assert Release.objects.get().cases.count() == 14
    study = Study.objects.get()
    submitted = Verdict.objects.filter(submitted_at__isnull=False).count()
    assert study.state == Study.State.RUNNING
    assert 0 < submitted < 2 * study.items.count()
    assert Evaluation.objects.filter(f1__isnull=False).count() == 3
    assert not Job.objects.exclude(state=Job.State.DONE).exists()


def test_everybody_of_the_demo_can_sign_in(demo, client):
    for who in PEOPLE:
        assert client.login(username=who.username, password=PASSWORD)


def test_making_the_demo_again_changes_nothing(demo):
    before = (
        User.objects.count(),
        Study.objects.count(),
        Evaluation.objects.count(),
        Verdict.objects.count(),
    )
    call_command("make_demo", no_slides=True)
    after = (User.objects.count(), Study.objects.count(), Evaluation.objects.count(), Verdict.objects.count())
    assert after == before


def test_demo_is_refused_in_production(db, settings):
    settings.PRODUCTION = True
    with pytest.raises(CommandError, match="production"):
        call_command("make_demo")
    assert not User.objects.exists()


def test_drawn_slide_is_one_that_openslide_reads_with_its_scale(tmp_path):
    write_slide(tmp_path / "drawn.svs", seed=1, width_px=700, height_px=500)
    with openslide.OpenSlide(tmp_path / "drawn.svs") as slide:
        assert slide.properties[openslide.PROPERTY_NAME_VENDOR] == "aperio"
        assert slide.level_dimensions == ((700, 500), (175, 125), (44, 32))
        assert float(slide.properties[openslide.PROPERTY_NAME_MPP_X]) == MPP_UM
