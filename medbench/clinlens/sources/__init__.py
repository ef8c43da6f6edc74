"""Where tables come from: MIMIC-IV with its sisters, the open demo, synthetic data."""

from medbench.clinlens.sources.source import KINDS, Source, open_source, read_csv
from medbench.clinlens.sources.tables import COLUMNS

__all__ = ["COLUMNS", "KINDS", "Source", "open_source", "read_csv"]
