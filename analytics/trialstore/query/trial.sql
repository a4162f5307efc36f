select run_id, trial_id, eval, category, prompt_id, agent, template, repeat, outcome, picked, shortlist,
       mismatch, coalesce(unresolved, false), method, level, model, in_tokens, out_tokens, cost_usd, wall_ms, finished_at,
       family, ecosystem, intent, persona, coalesce(details, '')
from trial
join (select run_id, created_at from run) using (run_id)
where starts_with(trial_id, $1)
order by created_at desc, run_id desc, trial_id
limit 200
