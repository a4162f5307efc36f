select run_id, trial_id, eval, prompt_id, agent, outcome, picked
from trial
where run_id in (select unnest(string_split($1, ',')))
  and trial_id in (select unnest(string_split($2, ',')))
order by run_id, trial_id
