select result
from trial
where run_id = $1 and method <> 'given'
limit 1
