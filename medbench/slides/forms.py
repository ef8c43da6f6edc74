"""Forms of slides."""

from __future__ import annotations

from django import forms

from medbench.slides.models import Slide

LONGEST_REASON = 500
CHECKS = "checks"  # nobody's word but theirs


class OverruleForm(forms.Form):
    """A curator's word on the image checks."""

    quality = forms.ChoiceField(
        label="This slide is",
        choices=[
            (Slide.Quality.GOOD.value, "Good enough to judge"),
            (Slide.Quality.SUSPECT.value, "Not good enough to judge"),
            (CHECKS, "What the checks say"),
        ],
    )
    reason = forms.CharField(
        label="Reason", max_length=LONGEST_REASON, help_text="Stands in the log of the slide, with your name."
    )

    def clean_quality(self) -> str:
        """What is stored: "" for the checks' own word."""
        chosen: str = self.cleaned_data["quality"]
        return "" if chosen == CHECKS else chosen
