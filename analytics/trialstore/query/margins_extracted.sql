select run_id, extracted
from margin
where format = $1
