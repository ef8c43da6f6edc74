from django.apps import AppConfig


class SlidesConfig(AppConfig):
    name = "medbench.slides"
