"""Opening boards."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from django.db import transaction

from leaderboard.models import Board, EvaluatorProfile
from leaderboard.services import floors
from leaderboard.services.profiles import require_active
from medbench import jobs
from medbench.accounts.permissions import require
from medbench.cases.models import Split
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from medbench.accounts.models import User
    from medbench.cases.models import Release

ROUGE_1: dict[str, Any] = {"metric": "rouge1", "tokeniser": "parity-ascii"}


def rouge_profile() -> EvaluatorProfile:
    """The profile that needs no judge: ROUGE-1 F with the tokeniser of the field's papers. Made on
    first use; named by the SHA-256 of its canonical JSON (sorted keys, no spaces)."""
    canonical = json.dumps(ROUGE_1, sort_keys=True, separators=(",", ":"))
    profile, _ = EvaluatorProfile.objects.get_or_create(
        sha256=hashlib.sha256(canonical.encode()).hexdigest(),
        defaults={"title": "ROUGE-1", "metric": "rouge1", "config": ROUGE_1},
    )
    return profile


@transaction.atomic
def open_board(release: Release, profile: EvaluatorProfile, split: str, by: User | None) -> Board:
    """Open the board of one split of a release, or answer the one that is open already. Its floors
    are computed in the background. `by` None is the operator at the command line.

    Floors share words, so only a board by words has them.

    Raises NotAllowed for all but curators, InvalidInput where the split has no case, Conflict where the
    profile may not score yet.
    """
    if by is not None:
        require(by, "board.manage", release.benchmark.team)
    if split not in Split.values:
        raise InvalidInput("A board is on the split “open” or “heldout”.")
    if not release.cases.filter(split=split).exists():
        raise InvalidInput(f"{release} has no case in its {Split(split).label.lower()} split.")
    require_active(profile)
    board, is_new = Board.objects.get_or_create(release=release, profile=profile, split=split)
    if is_new and profile.metric == "rouge1":
        jobs.services.enqueue(floors.KIND, {"board": str(board.pk)}, requested_by=by)
    return board


def require_novelty_audit(board: Board, by: User, *, is_required: bool) -> None:
    """Let the novelty of the board's entries read “unverified” until experts have audited it, or not.

    Raises NotAllowed for all but curators.
    """
    require(by, "board.manage", board.release.benchmark.team)
    Board.objects.filter(pk=board.pk).update(requires_novelty_audit=is_required)
