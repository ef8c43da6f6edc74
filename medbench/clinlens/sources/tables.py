"""The tables of every resource: columns in their order with their types.

Written as `name:type`, the type left out for text: i whole number, f number, t timestamp, d date.
The headers of MIMIC-IV are those of the open demo 2.2; the others follow the data descriptions on
PhysioNet and could not be compared with the credentialed files, so an unknown header is refused.
"""

from __future__ import annotations

TYPES = {"": "VARCHAR", "i": "BIGINT", "f": "DOUBLE", "t": "TIMESTAMP", "d": "DATE"}

_NOTE = "note_id subject_id:i hadm_id:i note_type note_seq:i charttime:t storetime:t text"
_CHEXPERT = (
    "subject_id:i study_id:i Atelectasis:f Cardiomegaly:f Consolidation:f Edema:f Enlarged_Cardiomediastinum:f "
    "Fracture:f Lung_Lesion:f Lung_Opacity:f No_Finding:f Pleural_Effusion:f Pleural_Other:f Pneumonia:f "
    "Pneumothorax:f Support_Devices:f"
)
_REPORTS = " ".join(f"report_{number}" for number in range(18))

_TABLES = {
    "hosp/patients": "subject_id:i gender anchor_age:i anchor_year:i anchor_year_group dod:d",
    "hosp/admissions": "subject_id:i hadm_id:i admittime:t dischtime:t deathtime:t admission_type admit_provider_id "
    "admission_location discharge_location insurance language marital_status race edregtime:t edouttime:t "
    "hospital_expire_flag:i",
    "hosp/transfers": "subject_id:i hadm_id:i transfer_id:i eventtype careunit intime:t outtime:t",
    "hosp/diagnoses_icd": "subject_id:i hadm_id:i seq_num:i icd_code icd_version:i",
    "hosp/procedures_icd": "subject_id:i hadm_id:i seq_num:i chartdate:d icd_code icd_version:i",
    "hosp/d_icd_diagnoses": "icd_code icd_version:i long_title",
    "hosp/d_icd_procedures": "icd_code icd_version:i long_title",
    "hosp/d_labitems": "itemid:i label fluid category",
    "hosp/d_hcpcs": "code category:i long_description short_description",
    "hosp/drgcodes": "subject_id:i hadm_id:i drg_type drg_code description drg_severity:i drg_mortality:i",
    "hosp/hcpcsevents": "subject_id:i hadm_id:i chartdate:d hcpcs_cd seq_num:i short_description",
    "hosp/labevents": "labevent_id:i subject_id:i hadm_id:i specimen_id:i itemid:i order_provider_id charttime:t "
    "storetime:t value valuenum:f valueuom ref_range_lower:f ref_range_upper:f flag priority comments",
    "hosp/microbiologyevents": "microevent_id:i subject_id:i hadm_id:i micro_specimen_id:i order_provider_id "
    "chartdate:t charttime:t spec_itemid:i spec_type_desc test_seq:i storedate:t storetime:t test_itemid:i "
    "test_name org_itemid:i org_name isolate_num:i quantity ab_itemid:i ab_name dilution_text "
    "dilution_comparison dilution_value:f interpretation comments",
    "hosp/omr": "subject_id:i chartdate:d seq_num:i result_name result_value",
    "hosp/pharmacy": "subject_id:i hadm_id:i pharmacy_id:i poe_id starttime:t stoptime:t medication proc_type status "
    "entertime:t verifiedtime:t route frequency disp_sched infusion_type sliding_scale lockout_interval "
    "basal_rate:f one_hr_max doses_per_24_hrs:f duration:f duration_interval expiration_value:i "
    "expiration_unit expirationdate:t dispensation fill_quantity",
    "hosp/poe": "poe_id poe_seq:i subject_id:i hadm_id:i ordertime:t order_type order_subtype transaction_type "
    "discontinue_of_poe_id discontinued_by_poe_id order_provider_id order_status",
    "hosp/poe_detail": "poe_id poe_seq:i subject_id:i field_name field_value",
    "hosp/prescriptions": "subject_id:i hadm_id:i pharmacy_id:i poe_id poe_seq:i order_provider_id starttime:t "
    "stoptime:t drug_type drug formulary_drug_cd gsn ndc prod_strength form_rx dose_val_rx dose_unit_rx "
    "form_val_disp form_unit_disp doses_per_24_hrs:f route",
    "hosp/emar": "subject_id:i hadm_id:i emar_id emar_seq:i poe_id pharmacy_id:i enter_provider_id charttime:t "
    "medication event_txt scheduletime:t storetime:t",
    "hosp/emar_detail": "subject_id:i emar_id emar_seq:i parent_field_ordinal administration_type pharmacy_id:i "
    "barcode_type reason_for_no_barcode complete_dose_not_given dose_due dose_due_unit dose_given "
    "dose_given_unit will_remainder_of_dose_be_given product_amount_given product_unit product_code "
    "product_description product_description_other prior_infusion_rate infusion_rate "
    "infusion_rate_adjustment infusion_rate_adjustment_amount infusion_rate_unit route infusion_complete "
    "completion_interval new_iv_bag_hung continued_infusion_in_other_location restart_interval side site "
    "non_formulary_visual_verification",
    "hosp/provider": "provider_id",
    "hosp/services": "subject_id:i hadm_id:i transfertime:t prev_service curr_service",
    "icu/caregiver": "caregiver_id:i",
    "icu/icustays": "subject_id:i hadm_id:i stay_id:i first_careunit last_careunit intime:t outtime:t los:f",
    "icu/d_items": "itemid:i label abbreviation linksto category unitname param_type lownormalvalue:f "
    "highnormalvalue:f",
    "icu/chartevents": "subject_id:i hadm_id:i stay_id:i caregiver_id:i charttime:t storetime:t itemid:i value "
    "valuenum:f valueuom warning:i",
    "icu/datetimeevents": "subject_id:i hadm_id:i stay_id:i caregiver_id:i charttime:t storetime:t itemid:i value:t "
    "valueuom warning:i",
    "icu/inputevents": "subject_id:i hadm_id:i stay_id:i caregiver_id:i starttime:t endtime:t storetime:t itemid:i "
    "amount:f amountuom rate:f rateuom orderid:i linkorderid:i ordercategoryname secondaryordercategoryname "
    "ordercomponenttypedescription ordercategorydescription patientweight:f totalamount:f totalamountuom "
    "isopenbag:i continueinnextdept:i statusdescription originalamount:f originalrate:f",
    "icu/ingredientevents": "subject_id:i hadm_id:i stay_id:i caregiver_id:i starttime:t endtime:t storetime:t "
    "itemid:i amount:f amountuom rate:f rateuom orderid:i linkorderid:i statusdescription originalamount:f "
    "originalrate:f",
    "icu/outputevents": "subject_id:i hadm_id:i stay_id:i caregiver_id:i charttime:t storetime:t itemid:i value:f "
    "valueuom",
    "icu/procedureevents": "subject_id:i hadm_id:i stay_id:i caregiver_id:i starttime:t endtime:t storetime:t "
    "itemid:i value:f valueuom location locationcategory orderid:i linkorderid:i ordercategoryname "
    "ordercategorydescription patientweight:f isopenbag:i continueinnextdept:i statusdescription "
    "ORIGINALAMOUNT:f ORIGINALRATE:f",
    "note/discharge": _NOTE,
    "note/radiology": _NOTE,
    "ecg/record_list": "subject_id:i study_id:i file_name ecg_time:t path",
    "ecg/machine_measurements": f"subject_id:i study_id:i cart_id:i ecg_time:t {_REPORTS} bandwidth filtering "
    "rr_interval:i p_onset:i p_end:i qrs_onset:i qrs_end:i t_end:i p_axis:i qrs_axis:i t_axis:i",
    "cxr/metadata": "dicom_id subject_id:i study_id:i PerformedProcedureStepDescription ViewPosition Rows:i "
    "Columns:i StudyDate:i StudyTime:f ProcedureCodeSequence_CodeMeaning ViewCodeSequence_CodeMeaning "
    "PatientOrientationCodeSequence_CodeMeaning",
    "cxr/chexpert": _CHEXPERT,
    "echo/record_list": "subject_id:i study_id:i acquisition_datetime:t dicom_filepath",
    "echo/study_list": "subject_id:i study_id:i study_datetime:t note_id note_seq:i note_charttime:t",
    "echo/structured_measurement": "subject_id:i measurement_id:i measurement_datetime:t test_type measurement "
    "measurement_description result unit",
}

# Where a resource calls the file of a table otherwise.
FILE_NAMES = {
    "cxr/metadata": "mimic-cxr-2.0.0-metadata",
    "cxr/chexpert": "mimic-cxr-2.0.0-chexpert",
    "echo/record_list": "echo-record-list",
    "echo/study_list": "echo-study-list",
    "echo/structured_measurement": "structured-measurement",
}

# Headers that another release of the same table may have.
RENAMED = {"icu/procedureevents": {"originalamount": "ORIGINALAMOUNT", "originalrate": "ORIGINALRATE"}}


def _columns(text: str) -> dict[str, str]:
    pairs = (column.partition(":") for column in text.split(" "))
    return {name: TYPES[kind] for name, _, kind in pairs}


def _chexpert() -> dict[str, str]:
    """CheXpert names its labels with blanks: `Pleural Effusion`."""
    ids = ("subject_id", "study_id")
    return {
        name if name in ids else name.replace("_", " "): kind for name, kind in _columns(_CHEXPERT).items()
    }


COLUMNS: dict[str, dict[str, str]] = {
    table: _chexpert() if table == "cxr/chexpert" else _columns(text) for table, text in _TABLES.items()
}
DEMO_TABLES = tuple(table for table in COLUMNS if table.startswith(("hosp/", "icu/")))


def file_name(table: str) -> str:
    """The path of a table inside its resource without `.csv` or `.csv.gz`."""
    module, name = table.split("/")
    return f"{module}/{FILE_NAMES.get(table, name)}"
