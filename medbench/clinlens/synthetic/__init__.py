"""Made-up patients in the layout of MIMIC-IV, for anyone to use."""

from medbench.clinlens.synthetic.generate import DEMO_TABLES, TABLES, synthesise

__all__ = ["DEMO_TABLES", "TABLES", "synthesise"]
