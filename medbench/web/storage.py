"""Static files with hashed names, so that browsers may keep them for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

if TYPE_CHECKING:
    from collections.abc import Iterator


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped library
    """Also rewrites the import paths inside our ES modules to hashed names."""

    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        """Leaves out htmx's extensions: no page loads them, and they import names that only a
        bundler can resolve."""
        ours = {path: where for path, where in paths.items() if not path.startswith("django_htmx/ext/")}
        yield from super().post_process(ours, *args, **options)
