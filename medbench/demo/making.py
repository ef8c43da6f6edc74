"""Makes the demo: a benchmark with slides, a study half done, a board with finished evaluations.

Everything goes through the services that people use, so the demo also shows that the rules fit
together. It may be run again: what is there is left as it is.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.models import Assignment, Protocol, Study
from annotation.protocols import Definition
from annotation.services import agreement, assignments, studies, verdicts
from leaderboard.models import Submission
from leaderboard.services import boards, submissions
from medbench.accounts.models import AnnotatorProfile, User
from medbench.accounts.services import people, teams
from medbench.cases.editions import Edition
from medbench.cases.models import Benchmark, Release, Split
from medbench.cases.services import import_benchmark
from medbench.demo.people import PASSWORD, PEOPLE
from medbench.demo.slides import write_slide
from medbench.formats.bundle import read_bundle
from medbench.jobs import services as jobs
from medbench.jobs.attempt import Attempt, run
from medbench.review.triplets import as_items, chosen

if TYPE_CHECKING:
    from collections.abc import Callable

BUNDLE = Path(__file__).parent / "bundle"
SLIDES = 5  # the first cases have one; the sixth names one that is missing
NOTE = "As the report words it."
RESULTS = ("stepwise.json", "terse.json", "generic.json")
PROFILES = {
    "bruno": (AnnotatorProfile.Background.PATHOLOGIST, "Gastrointestinal pathology", 11),
    "chen": (AnnotatorProfile.Background.STUDENT, "General pathology", 2),
}
STUDY = "Demo verification, round 1"
READ_SHARE = {"bruno": 0.75, "chen": 0.65}  # of their items, so that some wait and some overlap
HARD = 4  # one item in so many is hard: there both doubt, and so often differ


def make_people() -> dict[str, User]:
    """The demo's people by sign-in name. Ada is site curator, so that she can import benchmarks."""
    found = {user.username: user for user in User.objects.filter(username__in=[p.username for p in PEOPLE])}
    for who in PEOPLE:
        if who.username not in found:
            found[who.username] = people.add_person(
                who.username,
                who.name,
                f"{who.username}@example.org",
                PASSWORD,
                site_curator=who.role == "curator",
            )
    for username, (background, field, years) in PROFILES.items():
        AnnotatorProfile.objects.get_or_create(
            user=found[username], defaults={"background": background, "field": field, "years": years}
        )
    return found


def make_slides(folder: Path, tick: Callable[[], object]) -> None:
    """Draw the demo's slides into `folder`; those drawn already are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, SLIDES + 1):
        path = folder / f"DEMO-{number:02}.svs"
        if not path.exists():
            unfinished = path.with_suffix(".part")
            write_slide(unfinished, seed=number)
            unfinished.rename(path)
        tick()


def make_benchmark(curator: User, slides_dir: Path, team: dict[str, User]) -> Release:
    """Import the demo's bundle, open it to researchers and give everyone their role."""
    bundle = read_bundle(BUNDLE, slides_dir=slides_dir)
    import_benchmark(bundle, by=curator)
    benchmark = Benchmark.objects.get(name=bundle.info.name)
    teams.open_to_researchers(benchmark.team, is_open=True)
    for who in PEOPLE:
        if who.role != "researcher":  # anybody who signs in is one here
            teams.give_role(benchmark.team, team[who.username], who.role)
    return benchmark.releases.get(version=bundle.info.version)


def make_study(release: Release, curator: User, annotators: list[User]) -> Study:
    """A study of the release's triplets, read in part by its annotators, who mostly agree."""
    study = Study.objects.filter(title=STUDY).first()
    if study:
        return study
    protocol = Protocol.objects.filter(key="triplet").latest("version")
    items = as_items(chosen(Edition(release.benchmark, release)).filter(release_case__split=Split.OPEN))
    study = Study(benchmark=release.benchmark, protocol=protocol, title=STUDY, annotators_per_item=2, seed=7)
    study = studies.start_study(studies.draft_study(study, items, annotators, by=curator))
    for annotator in annotators:
        read_share(study, annotator, Definition.read(protocol.definition))
    agreement.recompute(study, by=curator)
    return study


def read_share(study: Study, annotator: User, protocol: Definition) -> None:
    """Let an annotator answer their share; they seldom miss the first option but on hard items."""
    mine = Assignment.objects.filter(study_item__study=study, annotator=annotator).count()
    drawn = random.Random(annotator.username)  # noqa: S311  # the same demo every time
    for _ in range(round(READ_SHARE[annotator.username] * mine)):
        assignment = assignments.claim_next(study, annotator)
        if assignment is None:
            return
        own = assignment.study_item.item.payload.get("category")
        sure = 0.3 if assignment.study_item.position % HARD == 0 else 0.96
        chosen = {}
        for question in protocol.questions:
            *judging, cannot = question.options
            # Sure of the first answer that needs no region: nobody draws any here.
            affirmed = next(option for option in judging if option.requires != "region")
            affirmed = next((option for option in judging if option.value == own), affirmed)
            doubts = drawn.choice((judging[1], judging[1], cannot))
            chosen[question.key] = affirmed if drawn.random() < sure else doubts
        answers = {key: option.value for key, option in chosen.items()}
        is_anchored = bool(assignment.study_item.item.payload["span"])
        asks = ("note",) if is_anchored else ("note", "proof")
        notes = {key: NOTE for key, option in chosen.items() if option.requires in asks}
        verdicts.submit_verdict(assignment, verdicts.Draft(answers, "", 0, notes=notes))


def make_boards(release: Release, curator: User, researcher: User) -> None:
    """Open the boards of both splits and submit the demo's result files to the open one."""
    profile = boards.rouge_profile()
    board = boards.open_board(release, profile, Split.OPEN, curator)
    boards.open_board(release, profile, Split.HELD_OUT, curator)
    for name in RESULTS:
        data = (BUNDLE / "results" / name).read_bytes()
        if not Submission.objects.filter(submitted_by=researcher, file_name=name).exists():
            submissions.submit(board, data, name, researcher, idempotency_key=f"demo {name}")


def work_off_jobs(tick: Callable[[], object]) -> None:
    """Do here and now what is queued, so that the demo opens with everything finished."""
    while (job := jobs.claim("make_demo")) is not None:
        run(Attempt(job))
        tick()
