from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "medbench.web"

    def ready(self) -> None:
        from medbench import checks  # noqa: F401  # registers them
