select valid, excluded, unresolved, last_at, extracted, cells
from margin
where run_id = $1 and format = $2
