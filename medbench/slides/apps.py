from django.apps import AppConfig


class SlidesConfig(AppConfig):
    name = "medbench.slides"

    def ready(self) -> None:
        from medbench.slides import tasks  # noqa: F401  # registers the jobs
