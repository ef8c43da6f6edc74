"""What is done with slides: look at a file, register it, serve its tiles and thumbnail."""

from __future__ import annotations

import atexit
import base64
import hashlib
import threading
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from medbench.errors import InvalidInput
from medbench.jobs import services as jobs
from medbench.slides import child, colour, companions, geometry
from medbench.slides.cache import DiskCache, keep
from medbench.slides.child import ChildEnded, ChildPool
from medbench.slides.findings import refusal
from medbench.slides.models import Slide, SlideAction
from medbench.slides.reader import SlideRefused, TileUnreadable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from medbench.accounts.models import User
    from medbench.jobs.models import Job

HASH_BLOCK_BYTES = 64_000_000
_one_thumbnail_at_a_time = threading.Lock()  # a list page may ask for 50 that are not made yet


@dataclass(frozen=True)
class Examination:
    """What registration found out. `found` is as `slide_info` answers, `sha256` "" without a file.
    `tissue_mask` is a PNG of one bit, as large as the thumbnail."""

    found: dict[str, Any]
    sha256: str = ""
    size_bytes: int | None = None
    mtime_ns: int | None = None
    thumbnail: bytes | None = None
    tissue_mask: bytes | None = None


@cache
def decoders() -> ChildPool:
    """The processes of this one that decode tiles."""
    pool = ChildPool(settings.SLIDE_DECODERS)
    atexit.register(pool.close)
    return pool


def tile_cache() -> DiskCache:
    """Decoded tiles of all slides, shared by all processes."""
    return DiskCache(settings.VAR_DIR / "tiles", settings.SLIDE_CACHE_BYTES)


def slide_info(path: Path) -> dict[str, Any]:
    """What the file at `path` is, as the contract's `slide_info` prints it.

    Never raises for a bad file: `refused` holds code and message. Works in a child process, so that
    no file can take this one down.
    """
    found = child.look(path)
    for name in ("thumbnail", "tissue_mask"):
        found.pop(name, None)
    return found


NORMALISATIONS = ("none", "reinhard", "macenko")
RENDER_MAX_PX = 16_384


def render(path: Path, longest_px: int, normalise: str = "none") -> tuple[dict[str, Any], bytes]:
    """The slide at `path` as PNG, longer side at most `longest_px`, and what is known of the making:
    {width, height, level_used, peak_rss_mb}.

    Any file that could be registered will do. Raises SlideRefused and TileUnreadable with the reason.
    """
    request = {"do": "render", "path": str(path.absolute()), "longest_px": longest_px, "normalise": normalise}
    try:
        with child.Child() as decoder:
            return _told(*decoder.ask(request, seconds=child.LOOK_SECONDS))
    except ChildEnded as error:
        raise TileUnreadable(error.message, code=error.code) from error


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


def pyramid_file(sha256: str) -> Path:
    """Where the pyramid lies that was made of a file of this content, if one was."""
    folder: Path = settings.VAR_DIR / "pyramids"
    return folder / f"{sha256}.tif"


def served(slide: Slide) -> Path:
    """The file that the tiles of a ready slide come from: its own, or the pyramid that was made of it.

    Raises SlideRefused where it is gone or not the one registered.
    """
    if slide.is_converted:
        path = pyramid_file(slide.sha256)
        if not path.is_file():
            raise SlideRefused(
                "What was made of the slide's file is gone. Register it again.", code="file_missing"
            )
        return path
    path = file_of(slide)
    size_bytes, mtime_ns = companions.identity(path)
    # Slides that were registered before their time was kept have none.
    if size_bytes != slide.size_bytes or slide.mtime_ns not in (None, mtime_ns):
        raise SlideRefused("The slide's file was replaced. Register it again.", code="file_changed")
    return path


def queue_registration(slide: Slide, *, requested_by: User | None = None) -> Job:
    """Have a worker register `slide`; a slide that is not ready says so until then. Asked for twice it
    is done once."""
    with transaction.atomic():
        row = Slide.objects.select_for_update().get(pk=slide.pk)
        if row.job and not row.job.is_over:
            return row.job
        row.job = jobs.enqueue("slides.register", {"slide": str(slide.pk)}, requested_by=requested_by)
        if not row.is_ready:  # else people go on looking at it meanwhile
            row.state = Slide.State.REGISTERING
            row.refusal_code = row.refusal_text = ""
        row.save(update_fields=["state", "refusal_code", "refusal_text", "job"])
        _log(row, SlideAction.What.QUEUED, person=requested_by)
    slide.refresh_from_db()
    assert row.job
    return row.job


def registration_given_up(job: Job) -> None:
    """Say of the slide of a job that was cancelled or failed for good that it failed, and why. One that
    was ready before stays ready: its file is looked at again with each tile."""
    code, text = job.error_code or "cancelled", job.error_text or "Registration was cancelled."
    for row in Slide.objects.select_for_update().filter(pk=job.payload["slide"], job=job):
        if row.state == Slide.State.REGISTERING:
            row.state, row.refusal_code, row.refusal_text = Slide.State.FAILED, code, text
            row.save(update_fields=["state", "refusal_code", "refusal_text"])
        _log(row, SlideAction.What.FAILED, text)


def register_slide(slide: Slide) -> None:
    """Look at the file of `slide` and fill its row: ready, or pending with the reason.

    Content other than before becomes a new revision, and with it every tile gets a new address. The
    same content again changes nothing.
    """
    record(slide, examine(slide))


def examine(slide: Slide, *, tick: Callable[[], object] = lambda: None) -> Examination:
    """The slow half of registration: reads the file, writes no row, never raises for a bad file.

    `tick` is called every few seconds (the lease of a job); what it raises passes on.
    """
    try:
        path = file_of(slide)
        before = companions.identity(path)
        sha256 = sha256_of(path, tick)
        found = child.look(path, pyramid=pyramid_file(sha256), tick=tick)
        after = companions.identity(path)
    except SlideRefused as error:
        return Examination(refusal(error.code, error.message))
    except OSError:
        return Examination(refusal("file_unreadable", "The slide's file cannot be read from the disk."))
    pictures = [found.pop(name, None) for name in ("thumbnail", "tissue_mask")]
    if before != after:
        found = refusal(
            "file_changing", "The file changed while it was read. Register it when it is complete."
        )
        pictures = [None, None]
    thumbnail, mask = (base64.b64decode(each) if each else None for each in pictures)
    return Examination(found, sha256, *after, thumbnail, mask)


def record(slide: Slide, examination: Examination) -> None:
    """The quick half of registration: writes the row and keeps the pictures."""
    refused = examination.found["refused"]
    with transaction.atomic():
        row = Slide.objects.select_for_update().get(pk=slide.pk)
        if row.sha256 and examination.sha256 not in ("", row.sha256):
            row.revision += 1
            row.quality_overruled = Slide.Quality.UNCHECKED
        row.sha256 = examination.sha256 or row.sha256
        row.size_bytes, row.mtime_ns = examination.size_bytes, examination.mtime_ns
        row.state = Slide.State.PENDING if refused else Slide.State.READY
        row.refusal_code = refused["code"] if refused else ""
        row.refusal_text = refused["message"] if refused else ""
        _fill(row, examination.found)
        row.save()
        what = SlideAction.What.REFUSED if refused else SlideAction.What.REGISTERED
        _log(row, what, row.refusal_text)
    slide.refresh_from_db()
    if examination.thumbnail and examination.tissue_mask:
        _keep(examination.thumbnail, _thumbnail_file(slide))
        _keep(examination.tissue_mask, tissue_mask_file(slide))


def _fill(row: Slide, found: dict[str, Any]) -> None:
    row.vendor, row.profile = found["vendor"] or "", found["profile"] or ""
    row.width_px, row.height_px = found["width"], found["height"]
    row.bounds_l0_px = found["bounds"]
    row.mpp_x_um, row.mpp_y_um = found["mpp"] or (None, None)
    row.mpp_source, row.objective = found["mpp_source"] or "", found["objective"]
    row.levels, row.virtual_levels = found["levels"], found["virtual_levels"]
    row.is_converted, row.tissue_fraction = found["converted"], found["tissue_fraction"]
    row.quality_checks = found["quality"]
    if not found["quality"]:
        row.quality = Slide.Quality.UNCHECKED
    elif all(check["ok"] for check in found["quality"]):
        row.quality = Slide.Quality.GOOD
    else:
        row.quality = Slide.Quality.SUSPECT


def overrule_quality(slide: Slide, quality: str, reason: str, *, by: User) -> None:
    """A curator's word on the image checks of a ready slide: good, suspect, or "" for the checks' own.

    It holds for this revision. Raises InvalidInput.
    """
    reason = reason.strip()
    if not slide.is_ready or quality not in Slide.Quality.values:
        raise InvalidInput("There are no image checks to overrule.")
    if not reason:
        raise InvalidInput("Say why: the reason stands in the log of the slide.")
    with transaction.atomic():
        Slide.objects.filter(pk=slide.pk).update(quality_overruled=quality)
        slide.quality_overruled = quality
        words = Slide.Quality(quality).label if quality else "The checks count again"
        _log(slide, SlideAction.What.OVERRULED, f"{words}: {reason[:2000]}", person=by)


def _log(slide: Slide, what: SlideAction.What, note: str = "", *, person: User | None = None) -> None:
    slide.actions.create(revision=slide.revision, what=what, note=note, person=person)


def tile_jpeg(slide: Slide, level: int | str, column: int, row: int) -> bytes:
    """One tile of a ready slide, decoded in a process of its own and kept on disk.

    `level` is the number of a native level or the name of a virtual one. Raises geometry.OutsideGrid,
    TileUnreadable, and SlideRefused where the file is gone or is not the one that was registered;
    Unavailable where all decoders are busy for long.
    """
    path = served(slide)
    key, kept = f"{slide.sha256} {tile_etag(slide.sha256, level, column, row)}", tile_cache()
    content = kept.get(key)
    if content is None:
        content = decode(path, slide.levels, level, column, row)
        kept.put(key, content)
    return content


def decode(path: Path, levels: list[dict[str, Any]], level: int | str, column: int, row: int) -> bytes:
    """One tile of the file at `path` as JPEG, made in a process of its own; `levels` is the level table of
    its slide. Raises as `tile_jpeg` does."""
    stored = {
        str(number): each["stored"]["directory"] for number, each in enumerate(levels) if each["stored"]
    }
    request = {"do": "tile", "path": str(path), "level": level, "column": column, "row": row}
    try:
        return _told(*decoders().ask(request | {"stored": stored}))[1]
    except ChildEnded as error:
        raise TileUnreadable(error.message, code=error.code) from error


def _told(answer: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    """The answer of a decoder; raises what it told instead of one."""
    match answer.get("error"):
        case None:
            return answer, content
        case "OutsideGrid":
            raise geometry.OutsideGrid(answer["message"])
        case "SlideRefused":
            raise SlideRefused(answer["message"], code=answer["code"])
    raise TileUnreadable(answer["message"], code=answer["code"])


def tile_etag(sha256: str, level: int | str, column: int, row: int) -> str:
    """Changes with the file's content, the tile and the way tiles are made; known before reading."""
    return f'"{sha256[:16]}-{level}-{column}-{row}-{colour.ENCODING}"'


def thumbnail_jpeg(slide: Slide) -> bytes:
    """The whole of a ready slide, longer side at most 512 px. Kept on disk; made again if lost.

    Raises TileUnreadable where it cannot be made.
    """
    return _kept_picture(slide, _thumbnail_file(slide))


def tissue_mask_png(slide: Slide) -> bytes:
    """Where tissue was found on a ready slide: one bit, as large as the thumbnail. As thumbnail_jpeg."""
    return _kept_picture(slide, tissue_mask_file(slide))


def _kept_picture(slide: Slide, kept: Path) -> bytes:
    if not kept.exists():
        with _one_thumbnail_at_a_time:
            if not kept.exists():
                _make_pictures(slide)
    return kept.read_bytes()


def _make_pictures(slide: Slide) -> None:
    found = child.look(served(slide))
    if found["refused"]:
        raise TileUnreadable(found["refused"]["message"], code=found["refused"]["code"])
    _keep(base64.b64decode(found["thumbnail"]), _thumbnail_file(slide))
    _keep(base64.b64decode(found["tissue_mask"]), tissue_mask_file(slide))


def _thumbnail_file(slide: Slide) -> Path:
    folder: Path = settings.VAR_DIR / "thumbnails"
    return folder / f"{slide.pk}-{slide.revision}.jpg"


def tissue_mask_file(slide: Slide) -> Path:
    return _thumbnail_file(slide).with_suffix(".png")


def _keep(content: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    keep(content, path)


def sha256_of(path: Path, tick: Callable[[], object] = lambda: None) -> str:
    """The identity of a slide's content as the row stores it: of its file, and of all files in the folder
    that belongs to it. `tick` is called after each 64 MB."""
    digest = hashlib.sha256()
    for each in companions.files_of(path):
        with each.open("rb") as file:
            while block := file.read(HASH_BLOCK_BYTES):
                digest.update(block)
                tick()
    return digest.hexdigest()
