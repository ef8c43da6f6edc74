"""The shared rules, by the ids that manifests name."""

from __future__ import annotations

CONVENTIONS = {
    "T1": "Times are local, without zone, and never converted. Dates of two patients cannot be compared.",
    "T2": "Windows include their start and not their end, unless the question says otherwise.",
    "T3": "`charttime` is when something was measured or drawn; `storetime` is when it became known. Use `charttime`.",
    "T4": "A column with a date alone counts as known at the end of that day.",
    "A1": "Age at a time is `anchor_age` + its year - `anchor_year`; an `anchor_age` of 91 means over 89.",
    "L1": "Results belong to an admission by patient and time; their `hadm_id` is not used.",
    "L3": "A study belongs to the admission of its patient in whose window it lies.",
    "V1": "A value counts with a number, the stated unit and a plausible size.",
    "V2": "Duplicates: of results of one test and time the largest `labevent_id`; of vital signs their mean.",
    "C1": "CheXpert: 1 positive, 0 negative, -1 uncertain, empty not mentioned.",
    "C2": "`StudyTime` is HHMMSS.fff without its leading zeros.",
    "E1": "ECG machines write 29999 where they measured nothing; their clocks run apart from the hospital's.",
    "H1": "Echo results are text, one row for each measurement; some are no numbers.",
    "S1": "Test is whose `subject_id` ends in 7, 8 or 9.",
    "M1": "Logistic regression with median imputation and scaling, fitted on train alone.",
    "Q1": "Quantiles are linear between neighbours; ranks of ties are averaged.",
}
