"""The files of slides that an import brings: copied into SLIDE_DIR and registered."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from medbench.errors import Unavailable
from medbench.formats.bundle import CASES_FILE
from medbench.formats.problems import Problem
from medbench.slides.companions import folder_of, identity
from medbench.slides.models import Slide
from medbench.slides.services import examine, record, sha256_of, slide_info

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from medbench.cases.models import Release
    from medbench.formats.bundle import Bundle


def is_other(slide: Slide, files: Mapping[str, Path]) -> bool:
    """Whether the file at hand has other content than a slide that is ready."""
    path = files.get(slide.file_name) if slide.is_ready else None
    if path is None:
        return False
    return identity(path)[0] != slide.size_bytes or sha256_of(path) != slide.sha256


def bring_slides(
    release: Release,
    files: Mapping[str, Path],
    *,
    tick: Callable[[int, int], object] = lambda _done, _total: None,
) -> list[Problem]:
    """Copy and register every slide of `release` that is not ready; a warning for each refused one.

    `files` are the slide files at hand, by the path that cases name. `tick` is called with
    (done, total), again and again while a slide is being looked at.
    """
    rows = release.cases.exclude(slide=None).exclude(slide__state=Slide.State.READY)
    waiting = {row.slide: row.case.case_id for row in rows.select_related("case", "slide")}
    warnings: list[Problem] = []
    for done, (slide, case_id) in enumerate(waiting.items()):
        assert slide is not None
        if slide.file_name in files:
            _place(slide, files[slide.file_name])
        record(slide, examine(slide, tick=lambda done=done: tick(done, len(waiting))))  # type: ignore[misc]  # a bound default
        if slide.file_name in files and not slide.is_ready:
            warnings.append(_refused(slide.file_name, case_id, slide.refusal_code, slide.refusal_text))
        tick(done + 1, len(waiting))
    return warnings


def foresee_slides(bundle: Bundle) -> list[Problem]:
    """The warnings that `bring_slides` would give for slides that are not ready yet."""
    ready = ready_slides(bundle.info.name)
    looked_at = {case.slide: case.case_id for case in bundle.cases if case.slide in bundle.slides}
    warnings = []
    for name, case_id in looked_at.items():
        refused = None if name in ready else slide_info(bundle.slides[name or ""])["refused"]
        if refused:
            warnings.append(_refused(name or "", case_id, refused["code"], refused["message"]))
    return warnings


def ready_slides(benchmark_name: str) -> set[str]:
    """The names of the slides of a benchmark's working copy that are ready."""
    slides = Slide.objects.filter(cases__benchmark__name=benchmark_name, state=Slide.State.READY)
    return set(slides.values_list("file_name", flat=True))


def _refused(name: str, case_id: str, code: str, text: str) -> Problem:
    message = f"{name} ({code}): {text} The case is taken in without its slide."
    return Problem("slide_refused", message, CASES_FILE, None, case_id, "slide")


def _place(slide: Slide, source: Path) -> None:
    """Copy a slide file, whole or not at all, into a folder of its own below SLIDE_DIR."""
    target = Path(str(slide.pk)) / source.name
    if slide.path == str(target) and slide.sha256 and slide.sha256 == sha256_of(source):
        return
    folder = settings.SLIDE_DIR / str(slide.pk)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pixels = folder_of(source)  # without it, registration says what is missing
        if pixels and pixels.is_dir():
            shutil.copytree(pixels, folder / pixels.name, dirs_exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as part:
            copy = Path(part) / "copy"
            shutil.copyfile(source, copy)
            copy.replace(folder / source.name)
    except OSError as error:
        raise Unavailable(
            f"{source.name} could not be copied to the folder for slides: {error.strerror}."
        ) from error
    slide.path = str(target)
    slide.save(update_fields=["path"])
