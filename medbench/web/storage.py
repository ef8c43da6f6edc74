"""Static files with hashed names, so that browsers may keep them for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped library
    """Also rewrites the import paths inside our ES modules to hashed names."""

    support_js_module_import_aggregation = True
