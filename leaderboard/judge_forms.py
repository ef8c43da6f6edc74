"""What curators fill in about judges and profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.conf import settings

from leaderboard.models import Judge
from medbench.evals.profiles import MODES, VOTERS
from medbench.scoring.novelty import TAU

if TYPE_CHECKING:
    from django.db.models import QuerySet

PROVIDERS = (
    ("openai", "OpenAI"),
    ("google", "Google"),
    ("anthropic", "Anthropic"),
    ("openai-api", "A server that speaks OpenAI's Chat Completions"),
)
MODE_WORDS = {"pairwise": "Pair by pair", "row": "A whole row at once: one reference, all outputs of a case"}
FIXED_WHEN_USED = ("provider", "model", "base_url")


class JudgeForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    """A judge. The key goes in and is never shown."""

    provider = forms.ChoiceField(choices=PROVIDERS)
    base_url = forms.ChoiceField(label="Base address", required=False)
    key = forms.CharField(
        label="API key",
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    field_order = ("name", "provider", "model", "base_url", "key")

    class Meta:
        model = Judge
        fields = (
            "name",
            "provider",
            "model",
            "base_url",
            "requests_per_minute",
            "price_input",
            "price_output",
            "budget",
        )
        labels = {  # noqa: RUF012  # read by Django only
            "requests_per_minute": "Calls a minute, at most",
            "price_input": "Price of a million input tokens, US dollars",
            "price_output": "Price of a million output tokens, US dollars",
            "budget": "Budget of one evaluation, US dollars",
        }
        help_texts = {  # noqa: RUF012  # read by Django only
            "model": "As the provider spells it, as gpt-4o-2024-11-20.",
            "budget": "An evaluation stops, and can go on later, when the budgets of its judges together "
            "are spent. One judge without a budget leaves it without limit.",
        }

    def __init__(self, *args: object, is_used: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        address = self.fields["base_url"]
        assert isinstance(address, forms.ChoiceField)
        kept = [self.instance.base_url] if self.instance.base_url else []
        listed = dict.fromkeys([*settings.JUDGE_ADDRESSES, *kept])
        address.choices = [("", "The provider's own"), *((each, each) for each in listed)]
        address.help_text = "Further addresses are listed in the setting MEDBENCH_JUDGE_ADDRESSES."
        for name in FIXED_WHEN_USED if is_used else ():
            self.fields[name].disabled = True
        self.fields["key"].help_text = (
            f"A key is stored, set {self.instance.key_set_at:%Y-%m-%d}. Leave this empty to keep it."
            if self.instance.key_set_at
            else "Stored encrypted and never shown again."
        )


class ProfileForm(forms.Form):
    """Which judges score, which vote on novelty, and how they are asked."""

    title = forms.CharField(max_length=120, help_text="Boards show it. Say who judges.")
    judges = forms.ModelMultipleChoiceField(Judge.objects.none(), widget=forms.CheckboxSelectMultiple)
    voters = forms.ModelMultipleChoiceField(
        Judge.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )
    mode = forms.ChoiceField(label="How they are asked", choices=[(mode, MODE_WORDS[mode]) for mode in MODES])
    tau = forms.DecimalField(
        label="Matched from a score of (tau)",
        min_value=0,
        max_value=1,
        max_digits=3,
        decimal_places=2,
        initial=f"{TAU:.2f}",
        help_text="An output whose best score reaches it states a reference; the others may be new.",
    )

    def __init__(self, judges: QuerySet[Judge], *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they came
        for name in ("judges", "voters"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelMultipleChoiceField)
            field.queryset = judges

    def clean_voters(self) -> QuerySet[Judge]:
        """All or nothing: a majority needs three."""
        chosen: QuerySet[Judge] = self.cleaned_data["voters"]
        if len(chosen) not in (0, VOTERS):
            raise forms.ValidationError("Choose three voters, or none: then nothing is said of novelty.")
        return chosen
