-- now: of the window, before: from $4 until the window; both without what was
-- backfilled. The first touch is of all that was ever genuine.
with hit as (
    select agent, class, @impostor as impostor,
           count(*) filter (not backfill and happened_at >= $2) as now,
           count(*) filter (not backfill and happened_at >= $4 and happened_at < $2) as before,
           min(happened_at) as first_at
    from traffic.event
    where workspace = $1 and type = 'touch' and happened_at < $3 and @headline
    group by all
)
select agent, class, sum(now)::bigint, coalesce(sum(now) filter (impostor), 0)::bigint,
       coalesce(sum(before) filter (not impostor), 0)::bigint, min(first_at) filter (not impostor)
from hit
group by agent, class
order by agent, class
