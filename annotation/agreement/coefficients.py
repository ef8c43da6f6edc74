"""Which coefficients fit which scale, under their full names, with what they are taken to mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medbench.scoring.agreement import reading

if TYPE_CHECKING:
    from annotation.agreement.analysis import Result

KRIPPENDORFF, KOO_LI = "Krippendorff", "Koo and Li"
ICC_FORMS = ("ICC(A,1)", "ICC(A,k)", "ICC(C,1)", "ICC(C,k)", "ICC(1)", "ICC(k)")
LEVELS = ("nominal", "ordinal", "interval", "ratio")
READINGS = {KRIPPENDORFF: reading.krippendorff, KOO_LI: reading.koo_li}


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of a question. `reason` says why value or interval are missing."""

    name: str
    value: float | None
    ci: tuple[float, float] | None
    reason: str
    scale: str = ""  # whose words `reading` is in; "" where nobody's are agreed on

    @property
    def reading(self) -> str:
        """The word for the value, and where the ends of its interval read otherwise, theirs too."""
        if self.value is None or not self.scale:
            return ""
        words = READINGS[self.scale]
        word = "no agreement" if self.value < 0 else words(self.value) or ""
        low, high = ((words(end) or "") for end in self.ci or (self.value, self.value))
        return word if low == high else f"{word} ({low} to {high})"


def fitting(result: Result) -> list[Coefficient]:
    """The coefficients by which a question of its scale is judged, the decisive one first; AC1 with
    them where alpha is low because nearly all ratings are equal."""
    found = _fitting(result)
    if any(warning["code"] == "paradox" for warning in result.get("warnings", ())):
        found.append(_plain("AC1", result["ac1"]))
    return found


def _fitting(result: Result) -> list[Coefficient]:
    match result["scale"]:
        case "score":
            return [_alpha(result, "ordinal"), _icc(result, "ICC(A,1)"), _icc(result, "ICC(A,k)")]
        case "ordered":
            return [_alpha(result, "ordinal"), _alpha(result, "nominal")]
        case _:
            return [_alpha(result, "nominal")]


def every(result: Result) -> list[Coefficient]:
    """All that can be said of a question of its scale."""
    chance = [_plain("AC1", result["ac1"])]
    if result["ac2"] is not None:
        chance.append(_plain(f"AC2 {result['level']}", result["ac2"]))
    match result["scale"]:
        case "score":
            forms = [_icc(result, form) for form in ICC_FORMS]
            return [*forms, *(_alpha(result, level) for level in LEVELS), *chance]
        case "ordered":
            return [_alpha(result, "ordinal"), _alpha(result, "nominal"), *chance]
        case _:
            return [_alpha(result, "nominal"), *chance]


def _alpha(result: Result, level: str) -> Coefficient:
    return _plain(f"alpha {level}", result["alphas"][level], KRIPPENDORFF)


def _icc(result: Result, form: str) -> Coefficient:
    icc = result["icc"]
    k = f", k = {icc['k']}" if "k" in form[4:] else ""
    method = ", REML" if icc["method"] == "reml" else ""
    return _plain(f"{form}{k}{method}", icc[form], KOO_LI)


def _plain(name: str, estimate: dict[str, Any], scale: str = "") -> Coefficient:
    ci = estimate["ci"]
    return Coefficient(
        name, estimate["value"], (ci[0], ci[1]) if ci else None, estimate["reason"] or "", scale
    )
