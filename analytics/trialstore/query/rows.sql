select category, eval, prompt_id, agent, template, repeat, outcome, picked, shortlist
from trial
where run_id in (select unnest(string_split($1, ',')))
order by category, eval, prompt_id, agent, template, repeat, trial_id
