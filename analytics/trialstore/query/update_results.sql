update trial
set outcome     = new.col3,
    picked      = new.col4,
    shortlist   = new.col5,
    mismatch    = new.col6,
    method      = new.col7,
    level       = new.col8,
    result      = new.col9,
    unresolved  = new.col10,
    first_named = new.col11,
    judges      = new.col12,
    details     = new.col13,
    installed   = new.col14
from appended_data as new
where trial.run_id = new.col1 and trial.trial_id = new.col2
