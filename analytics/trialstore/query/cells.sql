-- The inner list is cut to the category's runs: a short one is pushed into the
-- scan.
select eval, prompt_id, agent, template, outcome, picked, shortlist, method, unresolved, first_named, judges,
       count(*), count(*) filter (mismatch), max(finished_at)
from trial
where category = $1
  and run_id in (select run_id from run where category = $1 and run_id in (select unnest(string_split($2, ','))))
group by all
order by all
