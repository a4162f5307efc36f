select run_id, eval, prompt_id, agent, template, outcome, picked, shortlist, method, unresolved, first_named, judges,
       count(*), count(*) filter (mismatch), max(finished_at)
from trial
where run_id in (select unnest(string_split($1, ',')))
group by all
