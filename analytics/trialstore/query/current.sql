select run_id
from current_run
order by run_id
