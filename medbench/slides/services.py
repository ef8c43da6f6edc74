"""What is done with slides: look at a file, register it, serve its tiles and thumbnail."""

from __future__ import annotations

import base64
import hashlib
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from medbench.jobs.services import enqueue
from medbench.slides import child, colour, probe
from medbench.slides.models import Slide
from medbench.slides.reader import ReaderPool, SlideRefused, TileUnreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from medbench.accounts.models import User
    from medbench.jobs.models import Job

HASH_BLOCK_BYTES = 64_000_000
pool = ReaderPool()
_one_thumbnail_at_a_time = threading.Lock()  # a list page may ask for 50 that are not made yet


@dataclass(frozen=True)
class Examination:
    """What registration found out. `found` is as `slide_info` answers, `sha256` "" without a file."""

    found: dict[str, Any]
    sha256: str = ""
    size_bytes: int | None = None
    thumbnail: bytes | None = None


def slide_info(path: Path) -> dict[str, Any]:
    """What the file at `path` is, as the contract's `slide_info` prints it.

    Never raises for a bad file: `refused` holds code and message. Works in a child process, so that
    no file can take this one down.
    """
    return child.look(path)


def file_of(slide: Slide) -> Path:
    """Where the file of `slide` lies. Raises SlideRefused unless it is a file below SLIDE_DIR."""
    root = settings.SLIDE_DIR.resolve()
    try:
        path = (root / slide.path).resolve()
        inside = path.is_relative_to(root)
        exists = bool(slide.path) and path.is_file()
    except (ValueError, OSError, RuntimeError) as error:  # null byte, name too long, loop of links
        raise SlideRefused("The name of the slide's file cannot be used.", code="bad_name") from error
    if not inside:
        raise SlideRefused("The slide's file must lie in the folder for slides.", code="path_outside")
    if not exists:
        raise SlideRefused("There is no file for this slide yet. A curator can add it.", code="file_missing")
    return path


def queue_registration(slide: Slide, *, requested_by: User | None = None) -> Job:
    """Have a worker register `slide`; until then it says so."""
    with transaction.atomic():
        slide.state = Slide.State.REGISTERING
        slide.refusal_code = slide.refusal_text = ""
        slide.save(update_fields=["state", "refusal_code", "refusal_text"])
        return enqueue("slides.register", {"slide": str(slide.pk)}, requested_by=requested_by)


def register_slide(slide: Slide) -> None:
    """Look at the file of `slide` and fill its row: ready, or pending with the reason.

    Content other than before becomes a new revision, and with it every tile gets a new address. The
    same content again changes nothing.
    """
    record(slide, examine(slide))


def examine(slide: Slide, *, tick: Callable[[], object] = lambda: None) -> Examination:
    """The slow half of registration: reads the file, writes nothing, never raises for a bad file.

    `tick` is called every few seconds (the lease of a job); what it raises passes on.
    """
    try:
        path = file_of(slide)
        before = path.stat()
        sha256 = sha256_of(path, tick)
        found = child.look(path, with_thumbnail=True, tick=tick)
        after = path.stat()
    except SlideRefused as error:
        return Examination(probe.refusal(error.code, error.message))
    except OSError:
        return Examination(probe.refusal("file_unreadable", "The slide's file cannot be read from the disk."))
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        found = probe.refusal(
            "file_changing", "The file changed while it was read. Register it when it is complete."
        )
    picture = found.pop("thumbnail", None)
    thumbnail = base64.b64decode(picture) if picture else None
    return Examination(found, sha256, after.st_size, thumbnail)


def record(slide: Slide, examination: Examination) -> None:
    """The quick half of registration: writes the row and keeps the thumbnail."""
    found, refused = examination.found, examination.found["refused"]
    with transaction.atomic():
        row = Slide.objects.select_for_update().get(pk=slide.pk)
        if row.sha256 and examination.sha256 not in ("", row.sha256):
            row.revision += 1
        row.sha256 = examination.sha256 or row.sha256
        row.size_bytes = examination.size_bytes
        row.state = Slide.State.PENDING if refused else Slide.State.READY
        row.refusal_code = refused["code"] if refused else ""
        row.refusal_text = refused["message"] if refused else ""
        row.vendor = found["vendor"] or ""
        row.width_px, row.height_px = found["width"], found["height"]
        row.mpp_x_um, row.mpp_y_um = found["mpp"] or (None, None)
        row.objective, row.levels = found["objective"], found["levels"]
        row.save()
    slide.refresh_from_db()
    if examination.thumbnail:
        _keep(examination.thumbnail, _thumbnail_file(slide))


def tile_jpeg(slide: Slide, level: int, column: int, row: int) -> bytes:
    """One tile of a ready slide. Raises geometry.OutsideGrid, TileUnreadable, and SlideRefused where
    the file is gone or is not the one that was registered."""
    path = file_of(slide)
    if path.stat().st_size != slide.size_bytes:
        raise SlideRefused("The slide's file was replaced. Register it again.", code="file_changed")
    return colour.jpeg(pool.tile(path, slide.revision, level, column, row))


def tile_etag(sha256: str, level: int, column: int, row: int) -> str:
    """Changes with the file's content, the tile and the way tiles are made; known before reading."""
    return f'"{sha256[:16]}-{level}-{column}-{row}-{colour.ENCODING}"'


def thumbnail_jpeg(slide: Slide) -> bytes:
    """The whole of a ready slide, longer side at most 512 px. Kept on disk; made again if lost.

    Raises TileUnreadable where it cannot be made.
    """
    kept = _thumbnail_file(slide)
    if not kept.exists():
        with _one_thumbnail_at_a_time:
            if not kept.exists():
                _make_thumbnail(slide, kept)
    return kept.read_bytes()


def _make_thumbnail(slide: Slide, kept: Path) -> None:
    found = child.look(file_of(slide), with_thumbnail=True)
    if found["refused"]:
        raise TileUnreadable(found["refused"]["message"], code=found["refused"]["code"])
    _keep(base64.b64decode(found["thumbnail"]), kept)


def _thumbnail_file(slide: Slide) -> Path:
    folder: Path = settings.VAR_DIR / "thumbnails"
    return folder / f"{slide.pk}-{slide.revision}.jpg"


def _keep(content: bytes, path: Path) -> None:
    """Write the file whole or not at all: others read it at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as half:
        half.write(content)
    Path(half.name).replace(path)


def sha256_of(path: Path, tick: Callable[[], object] = lambda: None) -> str:
    """The identity of a file's content as the row stores it. `tick` is called after each 64 MB."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(HASH_BLOCK_BYTES):
            digest.update(block)
            tick()
    return digest.hexdigest()
