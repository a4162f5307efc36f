select answer, result
from trial
where run_id = $1 and trial_id = $2
limit 1
