"""Agreement of annotators: ICC, Krippendorff's alpha, Gwet's AC1 and AC2, Pearson, with intervals.

`summary(RatingsTable.from_rows(rows), level="ordinal")` gives everything at once. What is undefined
is None and has a reason code beside it. Source: metrics_spec section 6.
"""

from medbench.scoring.agreement.summary import RESAMPLES, summary
from medbench.scoring.agreement.table import LEVELS, Level, RatingsTable

__all__ = ["LEVELS", "RESAMPLES", "Level", "RatingsTable", "summary"]
