"""From an uploaded file to a submission: checked first, then recorded whole or not at all."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Output, Submission
from leaderboard.permissions import may_manage, refuse_conflict, require_manage, team_of
from leaderboard.services import evaluations, quota, rankings
from leaderboard.services.board_scores import word_profile
from medbench.accounts.permissions import require
from medbench.errors import Conflict, InvalidInput
from medbench.formats.problems import SHOWN
from medbench.formats.results import Limits
from medbench.scoring.checks import check_results
from medbench.scoring.costs import FIELDS

if TYPE_CHECKING:
    from typing import Any

    from leaderboard.models import Board
    from leaderboard.permissions import Person
    from medbench.accounts.models import User
    from medbench.formats.results import ReadResults, Results

ROWS_AT_ONCE = 500
WARNINGS_RECORDED = 2_000
IDEMPOTENCY_KEY_LONGEST = 100
ANONYMOUS_LONGEST = dt.timedelta(days=366)
PARTS_MOST, PART_LONGEST = 10, 60


@dataclass(frozen=True)
class Details:
    """What a submission says about itself. None = as the file says."""

    method: str | None = None
    backbone: str | None = None
    description: str | None = None
    url: str | None = None
    kind: str = ""
    visibility: str = Submission.Visibility.PUBLIC
    public_from: dt.datetime | None = None  # of an anonymous one
    replaces: uuid.UUID | None = None  # a submission of which this is the new version
    variant_of: uuid.UUID | None = None  # the whole method, of which this lacks `without`
    without: tuple[str, ...] = ()


class ResultsRefused(InvalidInput):
    """The file has problems; nothing was recorded. `answer` holds all that the validator said."""

    code = "refused"

    def __init__(self, answer: ReadResults) -> None:
        total = answer.problems.total
        count = "1 problem" if total == 1 else f"{total:,} problems"
        super().__init__(f"Refused: {count}. Nothing was recorded. First: {answer.problems.shown[0]}")
        self.answer = answer

    def as_dict(self) -> dict[str, Any]:
        """The refusal as API and command write it; the totals count what is not listed too."""
        answer = self.answer.as_dict()
        return answer | {name: answer[name][:SHOWN] for name in ("problems", "warnings")}


def limits() -> Limits:
    """How much a result file may hold on this site."""
    return Limits(
        file_bytes=settings.RESULT_FILE_MAX_BYTES,
        insight_characters=settings.INSIGHT_MAX_CHARACTERS,
        insights_per_case=settings.INSIGHTS_MAX_PER_CASE,
    )


def check_upload(
    board: Board, data: bytes, by: Person, *, file_name: str = "", keep: int = SHOWN
) -> ReadResults:
    """What the one validator says of a result file for this board. Records nothing.

    Problems name the file as `file_name`; of problems and of warnings `keep` are listed, all are
    counted. Raises NotFound and NotAllowed for whoever may not submit here (code
    `conflict_of_interest` on a held-out board), Conflict where the board is closed.
    """
    _refuse_submitter(board, by)
    cases = board.release.cases.order_by("position").values_list("case__case_id", "split")
    return check_results(
        data,
        case_ids=[case_id for case_id, split in cases if split == board.split],
        left_out=[case_id for case_id, split in cases if split != board.split],
        limits=limits(),
        profile=word_profile(board),
        file=file_name,
        keep=keep,
    )


def submit(
    board: Board,
    data: bytes,
    file_name: str,
    by: User,
    *,
    details: Details | None = None,
    idempotency_key: str = "",
) -> Submission:
    """Record a result file as a submission with its outputs, and queue its evaluation.

    Everything or nothing. The same `idempotency_key` of the same person answers with the submission
    it made before; with another file or board it raises Conflict. Raises ResultsRefused where the
    file has problems, TooOften where the day's quota is used, InvalidInput and Conflict where the
    details do not fit, and what check_upload raises.
    """
    if len(idempotency_key) > IDEMPOTENCY_KEY_LONGEST or not idempotency_key.isprintable():
        raise InvalidInput(f"An Idempotency-Key has at most {IDEMPOTENCY_KEY_LONGEST} printable characters.")
    new = Submission(
        board=board,
        submitted_by=by,
        file_name=file_name[:255],
        file_sha256=hashlib.sha256(data).hexdigest(),
        idempotency_key=idempotency_key,
    )
    if earlier := _earlier(new):
        return earlier
    answer = check_upload(board, data, by, file_name=file_name, keep=WARNINGS_RECORDED)
    if answer.results is None:
        raise ResultsRefused(answer)
    new.warnings = answer.warnings.as_dicts()
    _describe(new, answer.results, details or Details())
    with transaction.atomic():
        quota.lock()
        if earlier := _earlier(new):
            return earlier
        quota.require_slot(by, board)
        _relate(new, details or Details(), by)
        return _record(new, data, answer.results)


def _refuse_submitter(board: Board, by: Person) -> None:
    require(by, "submission.create", team_of(board), seen_by="board.read")
    refuse_conflict(by, board)
    if board.closed_at is not None:
        raise Conflict("This board is closed and takes no more submissions.", code="board_closed")


def _describe(new: Submission, results: Results, details: Details) -> None:
    """Fill in what was given, or else what the file says."""
    for name in ("method", "backbone", "description", "url"):
        given = getattr(details, name)
        setattr(new, name, getattr(results, name) if given is None else given.strip())
    if details.kind and details.kind not in Submission.Kind.values:
        raise InvalidInput("Kind is either direct or agent.")
    new.kind = details.kind
    new.usage = _usage(results)
    _show(new, details.visibility, details.public_from)


def _usage(results: Results) -> dict[str, Any] | None:
    """The sums of what the cases report, None for what none does, with the number of `cases` that
    report each; None altogether where no case reports anything."""
    known = {
        field: [value for case in results.cases if (value := getattr(case.usage, field)) is not None]
        for field in FIELDS
    }
    if not any(known.values()):
        return None
    sums = {field: math.fsum(values) if values else None for field, values in known.items()}
    return {**sums, "cases": {field: len(values) for field, values in known.items()}}


def _show(submission: Submission, visibility: str, public_from: dt.datetime | None) -> None:
    """Set who sees it. An anonymous one needs the date from which it is named, at most a year away."""
    if visibility not in Submission.Visibility.values:
        raise InvalidInput("Visibility is private, anonymous or public.")
    submission.visibility, submission.public_from = visibility, None
    if visibility != Submission.Visibility.ANONYMOUS:
        return
    now = timezone.now()
    if public_from is None or not now < public_from <= now + ANONYMOUS_LONGEST:
        raise InvalidInput("An anonymous submission needs the date from which it is named, within a year.")
    submission.public_from = public_from


def _relate(new: Submission, details: Details, by: User) -> None:
    """Tie it to what it replaces and to what it is a variant of, both on the same board and in the
    hands of the same person."""
    if details.replaces:
        new.replaces = _own(new, details.replaces, by)
        later = Submission.objects.filter(replaces=new.replaces).first()
        if later:
            raise Conflict(
                f"{new.replaces} is replaced by submission {later.number} already. Choose that one."
            )
    if details.variant_of:
        new.variant_of = _own(new, details.variant_of, by)
        new.without = sorted({part.strip() for part in details.without if part.strip()})
        if not new.without or len(new.without) > PARTS_MOST or max(map(len, new.without)) > PART_LONGEST:
            raise InvalidInput("Say which parts the variant lacks, separated by commas, such as: ism, wrm.")
    elif details.without:
        raise InvalidInput("Say of which submission this is a variant: parts are taken away from it.")


def _own(new: Submission, pk: uuid.UUID, by: User) -> Submission:
    found = Submission.objects.filter(pk=pk, board=new.board, withdrawn_at=None).first()
    if found is None or not may_manage(by, found):
        raise InvalidInput("Choose a submission of yours on the same board.")
    return found


def _earlier(new: Submission) -> Submission | None:
    """The submission that this person's key made before, if there is one."""
    if not new.idempotency_key:
        return None
    earlier = Submission.objects.filter(
        submitted_by=new.submitted_by, idempotency_key=new.idempotency_key
    ).first()
    if earlier and (earlier.file_sha256, earlier.board_id) != (new.file_sha256, new.board_id):
        raise Conflict(
            f"This Idempotency-Key already made submission {earlier.number} from another file or for "
            "another board. Use a new key for a new submission.",
            code="idempotency_key_reused",
        )
    return earlier


def _record(new: Submission, data: bytes, results: Results) -> Submission:
    """Write file, submission, outputs and evaluation inside the caller's transaction."""
    last = Submission.objects.order_by("-number").values_list("number", flat=True).first()
    new.number = (last or 0) + 1
    new.pk = uuid.uuid4()
    cases = new.board.release.cases.filter(split=new.board.split)
    pk_of = dict(cases.values_list("case__case_id", "pk"))
    named = {case.case_id for case in results.cases}
    new.missing_cases = [pk for case_id, pk in pk_of.items() if case_id not in named]
    new.file.save(str(new.pk), ContentFile(data), save=False)  # never under a name from outside
    try:
        new.save(force_insert=True)
        Output.objects.bulk_create(_outputs(new, results, pk_of), batch_size=ROWS_AT_ONCE)
        evaluations.queue(new, by=new.submitted_by)
    except BaseException:
        new.file.delete(save=False)
        raise
    return new


def _outputs(submission: Submission, results: Results, pk_of: dict[str, int]) -> list[Output]:
    """One row for each uploaded insight, raw, numbered from 0 within its case."""
    return [
        Output(
            submission=submission,
            release_case_id=pk_of[case.case_id],
            position=position,
            insight=output.insight,
            question=output.question,
            evidence=output.evidence,
            novel_rationale=output.novel_rationale,
        )
        for case in results.cases
        for position, output in enumerate(case.outputs)
    ]


@transaction.atomic
def withdraw(submission: Submission, by: User) -> None:
    """Take a submission off its board for good. Its page stays for its submitter and the curators."""
    require_manage(by, submission)
    Submission.objects.filter(pk=submission.pk, withdrawn_at=None).update(withdrawn_at=timezone.now())
    rankings.request(submission.board_id)


@transaction.atomic
def set_visibility(
    submission: Submission, visibility: str, by: User, public_from: dt.datetime | None = None
) -> None:
    """Show a submission on its board, on it without its submitter's name, or to its submitter and the
    curators only."""
    require_manage(by, submission)
    locked = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
    if locked.withdrawn_at is not None:
        raise Conflict("This submission is withdrawn. Submit the file again to show it on the board.")
    _show(locked, visibility, public_from)
    locked.save(update_fields=("visibility", "public_from"))
    rankings.request(locked.board_id)
