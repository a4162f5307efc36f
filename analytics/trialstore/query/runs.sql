with
valid as (
    select run_id, count(*) as n, max(finished_at) as last_at,
           if(bool_or(unresolved is null), null, count(*) filter (unresolved)) as unresolved
    from trial
    group by run_id
),
missed as (
    select run_id, count(distinct trial_id) as n
    from excluded
    where not exists (from trial where trial.run_id = excluded.run_id and trial.trial_id = excluded.trial_id)
    group by run_id
)
select run.run_id, run.eval, run.category, run.created_at, run.planned, run.synthetic, run.imported,
       coalesce(valid.n, 0), coalesce(missed.n, 0), valid.last_at, run.shard, valid.unresolved
from run
left join valid using (run_id)
left join missed using (run_id)
order by run.created_at, run.run_id
