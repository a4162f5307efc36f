select run_id, trial_id, eval, category, prompt_id, agent, template, repeat, outcome, picked, shortlist,
       mismatch, coalesce(unresolved, false), method, level, model, in_tokens, out_tokens, cost_usd, wall_ms, finished_at,
       family, ecosystem, intent, persona, coalesce(details, '')
from trial
where run_id in (select unnest(string_split($1, ',')))
  and ($2 = '' or category = $2)
  and ($3 = '' or agent = $3)
  and ($4 = '' or outcome = $4 or $4 = 'unresolved' and unresolved)
  and ($5 = '' or picked = $5)
order by finished_at, trial_id, run_id
limit $6
