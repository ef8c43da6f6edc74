"""Forms of annotation. Rules live in services; forms only read what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.db.models import Q

from annotation.models import Protocol, Study, StudyAction
from annotation.services.rounds import LONGEST_WASH_OUT_DAYS
from annotation.services.studies import DEFAULT_SAMPLES
from annotation.services.verdicts import Draft
from medbench.accounts.models import User
from medbench.accounts.permissions import Role
from medbench.cases import queries as cases
from medbench.cases.editions import Edition
from medbench.cases.forms import LinesField
from medbench.cases.models import Category, Triplet
from medbench.errors import InvalidInput
from medbench.review import sources
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.protocols import Definition
    from medbench.cases.models import Benchmark

ANSWER, NOTE, CORRECTION = "answer-", "note-", "correct-"  # before the key of a question, or of a text


class VerdictForm(forms.Form):
    """What one window sends of a verdict. Answers are checked by the service, against the protocol."""

    comment = LinesField(rows=3, max_length=10_000, required=False)
    version = forms.IntegerField(min_value=0)
    regions = forms.JSONField(required=False)
    missing_tiles = forms.IntegerField(min_value=0, max_value=1_000_000, required=False)
    spans = forms.JSONField(required=False)
    flagged = forms.BooleanField(required=False)
    visit = forms.UUIDField(required=False)
    active_s = forms.IntegerField(min_value=0, required=False)

    def draft(self, definition: Definition) -> Draft:
        """Raises InvalidInput where the page cannot have sent this."""
        if not self.is_valid():
            raise InvalidInput(" ".join(str(text) for texts in self.errors.values() for text in texts))
        answers = {
            question.key: self.data[ANSWER + question.key]
            for question in definition.questions
            if self.data.get(ANSWER + question.key)
        }
        notes = {
            question.key: self.data[NOTE + question.key].replace("\r\n", "\n").strip()
            for question in definition.questions
            if NOTE + question.key in self.data
        }
        corrections = {
            name.removeprefix(CORRECTION): text
            for name, text in self.data.items()
            if name.startswith(CORRECTION)
        }
        data = self.cleaned_data
        return Draft(
            answers,
            data["comment"],
            data["version"],
            data["regions"],
            data["missing_tiles"] or 0,
            {key: text for key, text in notes.items() if text} if notes else None,
            data["flagged"],
            str(data["visit"] or ""),
            data["active_s"] or 0,
            data["spans"],
            corrections or None,
        )


class BenchmarkForm(forms.Form):
    """A form whose choices come from a benchmark."""

    def __init__(self, benchmark: Benchmark, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.benchmark = benchmark


class ItemsForm(BenchmarkForm):
    """Which triplets or cases of a benchmark: an edition of it, filters, and a sample of what they find."""

    default_samples: ClassVar[dict[str, int]] = {}  # of a kind, where no number is given

    edition = forms.ChoiceField(
        label="From",
        help_text="Outputs and novel insights: a board’s page “Review items” makes them of its submissions.",
    )
    site = forms.ChoiceField(required=False)
    category = forms.ChoiceField(
        choices=[("", "Any"), *Category.choices], required=False, help_text="Triplets only."
    )
    state = forms.ChoiceField(
        choices=[("", "Any"), *Triplet.State.choices],
        required=False,
        initial=Triplet.State.PROPOSED,
        help_text="Triplets only.",
    )
    sample = forms.IntegerField(
        label="Sample of",
        required=False,
        min_value=1,
        help_text="Empty: all that match; of data quality 100.",
    )
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, initial=1, help_text="The same seed draws the same."
    )

    def __init__(self, benchmark: Benchmark, *args: Any, **options: Any) -> None:
        super().__init__(benchmark, *args, **options)
        self.editions = {
            edition.token: edition
            for edition in (
                Edition(benchmark, None),
                *(Edition(benchmark, release) for release in benchmark.releases.order_by("-number")),
            )
        }
        labels = [(token, edition.label.capitalize()) for token, edition in self.editions.items()]
        sites = cases.values_of(Edition(benchmark, None), "site", held_out=True)
        self.fields["edition"].choices = labels  # type: ignore[attr-defined]  # typed as Field
        self.fields["site"].choices = [("", "Any"), *((site, site) for site in sites)]  # type: ignore[attr-defined]  # typed as Field

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] if self.cleaned_data["seed"] is not None else 1

    def values(self) -> dict[str, Any]:
        """What was given so far; of a form that was not sent, its first values."""
        if self.is_bound:
            self.is_valid()
            return self.cleaned_data
        first = {"edition": next(iter(self.editions))}
        return {name: field.initial for name, field in self.fields.items()} | first

    def chosen(self, kind: str) -> QuerySet[Any]:
        """What the form asks for so far that can be judged as `kind`."""
        values = self.values()
        edition = self.editions.get(values.get("edition") or "", next(iter(self.editions.values())))
        filters = {name: values.get(name) or "" for name in ("site", "category", "state")}
        rows = sources.chosen(edition, kind, **filters)
        return sources.sample(rows, self.sample_size(kind), values.get("seed", 1))

    def sample_size(self, kind: str) -> int | None:
        """How many are drawn of what matches; None = all."""
        size: int | None = self.values().get("sample")
        return size or self.default_samples.get(kind)

    def in_words(self, kind: str) -> str:
        """What was asked for, for the log: “working copy, site Colon, sample of 100 by seed 7”."""
        values = self.cleaned_data
        filters = [f"{name} {values[name]}" for name in ("site", "category", "state") if values[name]]
        size = self.sample_size(kind)
        drawn = [f"sample of {size:,} by seed {values['seed']}"] if size else []
        return ", ".join([self.editions[values["edition"]].label, *filters, *drawn])

    def items(self, kind: str) -> list[ReviewItem]:
        """The (unsaved) review items of a valid form."""
        return sources.as_items(self.chosen(kind), kind)


class AnnotatorsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # not subscriptable
    """Annotators by name and background."""

    def label_from_instance(self, person: User) -> str:
        profile = getattr(person, "annotator_profile", None)
        return f"{person}, {profile.get_background_display().lower()}" if profile else str(person)


class DueField(forms.DateTimeField):
    """A moment in UTC, or none."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def __init__(self) -> None:
        super().__init__(label="Due", required=False, help_text="UTC. Nothing closes by itself.")


class SetUpForm(BenchmarkForm):
    """What can be changed in a study as long as it is not closed, and who else is to annotate."""

    title = forms.CharField(max_length=200)
    annotators = AnnotatorsField(User.objects.none(), widget=forms.CheckboxSelectMultiple, required=False)
    due_at = DueField()
    guidelines = LinesField(
        rows=5, max_length=20_000, required=False, help_text="Shown beside those of the protocol."
    )

    def __init__(self, benchmark: Benchmark, *args: Any, **options: Any) -> None:
        super().__init__(benchmark, *args, **options)
        self.fields["annotators"].queryset = (  # type: ignore[attr-defined]  # typed as Field
            User.objects.filter(
                memberships__team=benchmark.team, memberships__role=Role.ANNOTATOR, memberships__ended_at=None
            )
            .select_related("annotator_profile")
            .order_by("name", "username")
        )

    def leave_out(self, there: list[int]) -> None:
        """Offer only people who do not annotate in the study yet."""
        field = self.fields["annotators"]
        field.queryset = field.queryset.exclude(pk__in=there)  # type: ignore[attr-defined]  # typed as Field


class LogForm(forms.Form):
    """Which lines of a log to show. A choice that is not there shows all."""

    what = forms.ChoiceField(required=False)
    person = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="Anybody")

    def __init__(self, lines: QuerySet[StudyAction], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.lines = lines
        kinds = set(lines.order_by().values_list("what", flat=True).distinct())
        choices = [(value, label) for value, label in StudyAction.What.choices if value in kinds]
        self.fields["what"].choices = [("", "Anything"), *choices]  # type: ignore[attr-defined]  # typed as Field
        people = User.objects.filter(pk__in=lines.order_by().values("person"))
        self.fields["person"].queryset = people.order_by("name")  # type: ignore[attr-defined]  # typed as Field

    def chosen(self) -> QuerySet[StudyAction]:
        """The lines that match."""
        self.is_valid()
        wanted = {name: value for name, value in self.cleaned_data.items() if value}
        return self.lines.filter(**wanted)


class RoundForm(forms.Form):
    """A further round of a closed study."""

    title = forms.CharField(max_length=200)
    wash_out_days = forms.IntegerField(
        label="Wash-out, days",
        min_value=0,
        max_value=LONGEST_WASH_OUT_DAYS,
        initial=14,
        help_text="Counted for each item and annotator from the day they last submitted it.",
    )
    due_at = DueField()


class StudyForm(ItemsForm, SetUpForm):
    """A new study of a benchmark."""

    default_samples = DEFAULT_SAMPLES

    protocol = forms.ModelChoiceField(Protocol.objects.none(), empty_label=None)
    annotators_per_item = forms.IntegerField(
        label="Annotators per item", min_value=1, max_value=20, initial=2
    )

    def __init__(self, benchmark: Benchmark, *args: Any, **options: Any) -> None:
        super().__init__(benchmark, *args, **options)
        own = Q(team=None) | Q(team=benchmark.team)
        protocols = Protocol.objects.filter(own, kind__in=sources.KINDS)
        self.fields["protocol"].queryset = protocols  # type: ignore[attr-defined]  # typed as Field
        self.fields["protocol"].initial = protocols.filter(kind=ReviewItem.Kind.TRIPLET).first()

    def study(self) -> Study:
        """The unsaved study of a valid form."""
        names = ("title", "protocol", "annotators_per_item", "due_at", "guidelines", "seed")
        return Study(benchmark=self.benchmark, **{name: self.cleaned_data[name] for name in names})
