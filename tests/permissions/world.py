"""One small site with everything on it, for the permission table and the canary crawl.

What somebody may not see carries a word that occurs nowhere else: a canary (`CANARIES`).
"""

import datetime as dt
from types import SimpleNamespace

import numpy as np
import tifffile
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Protocol, Study
from annotation.services.assignments import claim_next
from annotation.services.outside import import_ratings
from annotation.services.protocols import copy_protocol
from annotation.services.studies import draft_study, start_study
from annotation.services.verdicts import Draft, submit_verdict
from leaderboard.models import Board, CaseScore, Judge, JudgeVerdict
from leaderboard.services import judges, profiles
from medbench.accounts.models import Membership, Team
from medbench.accounts.permissions import Role
from medbench.accounts.services import teams
from medbench.accounts.services.tokens import make_token
from medbench.cases.editions import Edition
from medbench.cases.models import Split
from medbench.cases.services.kits import build_kit, keep_kit, request_kit
from medbench.cases.services.uploads import take_upload
from medbench.jobs.models import Job, WorkerBeat
from medbench.review import triplets
from medbench.slides.services import register_slide
from tests.annotation.build import YES, compute_agreement
from tests.cases.build import make_benchmark, make_case, make_release, make_triplet
from tests.leaderboard.build import make_evaluation, make_profile, make_submission, score_cases
from tests.people import join, make_annotator, make_person, signed_in

VISITOR = "visitor"
PEOPLE = (VISITOR, "eve", "olga", "remy", "rosa", "chen", "bruno", "dara", "ada", "sam")

# A word -> who may find it somewhere.
CANARIES = {
    "zqheldquestion": {"ada", "sam"},
    "zqheldinsight": {"ada", "sam"},
    "zqheldreport": {"ada", "sam"},
    "zqbrunocomment": {"bruno", "dara", "ada", "sam"},  # whoever decides reads comments
    "zqchencomment": {"chen", "dara", "ada", "sam"},
    "zqbrunocorrection": {"bruno", "dara", "ada", "sam"},
    "zqchencorrection": {"chen", "dara", "ada", "sam"},
    "zqbrunonote": {"bruno", "dara", "ada", "sam"},
    "zqchennote": {"chen", "dara", "ada", "sam"},
    "zqoutsidemodel": {"ada", "sam"},  # its name would tell adjudicators what they compare
    "zqbrunoname": {"bruno", "ada", "sam"},
    "zqchenname": {"chen", "ada", "sam"},
    "zqprivatemethod": {"rosa", "ada", "sam"},
    "zqprivateoutput": {"rosa", "ada", "sam"},
    "zqheldoutput": set(),  # outputs on a held-out board would give its references away
    "zqslidefile": {"ada", "sam"},
    "zqslidepath": set(),
    "zqslidedescription": set(),
    "zqinvitee": {"ada", "sam"},
    "zqrosatoken": {"rosa"},
    "zqbrunomail": {"bruno", "ada", "sam"},
    "zqdraftstudy": {"ada", "dara", "sam"},
    "zqownprotocol": {"ada", "dara", "sam"},
    "zqlungcase": {"olga", "sam"},
    "zqjudgename": {"ada", "olga", "sam"},
    "zqdraftprofile": {"ada", "olga", "sam"},
    "zqjudgekey": set(),
}


def build_world():
    """Everything, in a database without anybody. Answers people and objects by name."""
    world = SimpleNamespace()
    _add_people(world)
    _add_cases(world)
    _add_studies(world)
    _add_boards(world)
    _add_small_things(world)
    # Who is signed in; None for a visitor. A reset link is good until its owner signs in again.
    world.sessions = {name: None if name == VISITOR else signed_in(getattr(world, name)) for name in PEOPLE}
    world.reset_token = teams.make_reset_token(world.ada, world.bruno)
    return world


def _add_people(world):
    world.team = Team.objects.create(name="Colon insight")
    world.ada = join(world.team, make_person("ada", "Ada Novak"), Role.CURATOR)
    world.bruno = join(world.team, make_annotator("bruno", "Bruno zqbrunoname"), Role.ANNOTATOR)
    world.bruno.email = "zqbrunomail@clinic.example"
    world.bruno.save()
    world.chen = join(world.team, make_annotator("chen", "Chen zqchenname"), Role.ANNOTATOR)
    world.dara = join(world.team, make_annotator("dara", "Dara Okafor"), Role.ADJUDICATOR)
    world.rosa = join(world.team, make_person("rosa", "Rosa Lind"), Role.RESEARCHER)
    world.remy = join(world.team, make_person("remy", "Remy Adler"), Role.RESEARCHER)
    world.eve = make_person("eve", "Eve Marsh")
    world.lung_team = Team.objects.create(name="Lung insight")
    world.olga = join(world.lung_team, make_person("olga", "Olga Ruiz"), Role.CURATOR)
    world.sam = make_person("sam", "Sam Berg", is_superuser=True, is_staff=True)


def _add_cases(world):
    world.benchmark = make_benchmark(world.team, "colon")
    world.case = make_case(world.benchmark, "C-open", slide="zqslidefile.tiff")
    world.triplet = make_triplet(world.case, "1", evidence="Tumour size: 6 cm")
    make_triplet(world.case, "2")
    make_triplet(world.case, "3")  # one to do after the one in hand
    world.slide = _scanned(world.case.slide, "zqslidepath/scan.tiff")
    world.held_case = make_case(
        world.benchmark,
        "C-held",
        split=Split.HELD_OUT,
        site="Rectum",
        report="zqheldreport",
        slide="held.tiff",
    )
    world.held_slide = _scanned(world.held_case.slide, "zqslidepath/held.tiff")
    make_triplet(world.held_case, "1", question="zqheldquestion", insight="zqheldinsight")
    world.release = make_release(world.benchmark)
    keep_kit(request_kit(world.release, by=world.ada), build_kit(world.release))
    lung = make_benchmark(world.lung_team, "lung")
    world.lung_case = make_case(lung, "zqlungcase")
    make_release(lung)


def _scanned(slide, path):
    """A real, small slide file whose free properties carry a canary."""
    pixels = np.random.default_rng(1).integers(0, 255, (256, 256, 3), np.uint8)
    file = settings.SLIDE_DIR / path
    file.parent.mkdir(exist_ok=True)
    tifffile.imwrite(
        file, pixels, tile=(128, 128), photometric="rgb", metadata=None, description="zqslidedescription"
    )
    slide.path = path
    slide.save()
    register_slide(slide)
    assert slide.is_ready, slide.refusal_text
    return slide


def _add_studies(world):
    """A running study of Bruno and Chen over the open case; each has submitted one item."""
    world.study = start_study(_draft(world, "Colon verification, round 1"))
    world.draft_study = _draft(world, "zqdraftstudy")
    world.protocol = Protocol.objects.get(key="triplet", version=2)
    world.own_protocol = copy_protocol(world.protocol, world.team, title="zqownprotocol", by=world.ada)
    for person in (world.bruno, world.chen):
        answered = claim_next(world.study, person)
        words = f"zq{person.username}"
        said = {"notes": {"grounded": f"{words}note"}, "corrections": {"insight": f"{words}correction"}}
        submit_verdict(answered, Draft(YES, f"{words}comment", 0, **said))
    world.assignment = claim_next(world.study, world.bruno)
    outside = b"item,zqoutsidemodel\n1,yes\n2,no\n"
    import_ratings(world.study, outside, kind="model", question="grounded", by=world.ada)
    compute_agreement(world.study, world.ada)


def _draft(world, title):
    protocol = Protocol.objects.get(key="triplet", version=1)
    study = Study(benchmark=world.benchmark, protocol=protocol, annotators_per_item=2, title=title)
    items = triplets.as_items(triplets.chosen(Edition(world.benchmark, world.release), site="Colon"))
    return draft_study(study, items, [world.bruno, world.chen], by=world.ada)


def _add_boards(world):
    profile = make_profile()
    world.board = Board.objects.create(release=world.release, profile=profile, split=Split.OPEN)
    world.held_board = Board.objects.create(release=world.release, profile=profile, split=Split.HELD_OUT)
    world.submission = _scored(make_submission(world.board, world.rosa, "ReAct"), ["A public output."])
    world.private_submission = _scored(
        make_submission(world.board, world.rosa, "zqprivatemethod", visibility="private"), ["zqprivateoutput"]
    )
    world.held_submission = _scored(
        make_submission(world.held_board, world.rosa, "Plan and solve"), ["zqheldoutput"], 1
    )
    # Judges quote the references that they are given, and voters the outputs.
    said = {
        "judges": ["openai/gpt-4o"],
        "raw": [[[5]]],
        "expected": None,
        "why": [[["zqheldinsight"]]],
    }
    vote = {"vote": True, "why": "zqheldoutput"}
    cast = [{"position": 0, "decision": "correct", "reason": "", "votes": [vote]}]
    CaseScore.objects.filter(evaluation__submission=world.held_submission).update(
        judged=said, voted={"voters": ["openai/gpt-4o"], "matched": [False], "votes": cast}
    )
    JudgeVerdict.objects.create(key="zq", value={"text": "zqheldinsight zqheldoutput"})
    waiting = make_submission(world.board, world.rosa, "Reflexion")
    make_evaluation(waiting, state=Job.State.QUEUED)
    world.waiting_submission = waiting
    world.open_team = Team.objects.create(name="Open insight", open_to_researchers=True)
    benchmark = make_benchmark(world.open_team, "open")
    world.shared_case = make_case(benchmark, "O-1")
    make_triplet(world.shared_case, "1")
    world.shared_board = Board.objects.create(release=make_release(benchmark), profile=profile)


def _add_judges(world):
    """A judge and a profile made from it, which is a draft."""
    judge = Judge(name="zqjudgename", provider="openai", model="gpt-4o")
    world.judge = judges.save_judge(judge, "zqjudgekey", world.ada)
    world.profile = profiles.compose("zqdraftprofile", [judge], [], mode="row", tau=0.7, by=world.ada)
    world.unused_judge = judges.save_judge(
        Judge(name="Spare", provider="openai", model="gpt-5"), "", world.ada
    )


def _scored(submission, insights, references=3):
    score_cases(make_evaluation(submission, 0.5), insights, np.full((references, 1), 0.5))
    return submission


def _add_small_things(world):
    world.membership = Membership.objects.get(user=world.bruno)
    world.invitation, world.invitation_secret = teams.invite(
        world.team, Role.RESEARCHER, note="zqinvitee", days=14, by=world.ada
    )
    world.token, _ = make_token(world.rosa, "zqrosatoken", expires_at=timezone.now())
    _add_judges(world)
    # A worker that keeps looking for work while the tests run: /healthz asks for one.
    WorkerBeat.objects.create(worker="here:1", slots=2, swept_at=timezone.now() + dt.timedelta(hours=1))
    world.upload = take_upload(SimpleUploadedFile("bundle.zip", b"no bundle"), by=world.ada)
