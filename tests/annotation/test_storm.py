"""Many annotators at once, whose windows, networks and connections fail: no verdict lost, none doubled."""

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import Error, connection, transaction
from django.utils import timezone

from annotation.models import Assignment, StudyAction, Verdict, VerdictRevision
from annotation.services.assignments import claim_next, skip
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench.accounts.permissions import Role
from medbench.errors import Conflict
from tests.annotation.build import YES, make_cases, make_study
from tests.people import join, make_annotator

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one lock for all rows"),
]


class CrashError(Exception):
    """The process of the server ends in the middle of a transaction."""


class Storm:
    """A study, its annotators, and what each of them was told is submitted."""

    def __init__(self, study, people, seed):
        self.study = study
        self.people = people
        self.seed = seed
        self.wanted = study.items.count() * study.annotators_per_item
        self.told = {}  # (annotator, study item) -> comment of the verdict that was acknowledged
        self.lock = threading.Lock()
        self.met = Counter()  # what went wrong, and how often

    def rage(self):
        with ThreadPoolExecutor(len(self.people)) as pool:
            for each in [pool.submit(self.work, number) for number in range(len(self.people))]:
                each.result()

    def work(self, number):
        """One annotator, until every item has its verdicts."""
        chance, person, pause = random.Random(f"{self.seed}:{number}"), self.people[number], threading.Event()
        try:
            while len(self.told) < self.wanted:
                held = claim_next(self.study, person)
                if held is None:  # the rest is with others
                    pause.wait(0.02)
                    continue
                self.treat(held, chance)
        finally:
            connection.close()

    def treat(self, held, chance):
        """Answer an item, or fail at it in one of the ways in which people, networks and servers fail."""
        draft = Draft(YES, f"{held.annotator_id} of {held.study_item_id}, {chance.random()}", 0)
        if (verdict := Verdict.objects.filter(assignment=held).first()) is not None:
            draft = draft._replace(version=verdict.version)
        what = chance.choices(list(self.WAYS), list(self.WAYS.values()))[0]
        with self.lock:
            self.met[what] += 1
        getattr(self, what)(held, draft)

    WAYS = {  # noqa: RUF012  # a way to treat an item -> how often, in percent
        "submit": 30,
        "submit_twice": 10,
        "leave": 10,
        "draft_and_leave": 10,
        "crash": 10,
        "lose_connection": 10,
        "come_back_late": 10,
        "skip": 10,
    }

    def submit(self, held, draft):
        submit_verdict(held, draft)
        with self.lock:
            self.told[held.annotator_id, held.study_item_id] = draft.comment

    def submit_twice(self, held, draft):
        """The answer to the first request got lost."""
        self.submit(held, draft)
        self.submit(held, draft)

    def leave(self, held, _draft):
        """The window is closed, and the hold runs out."""
        past = timezone.now() - timedelta(minutes=1)
        Assignment.objects.filter(pk=held.pk, state="held").update(held_until=past)

    def draft_and_leave(self, held, draft):
        save_verdict(held, draft)
        self.leave(held, draft)

    def crash(self, held, draft):
        with suppress(CrashError), transaction.atomic():
            submit_verdict(held, draft)
            raise CrashError

    def lose_connection(self, held, draft):
        with suppress(Error), transaction.atomic():
            submit_verdict(held, draft)
            connection.connection.close()
        connection.close()

    def come_back_late(self, held, draft):
        """The hold has run out, perhaps somebody else has the item: then the verdict is refused."""
        self.leave(held, draft)
        try:
            self.submit(held, draft)
        except Conflict as refusal:
            if refusal.code != "hold_lost":
                raise

    def skip(self, held, _draft):
        skip(held)
        Assignment.objects.filter(pk=held.pk).update(state="waiting")  # or nobody would be left for it


def check(storm):
    """Each item has exactly its verdicts, and they are those of which their authors were told."""
    study = storm.study
    submitted = Assignment.objects.filter(study_item__study=study, state="submitted")
    per_item = Counter(submitted.values_list("study_item", flat=True))
    assert set(per_item) == set(study.items.values_list("pk", flat=True))
    assert set(per_item.values()) == {study.annotators_per_item}
    stored = Verdict.objects.filter(submitted_at__isnull=False)
    rows = stored.values_list("assignment__annotator", "assignment__study_item", "comment")
    assert {(person, item): comment for person, item, comment in rows} == storm.told
    revisions = VerdictRevision.objects.filter(submitted=True)
    assert revisions.count() == storm.wanted  # what was sent twice counts once
    assert StudyAction.objects.filter(study=study, what="answered").count() == storm.wanted
    assert not Assignment.objects.filter(study_item__study=study, state="held").exists()
    assert all(storm.met[way] for way in Storm.WAYS)


def storm_over(team, ada, *, n_people, n_cases, n_triplets, seed):
    people = [join(team, make_annotator(f"reader{number}"), Role.ANNOTATOR) for number in range(n_people)]
    study = make_study(make_cases(team, n_cases, n_triplets), people, ada, per_item=3)
    storm = Storm(study, people, seed)
    storm.rage()
    check(storm)


def test_in_a_storm_each_item_gets_exactly_its_verdicts(team, ada):
    storm_over(team, ada, n_people=8, n_cases=5, n_triplets=5, seed=7)


@pytest.mark.long
def test_fifty_annotators_of_a_thousand_items_lose_and_double_nothing(team, ada):
    storm_over(team, ada, n_people=50, n_cases=100, n_triplets=10, seed=11)
