select trial_id, prompt_id, agent, template, repeat, outcome, picked, shortlist, mismatch, coalesce(unresolved, false), coalesce(method, ''), finished_at
from trial
where run_id = $1
