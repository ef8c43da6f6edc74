"""Forms of accounts. They check words; what may be done is decided in services."""

from __future__ import annotations

import zoneinfo
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone

from medbench.accounts.models import AnnotatorProfile, Invitation, Membership, Team, User
from medbench.accounts.queries import is_taken, people_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

NEW_PASSWORD_HELP = "At least 10 characters, not a common password, unlike your name."  # noqa: S105  # a text


def _password(autocomplete: str, label: str = "Password", help_text: str = "") -> forms.CharField:
    """A password as it was typed: spaces count, nothing is given back to the page."""
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, strip=False, widget=widget, help_text=help_text)


class SignInForm(forms.Form):
    name = forms.CharField(
        label="Name or e-mail",
        max_length=254,
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    password = _password("current-password")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password" if self.is_bound else "name"].widget.attrs["autofocus"] = True


class TellsWhatIsTaken:
    """Says at its field that somebody else has a sign-in name or e-mail address."""

    def clean_username(self: Any) -> str:
        username: str = User.normalize_username(self.cleaned_data["username"])
        if is_taken("username", username, self.instance):
            raise ValidationError("This sign-in name is taken.")
        return username

    def clean_email(self: Any) -> str:
        email: str = self.cleaned_data["email"]
        if email and is_taken("email", email, self.instance):
            raise ValidationError("Someone with this e-mail address is registered already.")
        return email


class PersonForm(TellsWhatIsTaken, forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    """A new account. The password is checked against the other words, too."""

    password = _password("new-password", help_text=NEW_PASSWORD_HELP)

    class Meta:
        model = User
        fields = ("name", "username", "email")
        widgets: ClassVar = {
            "name": forms.TextInput(attrs={"autocomplete": "name"}),
            "username": forms.TextInput(
                attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
            ),
            "email": forms.EmailInput(attrs={"autocomplete": "email"}),
        }

    field_order: Iterable[str] | None = ("name", "username", "email", "password")

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # the hook of ModelForm in which the instance is filled
        try:
            validate_password(self.cleaned_data.get("password", ""), self.instance)
        except ValidationError as error:
            if "password" not in self.errors:
                self.add_error("password", error)


class FirstCuratorForm(PersonForm):
    code = forms.CharField(
        label="Code",
        help_text="The server's log shows it when this page opens; `manage.py first_visit_code` prints it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("code", "name", "username", "email", "password")

    def __init__(self, *args: Any, asks_code: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not asks_code:
            del self.fields["code"]


class NewPasswordForm(forms.Form):
    """A new password for `user`, who came by a link."""

    password = _password("new-password", "New password", NEW_PASSWORD_HELP)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, self.user)
        return password


class PasswordChangeForm(NewPasswordForm):
    """The same for whoever knows the old password."""

    old = _password("current-password", "Current password")
    field_order: Iterable[str] | None = ("old", "password")

    def clean_old(self) -> str:
        old: str = self.cleaned_data["old"]
        if not self.user.check_password(old):
            raise ValidationError("This is not your current password.")
        return old


def _name_empty_choice(form: forms.BaseForm, field: str, words: str) -> None:
    """Say in words what the first, empty choice of a list means."""
    choices = form.fields[field].choices  # type: ignore[attr-defined]  # a ChoiceField
    form.fields[field].choices = [("", words), *list(choices)[1:]]  # type: ignore[attr-defined]  # typed as Field


@cache  # they are read from hundreds of files
def _zones() -> list[tuple[str, str]]:
    cities = sorted(zone for zone in zoneinfo.available_timezones() if "/" in zone and "Etc/" not in zone)
    return [("UTC", "UTC"), *((zone, zone.replace("_", " ")) for zone in cities)]


class SettingsForm(TellsWhatIsTaken, forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    time_zone = forms.ChoiceField(
        label="Time zone", choices=_zones, help_text="Deadlines are shown in UTC and in your own time."
    )

    class Meta:
        model = User
        fields = (
            "name",
            "email",
            "mail_about_work",
            "theme",
            "compact_tables",
            "single_key_shortcuts",
            "time_zone",
        )
        labels: ClassVar = {
            "mail_about_work": "Mail about my work",
            "theme": "Colours",
            "compact_tables": "Compact tables",
            "single_key_shortcuts": "Single-key shortcuts",
        }
        help_texts: ClassVar = {
            "mail_about_work": "When items wait, or an evaluation ends. It names no case, method or score.",
            "single_key_shortcuts": "Off leaves Enter, Esc, arrows and Ctrl. Every command has a button.",
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not settings.SENDS_MAIL:
            del self.fields["mail_about_work"]


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    """What an annotator brings. Left empty by whoever does not annotate."""

    class Meta:
        model = AnnotatorProfile
        fields = ("background", "field", "years")
        labels: ClassVar = {"field": "Subspecialty or field", "years": "Years of experience"}

    def __init__(self, *args: Any, required: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["background"].required = required
        _name_empty_choice(self, "background", "Choose…" if required else "Not given")
        self.fields["years"].widget.attrs |= {"min": 0, "max": 70}

    def clean_years(self) -> int | None:
        years: int | None = self.cleaned_data["years"]
        if years is not None and years > 70:
            raise ValidationError("Give the number of years, at most 70.")
        return years

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if not given.get("background") and (given.get("field") or given.get("years") is not None):
            self.add_error("background", "Choose a background, or leave all three empty.")
        return given

    def save_for(self, user: User) -> None:
        """Keep the profile of `user`; an empty one is no profile."""
        if self.cleaned_data["background"]:
            self.instance.user = user
            self.save()
        elif self.instance.pk:
            self.instance.delete()


class TokenForm(forms.Form):
    name = forms.CharField(label="What it is for", max_length=80)
    days = forms.TypedChoiceField(
        label="Works for",
        coerce=int,
        initial="90",
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("0", "Until revoked")],
    )

    def expires_at(self) -> datetime | None:
        """The moment chosen, or None for ever."""
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    days = forms.TypedChoiceField(
        label="Link works for",
        coerce=int,
        initial="14",
        choices=[("2", "2 days"), ("14", "14 days"), ("60", "60 days")],
    )

    class Meta:
        model = Invitation
        fields = ("role", "note")
        labels: ClassVar = {"note": "For whom"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_empty_choice(self, "role", "Choose…")


class RoleForm(forms.ModelForm):  # type: ignore[type-arg]  # takes no type at run time
    """One more role for somebody who has one in `team` already; others come by invitation."""

    class Meta:
        model = Membership
        fields = ("user", "role")
        labels: ClassVar = {"user": "Person"}

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["user"].queryset = people_of(team)  # type: ignore[attr-defined]  # a ModelChoiceField
        self.fields["user"].empty_label = "Choose…"  # type: ignore[attr-defined]  # typed as Field
        _name_empty_choice(self, "role", "Choose…")
