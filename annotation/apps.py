from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation import home, protocols, tasks  # noqa: F401  # need the models; tasks registers itself

        post_migrate.connect(protocols.store_built_in, sender=self)
        home.register()
