select distinct eval, category, agent, model
from trial
where run_id in (select unnest(string_split($1, ',')))
order by all
