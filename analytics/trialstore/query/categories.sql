select distinct category
from run
where run_id in (select unnest(string_split($1, ',')))
order by category
