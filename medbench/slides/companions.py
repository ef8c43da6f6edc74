"""Slides that are more than one file: is all of it here? No Django.

A lone head file is the commonest mistake of an upload, and some readers show a preview of it as if it
were the slide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.slides.reader import SlideRefused

if TYPE_CHECKING:
    from pathlib import Path


def folder_of(path: Path) -> Path | None:
    """The folder that belongs to a slide's file, by the name's ending; None where the file is all."""
    match path.suffix.lower():
        case ".mrxs":
            return path.with_suffix("")
        case ".vsi":
            return path.with_name(f"_{path.stem}_")
    return None


def files_of(path: Path) -> list[Path]:
    """All files of the slide whose file is `path`, that one first."""
    folder = folder_of(path)
    rest = sorted(each for each in folder.rglob("*") if each.is_file()) if folder and folder.is_dir() else []
    return [path, *rest]


def identity(path: Path) -> tuple[int, int]:
    """Bytes of all files of the slide, and the time (ns) of the last change to any. Raises OSError."""
    found = [each.stat() for each in files_of(path)]
    return sum(each.st_size for each in found), max(each.st_mtime_ns for each in found)


def check(path: Path) -> None:
    """Raise SlideRefused where the folder of the slide is not beside it."""
    folder = folder_of(path)
    if folder is None or not path.is_file():
        return
    wanted = folder.name.replace(path.stem, "the file's name")
    if not folder.is_dir():
        raise SlideRefused(
            f"This is only the head of the slide. Its pixels are in a folder beside it, called {wanted} "
            f"for {path.suffix.lower()} files: copy that folder, too.",
            code="companion_missing",
        )
    if path.suffix.lower() == ".mrxs" and not (folder / "Slidedat.ini").is_file():
        raise SlideRefused(
            "The folder of the slide lacks Slidedat.ini. Copy the whole folder again.",
            code="companion_missing",
        )
