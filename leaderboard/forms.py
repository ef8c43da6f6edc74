"""What people fill in. Lengths and choices come from the models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms

from leaderboard import queries
from leaderboard.models import Board, Submission
from leaderboard.permissions import conflicted_teams
from leaderboard.services.submissions import Details
from medbench.cases.models import Release, Split

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from medbench.accounts.models import User


class OpenBoardForm(forms.Form):
    """A release of a benchmark that one curates, and one of its splits."""

    release = forms.ModelChoiceField(Release.objects.none(), empty_label=None)
    split = forms.ChoiceField(choices=Split.choices)

    def __init__(self, releases: QuerySet[Release], *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        field = self.fields["release"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = releases


class CheckForm(forms.Form):
    """First step: a board and a result file."""

    board = forms.ModelChoiceField(Board.objects.none(), empty_label=None)
    file = forms.FileField(
        label="Result file",
        error_messages={"required": "Choose a result file.", "empty": "The file is empty."},
        widget=forms.FileInput(attrs={"accept": ".json,.jsonl,application/json"}),
    )

    def __init__(self, person: User, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        board = self.fields["board"]
        assert isinstance(board, forms.ModelChoiceField)
        board.queryset = (
            queries.boards(person, "submission.create")
            .filter(closed_at=None)
            .exclude(split=Split.HELD_OUT, release__benchmark__team__in=conflicted_teams(person))
        )


class DetailsForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    """Second step: what the file says about itself, to be corrected."""

    url = forms.URLField(label="Link to paper or code", max_length=500, required=False, assume_scheme="https")

    class Meta:
        model = Submission
        fields = ("method", "backbone", "description", "visibility")
        labels = {"visibility": "Shown"}  # noqa: RUF012  # read by Django only
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}  # noqa: RUF012  # read by Django only

    def details(self) -> Details:
        """The fields as the service takes them."""
        return Details(**self.cleaned_data)
