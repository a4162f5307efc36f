with
wanted as (
    select unnest(string_split($1, ',')) as run_id
),
valid as (
    select run_id, count(*) as n, max(finished_at) as last_at,
           if(bool_or(unresolved is null), null, count(*) filter (unresolved)) as unresolved
    from trial
    where run_id in (from wanted)
    group by run_id
),
missed as (
    select run_id, count(distinct trial_id) as n
    from excluded
    where run_id in (from wanted)
      and not exists (from trial where trial.run_id in (from wanted) and trial.run_id = excluded.run_id and trial.trial_id = excluded.trial_id)
    group by run_id
)
select run_id, coalesce(valid.n, 0), coalesce(missed.n, 0), valid.unresolved, valid.last_at
from wanted
left join valid using (run_id)
left join missed using (run_id)
