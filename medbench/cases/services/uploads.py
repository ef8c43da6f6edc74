"""Bundles that curators upload on the page: first checked by a job, then imported by another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from medbench.cases.models import BundleUpload
from medbench.cases.permissions import may_import
from medbench.errors import Conflict, NotFound
from medbench.jobs.services import enqueue

if TYPE_CHECKING:
    import uuid

    from django.core.files.uploadedfile import UploadedFile

    from medbench.accounts.models import User

UPLOAD_JOB = "cases.import_bundle"


def take_upload(file: UploadedFile[Any], *, by: User) -> BundleUpload:
    """Keep an uploaded bundle and have a job check it. Raises NotFound for who may not import."""
    if not may_import(by):
        raise NotFound
    upload = BundleUpload(uploaded_by=by, file_name=(file.name or "bundle.zip")[-255:])
    upload.file.save(f"{upload.pk}.zip", file, save=False)
    with transaction.atomic():
        _queue(upload)
    return upload


def import_upload(upload: BundleUpload) -> None:
    """Have a job import what was checked. Raises Conflict unless the check is over and found no
    problem."""
    with transaction.atomic():
        row = BundleUpload.objects.select_for_update().get(pk=upload.pk)
        if not row.dry_run:
            raise Conflict("This bundle is being imported, or was.")
        if row.outcome is None or row.outcome["problems"]:
            raise Conflict("This bundle was not checked, or has problems. Upload a corrected one.")
        row.dry_run, row.outcome = False, None
        _queue(row)


def upload_for(person: User, upload_id: uuid.UUID) -> BundleUpload:
    """An upload of this person. Raises NotFound."""
    found = BundleUpload.objects.select_related("job").filter(pk=upload_id, uploaded_by=person).first()
    if found is None:
        raise NotFound
    return found


def _queue(upload: BundleUpload) -> None:
    upload.job = enqueue(UPLOAD_JOB, {"upload": str(upload.pk)}, requested_by=upload.uploaded_by)
    upload.save()
