"""Background work of the cases: bundles on their way in, kits on their way out."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from medbench.cases.models import BundleUpload, Kit, Release
from medbench.cases.services import KIT_JOB, UPLOAD_JOB, build_kit, import_benchmark, keep_kit, refusal
from medbench.errors import MedBenchError, Unavailable
from medbench.formats.bundle import read_bundle
from medbench.jobs import register

if TYPE_CHECKING:
    from medbench.jobs.attempt import Attempt


@register(UPLOAD_JOB)
def import_bundle(attempt: Attempt) -> None:
    """Check or import an uploaded bundle. Again after a crash: the same version is a no-op."""
    upload = BundleUpload.objects.select_related("uploaded_by").get(pk=attempt.payload["upload"])
    attempt.progress(stage="Reading the bundle")
    try:
        outcome = _import(upload, attempt)
    except Unavailable:
        raise  # the job is tried again
    except MedBenchError as error:
        outcome = refusal(error)
    with attempt.writing():
        upload.outcome = outcome
        upload.save(update_fields=["outcome"])
        if not upload.dry_run and not outcome["problems"]:
            transaction.on_commit(lambda: upload.file.delete(save=False))


def _import(upload: BundleUpload, attempt: Attempt) -> dict[str, Any]:
    def tick(done: int, total: int) -> None:
        attempt.progress(done=done, total=total, stage="Registering slides")

    with tempfile.TemporaryDirectory(dir=settings.VAR_DIR, prefix="unpacked-") as folder:
        bundle = read_bundle(Path(upload.file.path), unpack_to=Path(folder))
        attempt.progress(stage="Comparing with what is here")
        return import_benchmark(bundle, by=upload.uploaded_by, dry_run=upload.dry_run, tick=tick).as_dict()


@register(KIT_JOB)
def prepare_kit(attempt: Attempt) -> None:
    """Build the kit of a release and keep it."""
    release = Release.objects.select_related("benchmark").get(pk=attempt.payload["release"])
    path = build_kit(release, tick=lambda done: attempt.progress(done=done, stage="Rendering slides"))
    with attempt.writing():
        keep_kit(Kit.objects.select_for_update().get(release=release), path)
