select segment, byte, exists (from margin where margin.run_id = loaded.run_id and format = $2)
from loaded
where run_id = $1
