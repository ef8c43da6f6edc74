"""Agreement is computed in the background from the verdicts that count, and can be had again."""

import datetime as dt
import json
import threading

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.agreement import coefficients, files, ratings
from annotation.models import Agreement, Protocol
from annotation.protocols import Definition
from annotation.services import agreement
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench import jobs
from medbench.accounts.permissions import Role
from medbench.errors import InvalidInput
from medbench.jobs.attempt import Attempt, run
from medbench.jobs.models import Job
from tests.annotation.build import YES, answer_all, compute_agreement, make_cases, make_study
from tests.people import join, make_annotator


def scored(*keys, scale="score", values=range(1, 11)):
    """A protocol of questions with a scale of its own."""
    options = [{"value": str(value), "label": str(value).upper()} for value in values]
    options.append({"value": "cannot", "label": "Cannot judge", "status": "unsure"})
    questions = [{"key": key, "title": key.title(), "scale": scale, "options": options} for key in keys]
    return Protocol.objects.create(
        key=f"of-{scale}", version=1, title="Scores", kind="triplet", definition={"questions": questions}
    )


def waiting():
    return list(Job.objects.filter(kind=agreement.KIND, state=Job.State.QUEUED))


def one_result(study, ada):
    (result,) = compute_agreement(study, ada).result["questions"]
    return result


# --- When it is computed --------------------------------------------------------------------


def test_a_burst_of_verdicts_is_answered_by_one_job_a_while_later(
    study, bruno, chen, django_capture_on_commit_callbacks
):
    for person in (bruno, chen):
        with django_capture_on_commit_callbacks(execute=True):
            answer_all(study, person, YES)
    (job,) = waiting()
    assert jobs.services.claim("worker") is None  # the burst may go on
    assert dt.timedelta(0) < job.not_before - timezone.now() <= agreement.REST

    Job.objects.update(not_before=None)
    run(Attempt(jobs.services.claim("worker")))
    row = study.agreements.get()
    assert [result["n_pairable"] for result in row.result["questions"]] == [4, 4, 4, 4]
    assert (row.verdicts[0], row.seed, row.resamples) == ("8", study.seed, 2000)


def test_a_verdict_that_comes_while_agreement_is_computed_has_it_computed_again(
    study, bruno, ada, django_capture_on_commit_callbacks
):
    running = agreement.recompute(study, ada)
    jobs.services.claim("worker")
    with django_capture_on_commit_callbacks(execute=True):
        answer_all(study, bruno, YES)
    (job,) = waiting()
    assert job != running.job


def test_a_draft_and_a_refused_verdict_have_nothing_computed(
    study, bruno, django_capture_on_commit_callbacks
):
    held = claim_next(study, bruno)
    with django_capture_on_commit_callbacks(execute=True):
        save_verdict(held, Draft(YES, "", 0))
        with pytest.raises(InvalidInput):
            submit_verdict(held, Draft({"grounded": "yes"}, "", 1))
    assert not Agreement.objects.exists()


def test_whoever_asks_for_it_does_not_wait_for_the_burst_to_end(
    study, bruno, ada, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        answer_all(study, bruno, YES)
    agreement.recompute(study, ada)
    agreement.recompute(study, ada)
    assert jobs.services.claim("worker") == study.agreements.get().job


def test_a_new_generation_takes_the_place_of_the_old_one_of_the_same_version(study, bruno, chen, ada):
    answer_all(study, bruno, YES)
    compute_agreement(study, ada)
    study.agreements.update(software_version="0.0.1")
    compute_agreement(study, ada)
    answer_all(study, chen, YES)
    compute_agreement(study, ada)
    assert list(study.agreements.values_list("generation", "software_version")) == [
        (3, settings.VERSION),
        (1, "0.0.1"),
    ]


def test_the_job_twice_in_a_row_gives_the_same(study, bruno, chen, ada):
    answer_all(study, bruno, YES)
    answer_all(study, chen, lambda position: YES | {"grounded": "yes" if position % 2 else "no"})
    row = compute_agreement(study, ada)
    Job.objects.filter(pk=row.job.pk).update(state=Job.State.RUNNING)
    run(Attempt(row.job))
    again = study.agreements.get()
    assert (again.result, again.computed_at) == (row.result, row.computed_at)
    assert compute_agreement(study, ada).result == row.result  # and so does the next generation


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_at_the_same_moment_get_one_job(study, ada):
    start, got = threading.Barrier(4), []

    def ask():
        start.wait()
        got.append(agreement.recompute(study, ada).pk)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 4
    assert len(set(got)) == 1
    assert len(waiting()) == 1


def test_an_attempt_that_was_superseded_writes_nothing(study, bruno, ada):
    answer_all(study, bruno, YES)
    late = agreement.recompute(study, ada)
    job = jobs.services.claim("worker")
    Job.objects.filter(pk=job.pk).update(attempt=2)  # somebody else's by now
    run(Attempt(job))
    late.refresh_from_db()
    assert late.computed_at is None


# --- What is rated and what is missing -------------------------------------------------------


def test_cannot_judge_and_blank_are_missing_and_counted(team, ada, bruno, chen):
    study = make_study(make_cases(team, 1, 4), [bruno, chen], ada)
    answer_all(study, bruno, lambda position: YES | {"grounded": "cannot_judge" if position == 1 else "yes"})
    answer_all(study, chen, lambda position: YES | {"grounded": "no" if position == 2 else "yes"})
    result = compute_agreement(study, ada).result["questions"][0]
    assert (result["n_verdicts"], result["n_ratings"], result["n_cannot_judge"], result["n_blank"]) == (
        8,
        7,
        1,
        0,
    )
    assert (result["n_items"], result["n_pairable"]) == (4, 3)
    assert result["labels"] == ["yes", "no"]  # cannot judge is no category
    assert result["percent_agreement"] == pytest.approx(2 / 3)


def test_a_question_that_need_not_be_answered_is_blank_where_it_is_not(team, ada, bruno):
    protocol = scored("depth")
    protocol.definition["questions"][0]["required"] = False
    protocol.save()
    study = make_study(make_cases(team, 1, 2), [bruno], ada, per_item=1, protocol=protocol)
    answer_all(study, bruno, lambda position: {"depth": "3"} if position == 1 else {})
    (table,) = ratings.of_study(study)
    assert (table.n_verdicts, table.n_blank, table.n_cannot_judge) == (2, 1, 0)


def test_of_a_changed_verdict_the_one_submitted_last_counts(study, bruno, chen, ada):
    for person in (bruno, chen):
        held = claim_next(study, person)
        submit_verdict(held, Draft(YES, "", 0))
        submit_verdict(held, Draft(YES | {"grounded": "no"}, "", 2))
        save_verdict(held, Draft(YES, "a draft", 4))
    (grounded, *_) = ratings.of_study(study)
    assert [value for row in grounded.table.cells for value in row if value] == ["no", "no"]


def test_no_verdict_at_all_is_no_fault(study, ada):
    result = compute_agreement(study, ada).result["questions"][0]
    assert (result["n_items"], result["alpha"]["reason"]) == (0, "no_pairable_units")


# --- Which coefficient -----------------------------------------------------------------------


def names(found):
    return [each.name for each in found]


def test_categories_have_alpha_nominal(study, bruno, chen, ada):
    answer_all(study, bruno, YES)
    answer_all(study, chen, lambda position: YES | {"grounded": "yes" if position % 2 else "no"})
    result = compute_agreement(study, ada).result["questions"][0]
    assert names(coefficients.fitting(result))[0] == "alpha nominal"
    assert names(coefficients.every(result)) == ["alpha nominal", "AC1"]


def test_scores_have_alpha_ordinal_and_icc_with_the_raters_levels(team, ada, bruno, chen):
    """Chen scores as Bruno does, but three lower: consistent, not in agreement."""
    study = make_study(make_cases(team, 2, 6), [bruno, chen], ada, protocol=scored("depth"))
    answer_all(study, bruno, lambda position: {"depth": str(4 + position % 6)})
    answer_all(study, chen, lambda position: {"depth": str(1 + position % 6)})
    result = one_result(study, ada)
    alpha, single, mean = coefficients.fitting(result)
    assert names([alpha, single, mean]) == ["alpha ordinal", "ICC(A,1)", "ICC(A,k), k = 2"]
    by_name = {each.name: each for each in coefficients.every(result)}
    assert by_name["ICC(C,1)"].value == pytest.approx(1)
    assert single.value < 0.6
    assert single.reading.split(" ")[0] in ("poor", "moderate")
    assert "scale_shift" in {warning["code"] for warning in result["warnings"]}
    assert result["pearson"]["mean"] == pytest.approx(1)


def test_scores_with_holes_say_that_icc_is_by_reml(team, ada, bruno, chen):
    efua = join(team, make_annotator("efua"), Role.ANNOTATOR)
    study = make_study(make_cases(team, 2, 6), [bruno, chen, efua], ada, protocol=scored("depth"))
    for turn, person in enumerate((bruno, chen, efua, bruno, chen, efua) * 4):
        held = claim_next(study, person)
        submit_verdict(held, Draft({"depth": str(1 + (held.study_item.position * 2 + turn % 2) % 10)}, "", 0))
    assert names(coefficients.fitting(one_result(study, ada)))[1] == "ICC(A,1), REML"


def test_ordered_categories_have_both_alphas(team, ada, bruno, chen):
    protocol = scored("novelty", scale="ordered", values="abc")
    study = make_study(make_cases(team, 1, 6), [bruno, chen], ada, protocol=protocol)
    answer_all(study, bruno, lambda position: {"novelty": "abc"[position % 3]})
    answer_all(study, chen, lambda position: {"novelty": "aabccc"[position - 1]})
    result = one_result(study, ada)
    assert names(coefficients.fitting(result)) == ["alpha ordinal", "alpha nominal"]
    assert result["labels"] == ["a", "b", "c"]  # in the order of the protocol


@pytest.mark.parametrize("question", [{"scale": "likert"}, {"scale": "score"}])
def test_a_scale_that_cannot_be_is_refused(question):
    options = [{"value": "good", "label": "Good"}, {"value": "bad", "label": "Bad"}]
    with pytest.raises(InvalidInput, match="depth"):
        Definition.read({"questions": [{"key": "depth", "title": "Depth", "options": options} | question]})


def test_readings_name_whose_words_they_are_and_where_the_interval_reads_otherwise():
    def of(scale, value, *ci):
        return coefficients.Coefficient("", value, ci or None, "", scale).reading

    assert of(coefficients.KRIPPENDORFF, 0.85, 0.81, 0.9) == "reliable"
    assert of(coefficients.KRIPPENDORFF, 0.712, 0.531, 0.861) == "tentative (unreliable to reliable)"
    assert of(coefficients.KRIPPENDORFF, -0.1) == "no agreement"
    assert of(coefficients.KOO_LI, 0.681, 0.523, 0.72) == "moderate"
    assert of("", 0.9) == ""
    assert of(coefficients.KOO_LI, None) == ""


# --- By what annotators bring -----------------------------------------------------------------


def test_agreement_is_split_by_background_where_two_share_one(team, ada, bruno, chen):
    efua = join(team, make_annotator("efua", background="pathologist", years=3), Role.ANNOTATOR)
    study = make_study(make_cases(team, 1, 6), [bruno, chen, efua], ada, per_item=3)
    for person in (bruno, efua):
        answer_all(study, person, lambda position: YES | {"grounded": "yes" if position % 2 else "no"})
    answer_all(study, chen, YES)  # the student
    splits = compute_agreement(study, ada).result["questions"][0]["splits"]
    within, between = (row for row in splits if row["by"] == "background")
    assert (within["groups"], within["n_annotators"], within["alpha"]["value"]) == (["Pathologist"], 2, 1.0)
    assert sorted(between["groups"]) == ["Pathologist", "Student with a background in pathology"]
    assert (between["n_pairs"], between["percent_agreement"]) == (12, 0.5)
    assert ["0–4 years", "10–19 years"] in [row["groups"] for row in splits if row["by"] == "years"]


# --- The same numbers again -------------------------------------------------------------------


def test_the_command_finds_the_same_in_the_ratings_that_can_be_downloaded(
    team, ada, bruno, chen, tmp_path, capsys
):
    study = make_study(make_cases(team, 2, 6), [bruno, chen], ada, protocol=scored("depth"), seed=7)
    answer_all(study, bruno, lambda position: {"depth": str(1 + position % 10)})
    answer_all(study, chen, lambda position: {"depth": "cannot" if position == 3 else str(1 + position % 7)})
    result = one_result(study, ada)
    (question,) = Definition.read(study.protocol.definition).questions
    file = tmp_path / "ratings.csv"
    file.write_text(files.ratings_csv(study, question), newline="")
    order = ",".join(option.value for option in question.judging)
    call_command("agreement", str(file), level="ordinal", order=order.split(","), seed=7, b=2000, json=True)
    printed = json.loads(capsys.readouterr().out)
    for name in ("n_items", "n_ratings", "n_pairable", "percent_agreement", "alpha", "icc", "pearson", "ac2"):
        assert printed[name] == result[name], name
