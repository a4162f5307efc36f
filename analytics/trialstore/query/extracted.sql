select count(*)
from trial
where run_id = $1 and method <> 'given'
