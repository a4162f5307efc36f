select category, min(trial_id), eval, prompt_id, agent, picked, arg_min(shortlist, trial_id)
from trial
where outcome = 'tool' and run_id in (select unnest(string_split($1, ',')))
group by category, eval, prompt_id, agent, picked
order by 1, 2
