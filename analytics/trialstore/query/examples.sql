select min(trial_id), eval, prompt_id, agent, picked, arg_min(shortlist, trial_id)
from trial
where category = $1 and outcome = 'tool'
  and run_id in (select run_id from run where category = $1 and run_id in (select unnest(string_split($2, ','))))
group by eval, prompt_id, agent, picked
order by 1
