"""What people fill in. Lengths and choices come from the models."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from django import forms

from leaderboard import audits, queries
from leaderboard.models import Board, EvaluatorProfile, Submission
from leaderboard.permissions import conflicted_teams
from leaderboard.services.profiles import active_profiles
from leaderboard.services.submissions import Details
from medbench.cases.models import Release, Split
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from medbench.accounts.models import User


class ReviewItemsForm(forms.Form):
    """What of each method is put up for people, and which draw."""

    kind = forms.ChoiceField(
        choices=[
            (ReviewItem.Kind.OUTPUT, "Outputs, to be scored from 1 to 10"),
            (ReviewItem.Kind.NOVELTY, "Novel insights, to be sorted into A, B and C"),
        ]
    )
    per_method = forms.IntegerField(
        label="Of each method", min_value=1, max_value=10_000, initial=audits.SAMPLE
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, initial=1, help_text="The same seed draws the same."
    )


class OpenBoardForm(forms.Form):
    """A release of a benchmark that one curates, one of its splits, and how it is scored."""

    release = forms.ModelChoiceField(Release.objects.none(), empty_label=None)
    split = forms.ChoiceField(choices=Split.choices)
    profile = forms.ModelChoiceField(
        EvaluatorProfile.objects.none(),
        label="Scored by",
        required=False,
        empty_label="ROUGE-1",
        help_text="Profiles with judges are here once they passed their checks.",
    )

    def __init__(self, releases: QuerySet[Release], *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        field = self.fields["release"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = releases
        profile = self.fields["profile"]
        assert isinstance(profile, forms.ModelChoiceField)
        profile.queryset = active_profiles().filter(metric="judges")


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


class VisibilityForm(forms.Form):
    """Who sees a submission, and from which day on an anonymous one is named."""

    visibility = forms.ChoiceField(label="Shown", choices=Submission.Visibility.choices)
    public_from = forms.DateField(
        label="Named from",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="For an anonymous one: the day, in UTC, from which the board names you.",
    )

    @classmethod
    def of(cls, submission: Submission) -> VisibilityForm:
        """The form with what is set now."""
        day = submission.public_from and submission.public_from.date()
        return cls(initial={"visibility": submission.visibility, "public_from": day})

    def clean_public_from(self) -> dt.datetime | None:
        """The first moment of that day."""
        day = self.cleaned_data["public_from"]
        return dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC) if day else None


class OwnSubmission(forms.ModelChoiceField):  # type: ignore[type-arg]  # takes no type at run time
    """One of the submissions of a person on a board."""

    def label_from_instance(self, obj: Submission) -> str:
        return f"{obj.number} {obj.method}" + (f", {obj.backbone}" if obj.backbone else "")


class DetailsForm(VisibilityForm, forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    """Second step: what the file says about itself, to be corrected, and what it does not say."""

    url = forms.URLField(label="Link to paper or code", max_length=500, required=False, assume_scheme="https")
    replaces = OwnSubmission(
        Submission.objects.none(),
        label="New version of",
        empty_label="None: it stands for itself",
        required=False,
        help_text="Takes its place on the board when it is scored. Both stay readable.",
    )
    variant_of = OwnSubmission(
        Submission.objects.none(),
        label="Variant of",
        empty_label="None: a whole method",
        required=False,
        help_text="For ablations: the whole method, of which this one lacks parts.",
    )
    without = forms.CharField(
        label="Without",
        max_length=500,
        required=False,
        help_text="The parts it lacks, separated by commas: ism, wrm.",
    )

    class Meta:
        model = Submission
        fields = ("method", "backbone", "kind", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}  # noqa: RUF012  # read by Django only

    def __init__(self, own: QuerySet[Submission], *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        self.fields["kind"].choices = [("", "Not said"), *Submission.Kind.choices]  # type: ignore[attr-defined]  # typed as Field
        for name, queryset in (("replaces", own.filter(replaced_by=None)), ("variant_of", own)):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = queryset

    def details(self) -> Details:
        """The fields as the service takes them."""
        given = dict(self.cleaned_data)
        for name in ("replaces", "variant_of"):
            given[name] = given[name] and given[name].pk
        parts = tuple(part for part in given["without"].split(",") if part.strip())
        return Details(**given | {"without": parts})
