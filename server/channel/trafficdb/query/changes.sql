-- now: of the window, before: of the time from $4 until the window; both without
-- what was backfilled. ever: all that happened before the window.
with hit as materialized (
    select agent, class, @impostor as impostor,
           case when status in (404, 410) and @genuine then left(path, len(path) - strpos(reverse(path), '/') + 1) end as folder,
           count(*) filter (not backfill and happened_at >= $2) as now,
           count(*) filter (not backfill and happened_at >= $4 and happened_at < $2) as before,
           count(*) filter (happened_at < $2) as ever,
           min(happened_at) filter (not backfill and happened_at >= $2) as first_at
    from traffic.event
    where workspace = $1 and type = 'touch' and happened_at < $3 and @headline
    group by all
),
every as (
    select count(*) filter (happened_at >= $5) as now, count(*) filter (happened_at >= $4 and happened_at < $5) as before, max(happened_at) as last_at
    from traffic.event
    where workspace = $1 and happened_at >= $4 and happened_at < $3 and not backfill
)
select 'agent', agent, class, sum(now)::bigint, sum(before)::bigint, sum(ever)::bigint, min(first_at)
from hit where not impostor group by agent, class
union all
select 'impostor', agent, class, sum(now)::bigint, sum(before)::bigint, sum(ever)::bigint, min(first_at)
from hit where impostor group by agent, class
union all
(select 'missing', folder, '', sum(now)::bigint as n, sum(before)::bigint, 0, min(first_at)
 from hit where folder is not null group by folder having sum(now) >= $6 and sum(ever) = 0 order by n desc, folder limit 100)
union all
select 'all', '', '', now, before, 0, last_at from every
