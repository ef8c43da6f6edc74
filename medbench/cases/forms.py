"""Forms of the case pages. Rules live in services; forms only read what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from medbench.cases import queries
from medbench.cases.models import Category, Split
from medbench.cases.queries import Filters
from medbench.cases.services.editing import Wording

if TYPE_CHECKING:
    from django.http import HttpRequest

    from medbench.cases.editions import Edition

PAGE_SIZES = (25, 50, 100)


def posted(request: HttpRequest) -> dict[str, Any]:
    """The arguments of a form for a request: bound only where something was posted, even if nothing."""
    return {"data": request.POST, "files": request.FILES} if request.method == "POST" else {}


class FilterForm(forms.Form):
    """The filters of a case list, read from its address. What is not a choice is not a filter."""

    q = forms.CharField(label="Search", max_length=200, required=False)
    site = forms.ChoiceField(required=False)
    project = forms.ChoiceField(required=False)
    difficulty = forms.TypedMultipleChoiceField(
        coerce=int,
        choices=[(n, str(n)) for n in range(1, 5)],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    category = forms.ChoiceField(choices=[("", "Any"), *Category.choices], required=False)
    split = forms.ChoiceField(choices=[("", "Any"), *Split.choices], required=False)

    def __init__(self, data: Any, edition: Edition, *, held_out: bool) -> None:
        super().__init__(data, auto_id="filter-%s")
        for name in ("site", "project"):
            values = queries.values_of(edition, name, held_out=held_out)
            self.fields[name].choices = [("", "Any"), *((value, value) for value in values)]  # type: ignore[attr-defined]  # typed as Field
        if not held_out:
            del self.fields["split"]

    def filters(self) -> Filters:
        self.is_valid()
        chosen = self.cleaned_data
        return Filters(
            search=chosen.get("q", ""),
            site=chosen.get("site", ""),
            project=chosen.get("project", ""),
            difficulties=tuple(chosen.get("difficulty", ())),
            category=chosen.get("category", ""),
            split=chosen.get("split", ""),
        )


class LinesField(forms.CharField):
    """Text of several lines, kept as typed but for the line ends that browsers send."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        super().__init__(strip=False, widget=forms.Textarea(attrs={"rows": rows}), **options)

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class TripletForm(forms.Form):
    """The wording of a triplet. `based_on` is the version that was read, 0 for a new triplet."""

    category = forms.ChoiceField(choices=Category.choices)
    question = LinesField(rows=2, max_length=2_000)
    insight = LinesField(rows=4, max_length=4_000)
    evidence = LinesField(
        rows=5,
        max_length=20_000,
        required=False,
        help_text="Word for word from the report, line breaks aside. Its place is found when you save.",
    )
    based_on = forms.IntegerField(widget=forms.HiddenInput, min_value=0)

    def wording(self) -> Wording:
        fields = {name: self.cleaned_data[name] for name in ("category", "question", "insight", "evidence")}
        return Wording(**fields)


class GoalForm(forms.Form):
    text = LinesField(rows=5, max_length=4_000, label="Goal")


class CaseForm(forms.Form):
    """What the working copy says about a case."""

    site = forms.CharField(max_length=200, required=False)
    project = forms.CharField(max_length=120, required=False)
    difficulty = forms.TypedChoiceField(coerce=int, choices=[(n, str(n)) for n in range(1, 5)])
    split = forms.ChoiceField(
        choices=Split.choices,
        help_text="Held-out cases are shown to curators only. Releases keep their split.",
    )


class FreezeForm(forms.Form):
    version = forms.CharField(
        max_length=40, required=False, help_text="The label in files. Empty: the number of the release."
    )


class UploadForm(forms.Form):
    file = forms.FileField(
        label="Bundle",
        help_text="A .zip with benchmark.json, cases.jsonl, reports and slides. It is checked first.",
    )
