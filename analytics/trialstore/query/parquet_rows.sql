select trial_id, trial.category, trial.eval, prompt_id, agent, template, repeat, outcome,
       coalesce(public_pick, picked) as picked, coalesce(public_list, shortlist) as shortlist,
       mismatch, finished_at, run.synthetic, method, unresolved, first_named, judges
from trial
join run using (run_id)
left join public_name using (outcome, picked, shortlist)
where run_id in (select unnest(string_split($1, ',')))
order by all
