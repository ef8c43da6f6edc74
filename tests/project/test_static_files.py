"""What `collectstatic` makes of templates, styles and modules together."""

import json
import re

import pytest
from django.conf import settings
from django.core.management import call_command

OURS = settings.BASE_DIR / "static"


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The folder of hashed files and the manifest that names them."""
    from django.test import override_settings

    folder = tmp_path_factory.mktemp("static")
    storages = settings.STORAGES | {"staticfiles": {"BACKEND": "medbench.web.storage.StaticFiles"}}
    with override_settings(STATIC_ROOT=folder, STORAGES=storages):
        call_command("collectstatic", interactive=False, verbosity=0)
    return folder, json.loads((folder / "staticfiles.json").read_text())["paths"]


def test_every_file_that_a_template_names_exists(collected):
    _, paths = collected
    folders = [settings.BASE_DIR / name for name in ("templates", "medbench", "annotation", "leaderboard")]
    named = {
        name
        for folder in folders
        for template in folder.rglob("*.html")
        for name in re.findall(r"{% static ['\"]([^'\"]+)['\"] %}", template.read_text())
    }
    assert {"css/tokens.css", "js/frame.js"} <= named
    assert named - paths.keys() == set()


def test_modules_import_each_other_by_hashed_names(collected):
    """A browser keeps hashed files for ever: an import by the plain name would mix old and new.

    Django rewrites only imports that end in a semicolon.
    """
    folder, paths = collected
    hashed = set(paths.values())
    imports = {
        f"{module.name}: {target}": str((folder / paths[name]).parent.joinpath(target).resolve())
        for module in OURS.glob("js/**/*.js")
        for name in [str(module.relative_to(OURS))]
        for target in re.findall(
            r"""(?:from|import)\s*\(?["'](\.[^"']+)["']""", (folder / paths[name]).read_text()
        )
    }
    assert imports
    plain = [which for which, file in imports.items() if file.removeprefix(f"{folder}/") not in hashed]
    assert plain == []


def test_no_page_needs_anything_from_another_site():
    """The policy allows only this site; an address of another in a style or module is a mistake."""
    sources = [*OURS.glob("css/**/*.css"), *OURS.glob("js/**/*.js")]
    foreign = [
        str(source.relative_to(OURS))
        for source in sources
        if re.search(r"https?://(?!www\.w3\.org/)", source.read_text())
    ]
    assert foreign == []
