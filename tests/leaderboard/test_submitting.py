"""Submitting a result file: by page, API and command, with one validator."""

import json
import os
import threading
import time
from io import StringIO

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from leaderboard.models import Board, Evaluation, Output, Submission
from leaderboard.services import submissions
from leaderboard.services.submissions import Details, ResultsRefused, submit
from medbench.accounts.models import Membership
from medbench.accounts.permissions import Role
from medbench.cases.models import Split
from medbench.errors import Conflict, NotAllowed, NotFound
from medbench.jobs.models import Job
from tests.leaderboard.build import make_board
from tests.leaderboard.results import as_bytes
from tests.people import join, make_person, signed_in

GOOD = as_bytes(**{"C-1": ["Margins are negative."], "C-2": [{"insight": "6 cm", "question": "How large?"}]})
NO_BOARD = "00000000-0000-0000-0000-000000000000"
BAD = as_bytes(**{"C-1": ["x" * 1_001, 7], "TCGA-X1": ["The tumour measures 6 cm."]})


def upload(data, name="results.json"):
    return SimpleUploadedFile(name, data)


def post(person, board, data, **headers):
    form = {"file": upload(data), "board": str(board.pk)}
    return signed_in(person).post("/api/v1/submissions/", form, headers=headers)


def read(submission):
    with submission.file.open() as file:
        return file.read()


def assert_nothing_recorded():
    for model in (Submission, Output, Evaluation, Job):
        assert not model.objects.exists()
    assert not default_storage.exists("submissions") or not default_storage.listdir("submissions")[1]


@pytest.fixture(autouse=True)
def own_files(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path


@pytest.mark.django_db
def test_a_submission_is_recorded_with_its_file_outputs_and_waiting_evaluation(team, rosa):
    board = make_board(team)
    submission = submit(board, GOOD, "../../run 7.json", rosa, details=Details(backbone=" gpt-5 "))
    assert (submission.number, submission.method, submission.backbone) == (1, "ReAct", "gpt-5")
    assert read(submission) == GOOD
    assert ".." not in submission.file.name
    outputs = submission.outputs.order_by("release_case__position", "position")
    assert [(each.insight, each.question) for each in outputs] == [
        ("Margins are negative.", ""),
        ("6 cm", "How large?"),
    ]
    assert [each["code"] for each in submission.warnings] == ["missing_case"]
    job = submission.evaluations.get().job
    assert (job.kind, job.state, job.total) == ("leaderboard.evaluate", "queued", 3)
    assert submit(board, GOOD, "b.json", rosa).number == 2


@pytest.mark.django_db
def test_the_board_of_the_open_split_is_offered_before_that_of_the_held_out_split(team, rosa):
    open_board = make_board(team)
    held_out = Board.objects.create(
        release=open_board.release, profile=open_board.profile, split=Split.HELD_OUT
    )
    page = signed_in(rosa).get("/submit/").content.decode()
    assert -1 < page.index(str(open_board.pk)) < page.index(str(held_out.pk))


@pytest.mark.django_db
def test_a_refused_file_leaves_nothing_behind(team, rosa):
    board = make_board(team)
    with pytest.raises(ResultsRefused) as refusal:
        submit(board, BAD, "results.json", rosa)
    assert {each.code for each in refusal.value.answer.problems} == {
        "insight_too_long",
        "wrong_type",
        "unknown_case",
    }
    assert_nothing_recorded()


@pytest.mark.django_db
def test_a_fault_while_recording_leaves_nothing_behind(team, rosa, monkeypatch):
    def break_down(*args, **kwargs):
        raise OSError("the disk is full")

    board = make_board(team)
    monkeypatch.setattr(Output.objects, "bulk_create", break_down)
    with pytest.raises(OSError, match="disk"):
        submit(board, GOOD, "results.json", rosa)
    assert_nothing_recorded()


@pytest.mark.django_db
def test_page_api_and_command_give_the_same_answer(team, rosa, tmp_path):
    board = make_board(team)
    api = post(rosa, board, BAD)
    assert api.status_code == 422
    body = api.json()
    (tmp_path / "results.json").write_bytes(BAD)
    said = StringIO()
    with pytest.raises(CommandError, match="Nothing was recorded"):
        call_command(
            "submit_results",
            tmp_path / "results.json",
            board=board.pk,
            user="rosa",
            json=True,
            stdout=said,
            stderr=StringIO(),
        )
    assert json.loads(said.getvalue()) == body
    said = StringIO()
    with pytest.raises(CommandError):
        call_command("validate_results", tmp_path / "results.json", benchmark="colon", json=True, stdout=said)
    assert json.loads(said.getvalue()) == body
    page = signed_in(rosa).post("/submit/", {"board": board.pk, "file": upload(BAD)})
    shown = page.context["answer"]
    assert (shown.problems.as_dicts(), shown.warnings.as_dicts()) == (body["problems"], body["warnings"])
    for problem in body["problems"]:
        assert problem["code"] in page.content.decode()
    assert_nothing_recorded()


@pytest.mark.django_db
def test_the_page_checks_first_and_records_what_was_checked(team, rosa):
    board = make_board(team)
    client = signed_in(rosa)
    page = client.post("/submit/", {"board": board.pk, "file": upload(GOOD)})
    text = page.content.decode()
    assert "2 of 3 cases, 2 insights" in text
    assert "1 missing case scores 0." in text
    assert_nothing_recorded()
    second = {
        "board": board.pk,
        "ticket": page.context["ticket"],
        "key": page.context["key"],
        "method": "ReAct, corrected",
        "visibility": "private",
    }
    answers = [client.post("/submit/record/", second) for _ in range(2)]
    submission = Submission.objects.get()
    assert [each.url for each in answers] == [f"/submissions/{submission.pk}/"] * 2
    assert (submission.method, submission.visibility) == ("ReAct, corrected", "private")
    assert read(submission) == GOOD


@pytest.mark.django_db
def test_a_checked_file_is_good_for_its_owner_only(team, rosa, ada):
    board = make_board(team)
    ticket = signed_in(rosa).post("/submit/", {"board": board.pk, "file": upload(GOOD)}).context["ticket"]
    stolen = {"board": board.pk, "ticket": ticket, "method": "Mine", "visibility": "public"}
    assert signed_in(ada).post("/submit/record/", stolen).status_code == 409
    assert signed_in(rosa).post("/submit/record/", stolen | {"ticket": "x"}).status_code == 409
    assert not Submission.objects.exists()


@pytest.mark.django_db
def test_checked_files_are_kept_an_hour_and_three_a_person(team, rosa, tmp_path):
    board, client = make_board(team), signed_in(rosa)
    tickets = []
    for n in range(4):
        data = as_bytes(**{"C-1": [f"{n} cm"]})
        tickets.append(client.post("/submit/", {"board": board.pk, "file": upload(data)}).context["ticket"])
    form = {"board": board.pk, "method": "ReAct", "visibility": "public"}
    assert client.post("/submit/record/", form | {"ticket": tickets[0]}).status_code == 409
    assert client.post("/submit/record/", form | {"ticket": tickets[1]}).status_code == 302
    for kept in (tmp_path / "checked").glob("*/*"):
        os.utime(kept, (0, time.time() - 3601))
    client.post("/submit/", {"board": board.pk, "file": upload(GOOD)})
    assert client.post("/submit/record/", form | {"ticket": tickets[2]}).status_code == 409
    assert [each.read_bytes() for each in (tmp_path / "checked").glob("*/*")] == [GOOD]


@pytest.mark.django_db
def test_fields_that_do_not_fit_are_said_and_nothing_is_recorded(team, rosa):
    board = make_board(team)
    client = signed_in(rosa)
    ticket = client.post("/submit/", {"board": board.pk, "file": upload(GOOD)}).context["ticket"]
    form = {"board": board.pk, "ticket": ticket, "method": "x" * 201, "url": "javascript:alert(1)"}
    page = client.post("/submit/record/", form | {"visibility": "everyone"})
    assert set(page.context["details"].errors) == {"method", "url", "visibility"}
    assert not Submission.objects.exists()


@pytest.mark.django_db
def test_every_problem_of_a_file_is_in_the_csv(team, rosa):
    board = make_board(team)
    many = as_bytes(**{"=X-1": ["6 cm"], "C-1": [7] * 40, "C-2": [7] * 40, "C-3": [7] * 40})
    client = signed_in(rosa)
    page = client.post("/submit/", {"board": board.pk, "file": upload(many)})
    assert "100 of 121 shown" in page.content.decode()
    lines = client.get("/submit/findings.csv", {"board": board.pk, "ticket": page.context["ticket"]})
    rows = lines.content.decode().splitlines()
    assert sum(row.startswith("problem,") for row in rows) == 121
    assert rows[1].startswith("problem,unknown_case,1,'=X-1,case_id,")


@pytest.mark.django_db
def test_the_same_key_with_the_same_file_is_one_submission(team, rosa):
    board = make_board(team)
    first, again = (post(rosa, board, GOOD, **{"Idempotency-Key": "run-1"}) for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert set(first.json()) >= {"id", "status", "url"}
    other = post(rosa, board, as_bytes(**{"C-1": ["6 cm"]}), **{"Idempotency-Key": "run-1"})
    assert (other.status_code, Submission.objects.count()) == (409, 1)
    assert post(rosa, board, GOOD).status_code == 201
    assert post(rosa, board, GOOD, **{"Idempotency-Key": "x" * 101}).status_code == 400
    assert post(rosa, board, GOOD, **{"Idempotency-Key": "a\x01b"}).status_code == 400


@pytest.mark.django_db
def test_a_key_belongs_to_its_person(team, rosa, ada):
    board = make_board(team)
    one = submit(board, GOOD, "a.json", rosa, idempotency_key="k")
    two = submit(board, GOOD, "a.json", ada, idempotency_key="k")
    assert one != two


@pytest.mark.django_db(transaction=True)
def test_submissions_at_the_same_time_get_different_numbers_and_one_key_one_submission(team, rosa):
    board = make_board(team)
    made, failed = [], []
    start = threading.Barrier(6)

    def send(key):
        try:
            start.wait()
            made.append((key, submit(board, GOOD, "a.json", rosa, idempotency_key=key).number))
        except Exception as error:  # noqa: BLE001  # any error of a thread fails the test
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=(key,)) for key in ("same", "same", "same", "", "", "")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len({number for key, number in made if key == "same"}) == 1
    assert sorted({number for _, number in made}) == [1, 2, 3, 4]
    assert Submission.objects.count() == 4
    assert Output.objects.count() == 8


@pytest.mark.django_db
def test_only_members_may_submit_and_strangers_find_no_board(team, rosa, eve):
    board = make_board(team)
    with pytest.raises(NotFound):
        submit(board, GOOD, "a.json", eve)
    assert post(eve, board, GOOD).status_code == 404
    assert "No board takes a submission from you" in signed_in(eve).get("/submit/").content.decode()
    board.closed_at = timezone.now()
    board.save()
    with pytest.raises(Conflict):
        submit(board, GOOD, "a.json", rosa)


@pytest.mark.django_db
def test_whoever_could_see_held_out_references_cannot_submit_to_their_board(team, ada, rosa):
    board = make_board(team, split=Split.HELD_OUT)
    retired = join(team, make_person("fay"), Role.ANNOTATOR, Role.RESEARCHER)
    Membership.objects.filter(user=retired, role=Role.ANNOTATOR).update(ended_at=timezone.now())
    admin = make_person("root", is_superuser=True)
    for person in (ada, retired, admin):
        with pytest.raises(NotAllowed) as refusal:
            submit(board, GOOD, "a.json", person)
        assert refusal.value.code == "conflict_of_interest"
        answer = post(person, board, GOOD)
        assert (answer.status_code, answer.json()["code"]) == (403, "conflict_of_interest")
        assert "No board takes" in signed_in(person).get("/submit/").content.decode()
    assert not Submission.objects.exists()
    assert submit(board, GOOD, "a.json", rosa).number == 1


@pytest.mark.django_db
def test_limits_of_the_site_apply(team, rosa, settings):
    board = make_board(team)
    settings.INSIGHTS_MAX_PER_CASE, settings.INSIGHT_MAX_CHARACTERS = 1, 10
    data = as_bytes(**{"C-1": ["6 cm", "7 cm"], "C-2": ["Margins are negative."]})
    codes = {each.code for each in submissions.check_upload(board, data, rosa).problems}
    assert codes == {"too_many_insights", "insight_too_long"}
    settings.RESULT_FILE_MAX_BYTES = 20
    assert [each["code"] for each in post(rosa, board, data).json()["problems"]] == ["too_large"]


@pytest.mark.django_db
def test_the_command_submits_and_says_how_to_find_it(team, rosa, tmp_path):
    board = make_board(team)
    (tmp_path / "results.json").write_bytes(GOOD)
    said = StringIO()
    call_command(
        "submit_results", tmp_path / "results.json", board=board.pk, user="rosa", json=True, stdout=said
    )
    answer = json.loads(said.getvalue())
    assert (answer["ok"], answer["number"]) == (True, 1)
    assert [each["code"] for each in answer["warnings"]] == ["missing_case"]
    for wrong in ({"user": "nobody"}, {"file": tmp_path / "none"}, {"board": NO_BOARD}):
        given = {"file": tmp_path / "results.json", "board": board.pk, "user": "rosa"} | wrong
        with pytest.raises(CommandError):
            call_command("submit_results", given.pop("file"), **given)


@pytest.mark.django_db
def test_the_command_opens_a_board_for_the_newest_release(team, rosa):
    board = make_board(team, n_cases=1)
    said = StringIO()
    call_command("open_board", "colon", json=True, stdout=said)
    opened = json.loads(said.getvalue())["board"]
    assert opened != str(board.pk)  # another profile
    call_command("open_board", "colon", release=1, json=True, stdout=(again := StringIO()))
    assert json.loads(again.getvalue())["board"] == opened
    for wrong in (["nothing"], ["colon", "--release", "9"], ["colon", "--split", "heldout"]):
        with pytest.raises(CommandError):
            call_command("open_board", *wrong)
