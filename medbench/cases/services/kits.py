"""The participants' kit of a release: what a method may see, and the form its results take.

Report and triplets of open cases only; of held-out cases the goal and the picture. Slides by
picture, never by file or file name.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from medbench.cases import queries
from medbench.cases.editions import Edition
from medbench.cases.models import Kit, Split
from medbench.errors import Conflict, MedBenchError
from medbench.formats.results import SCHEMA
from medbench.jobs.services import enqueue
from medbench.slides import services as slides

if TYPE_CHECKING:
    from collections.abc import Callable

    from medbench.accounts.models import User
    from medbench.cases.models import Release, ReleaseCase

KIT_JOB = "cases.build_kit"
PICTURE_MAX_PX = 2048  # the longer side

README = """# {title}, release {number} (version {version})

{description}

- `cases.jsonl`: one case a line: `case_id`, `project`, `site`, `difficulty`, `split`, `goal`,
  `image` (a file of this kit, or null with `image_reason`). Open cases also have `report` and
  `triplets`, the references. Held-out cases do not: a board on them scores what nobody has seen.
- `images/`: each slide as one PNG, longer side at most {pixels} px.
- `results_skeleton.json`: a valid result file without insights. Fill in `method` and, for each case,
  `insights`: texts, or objects with `insight` and optionally `question`, `evidence`,
  `novel_rationale`. At most {insights} insights a case, {characters} characters each.

A case that is missing or empty scores 0 and counts. Check a file before you submit it:
`python manage.py validate_results results.json --benchmark BUNDLE`, or on the page "Submit results".

Digest of the release: {digest}

Licence: {licence}

Citation: {citation}
"""


def request_kit(release: Release, *, by: User) -> Kit:
    """The kit of `release`; a job builds it where that has not happened. Raises Conflict while one
    is being built."""
    with transaction.atomic():
        kit = (
            Kit.objects.select_for_update(of=("self",)).select_related("job").filter(release=release).first()
        )
        if kit and not kit.job.is_over:
            raise Conflict("The kit is being prepared.")
        job = enqueue(
            KIT_JOB,
            {"release": str(release.pk)},
            requested_by=by,
            total=release.cases.count(),
        )
        kit, _ = Kit.objects.update_or_create(release=release, defaults={"job": job})
    return kit


def build_kit(release: Release, *, tick: Callable[[int], object] = lambda _: None) -> Path:
    """Write the kit of `release` to a new file below MEDIA_ROOT and answer its path.

    `tick` is called with the number of cases done.
    """
    folder = settings.MEDIA_ROOT / "kits"
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(queries.whole_rows(Edition(release.benchmark, release)))
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".zip", delete=False) as file:
        path = Path(file.name)
        try:
            _write(zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED), release, rows, tick)
        except BaseException:
            path.unlink()
            raise
    return path


def keep_kit(kit: Kit, path: Path) -> None:
    """Make the file at `path` the kit's file; an older one is deleted."""
    older = Path(kit.file.path) if kit.file else None
    kit.file.name = str(path.relative_to(settings.MEDIA_ROOT))
    kit.size_bytes, kit.built_at = path.stat().st_size, timezone.now()
    kit.save(update_fields=["file", "size_bytes", "built_at"])
    if older and older != path:
        transaction.on_commit(lambda: older.unlink(missing_ok=True))


def _write(
    kit: zipfile.ZipFile, release: Release, rows: list[ReleaseCase], tick: Callable[[int], object]
) -> None:
    with kit:
        lines = []
        for done, row in enumerate(rows, 1):
            name, reason = f"images/{done:04d}.png", ""
            try:
                kit.writestr(zipfile.ZipInfo(name, _DATE), picture(row))
            except MedBenchError as error:
                name, reason = "", error.code
            lines.append(json.dumps(_case(row, name, reason), ensure_ascii=False))
            tick(done)
        _add(kit, "cases.jsonl", "".join(f"{line}\n" for line in lines))
        _add(kit, "results_skeleton.json", json.dumps(_skeleton(rows), ensure_ascii=False, indent=1) + "\n")
        _add(kit, "README.md", _readme(release))


_DATE = (1980, 1, 1, 0, 0, 0)  # the same kit twice is the same bytes


def _add(kit: zipfile.ZipFile, name: str, text: str) -> None:
    kit.writestr(zipfile.ZipInfo(name, _DATE), text.encode(), zipfile.ZIP_DEFLATED)


def picture(row: ReleaseCase) -> bytes:
    """The case's slide as PNG, for kits and for judges. Raises MedBenchError with the reason where
    there is none."""
    if row.slide is None:
        raise MedBenchError("This case has no slide.", code="no_slide")
    if not row.slide.is_ready:
        raise MedBenchError("The slide is not here.", code=row.slide.refusal_code or "slide_missing")
    return slides.render(slides.served(row.slide), PICTURE_MAX_PX)[1]


def _case(row: ReleaseCase, image: str, reason: str) -> dict[str, Any]:
    case: dict[str, Any] = {
        "case_id": row.case.case_id,
        "project": row.project,
        "site": row.site,
        "difficulty": row.difficulty,
        "split": row.split,
        "goal": row.goal.text if row.goal else "",
        "image": image or None,
    }
    if reason:
        case["image_reason"] = reason
    if row.split == Split.OPEN:
        case["report"] = {"text": row.report.text} if row.report else None
        case["triplets"] = [_triplet(each) for each in queries.shown_triplets(row)]
    return case


def _triplet(shown: queries.ShownTriplet) -> dict[str, str]:
    version = shown.version
    texts = {name: getattr(version, name) for name in ("category", "question", "insight", "evidence")}
    return {"id": shown.triplet.key, **texts}


def _skeleton(rows: list[ReleaseCase]) -> dict[str, Any]:
    cases = [{"case_id": row.case.case_id, "insights": []} for row in rows]
    return {"schema": SCHEMA, "method": "Name of the method", "cases": cases}


def _readme(release: Release) -> str:
    return README.format(
        title=release.title or release.benchmark.title,
        number=release.number,
        version=release.version,
        description=release.description,
        pixels=PICTURE_MAX_PX,
        insights=settings.INSIGHTS_MAX_PER_CASE,
        characters=f"{settings.INSIGHT_MAX_CHARACTERS:,}",
        digest=release.digest,
        licence=release.licence or "not given",
        citation=release.citation or "not given",
    )
