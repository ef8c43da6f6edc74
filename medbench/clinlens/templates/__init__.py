"""The 20 templates: four scopes by five capabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.clinlens.templates import (
    adm_asc,
    adm_chg,
    adm_phn,
    adm_prd,
    adm_prf,
    evt_asc,
    evt_chg,
    evt_phn,
    evt_prd,
    evt_prf,
    icu_asc,
    icu_chg,
    icu_phn,
    icu_prd,
    icu_prf,
    whp_asc,
    whp_chg,
    whp_phn,
    whp_prd,
    whp_prf,
)

if TYPE_CHECKING:
    from medbench.clinlens.templates.core import Parameters, Template

_MODULES = (
    (whp_prf, whp_asc, whp_chg, whp_prd, whp_phn),
    (adm_prf, adm_asc, adm_chg, adm_prd, adm_phn),
    (icu_prf, icu_asc, icu_chg, icu_prd, icu_phn),
    (evt_prf, evt_asc, evt_chg, evt_prd, evt_phn),
)
TEMPLATES: dict[str, Template] = {
    module.TEMPLATE.id: module.TEMPLATE for scope in _MODULES for module in scope
}


def template_of(name: str, parameters: Parameters) -> Template:
    """The template of an instance, in the form that its parameters name."""
    return TEMPLATES[name].of(parameters)
