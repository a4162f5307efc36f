select trial_id, finished_at, eval, prompt_id, agent, template, case when outcome = 'tool' then picked else '' end
from trial
where category = $1
  and run_id in (select run_id from run where category = $1 and run_id in (select unnest(string_split($2, ','))))
