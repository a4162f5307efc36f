select distinct outcome, picked, shortlist
from trial
where run_id in (select unnest(string_split($1, ',')))
