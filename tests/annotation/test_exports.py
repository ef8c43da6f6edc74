"""The history of a study as a file, and verdicts as they stood at a moment."""

import csv
import io
import json

from django.utils import timezone

from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from tests.annotation.build import YES
from tests.people import signed_in


def lines_of(curator, study, **query):
    answer = signed_in(curator).get(f"/api/v1/studies/{study.pk}/history.jsonl", query)
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.getvalue().decode().splitlines()]


def rows_of(curator, study, **query):
    answer = signed_in(curator).get(f"/api/v1/studies/{study.pk}/verdicts.csv", query)
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_every_change_of_every_verdict_is_in_the_history_drafts_too(study, ada, bruno, chen):
    for person in (bruno, chen):
        held = claim_next(study, person)
        save_verdict(held, Draft({"grounded": "no"}, "Zögernd <b>", 0))
        submit_verdict(held, Draft(YES, "", 1))
    lines = lines_of(ada, study)
    assert len(lines) == 6
    assert [(each["version"], each["submitted"]) for each in lines[:3]] == [(1, False), (2, False), (3, True)]
    assert lines[0]["answers"] == {"grounded": "no"}
    assert lines[0]["comment"] == "Zögernd <b>"
    assert {each["annotator"] for each in lines} == {"A", "B"}
    assert "Bruno" not in str(lines)


def test_verdicts_can_be_had_as_they_stood_at_a_moment(study, ada, bruno):
    held = claim_next(study, bruno)
    before = timezone.now()
    submit_verdict(held, Draft(YES, "first", 0))
    between = timezone.now()
    submit_verdict(held, Draft(YES | {"aligned": "no"}, "second", 2))
    assert rows_of(ada, study, as_of=before.isoformat()) == []
    assert lines_of(ada, study, as_of=before.isoformat()) == []
    (then,) = rows_of(ada, study, as_of=between.isoformat())
    assert (then["aligned"], then["comment"]) == ("yes", "first")
    (now,) = rows_of(ada, study)
    assert (now["aligned"], now["comment"]) == ("no", "second")
    assert len(lines_of(ada, study, as_of=between.isoformat())) < len(lines_of(ada, study))


def test_what_is_no_moment_is_refused_with_an_example(study, ada):
    for part in ("verdicts.csv", "history.jsonl"):
        answer = signed_in(ada).get(f"/api/v1/studies/{study.pk}/{part}", {"as_of": "yesterday"})
        assert answer.status_code == 400
        assert "ISO 8601" in answer.content.decode()
