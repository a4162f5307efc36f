-- now: of the window, before: from $4 until the window, week_ago: from $5 until $6;
-- all without backfilled events. The first visit is of all that were not spoofed.
with hit as (
    select agent, class, @spoofed as spoofed,
           count(*) filter (not backfill and happened_at >= $2) as now,
           count(*) filter (not backfill and happened_at >= $4 and happened_at < $2) as before,
           count(*) filter (not backfill and happened_at >= $5 and happened_at < $6) as week_ago,
           min(happened_at) as first_at,
           min(happened_at) filter (not backfill and happened_at >= $2) as since
    from traffic.event
    where workspace = $1 and type = 'touch' and happened_at < $3 and @headline
    group by all
)
select agent, class, min(first_at) filter (not spoofed),
       coalesce(sum(now) filter (not spoofed), 0)::bigint, coalesce(sum(before) filter (not spoofed), 0)::bigint,
       coalesce(sum(week_ago) filter (not spoofed), 0)::bigint,
       coalesce(sum(now) filter (spoofed), 0)::bigint, coalesce(sum(before) filter (spoofed), 0)::bigint,
       min(since) filter (not spoofed), min(since) filter (spoofed)
from hit
group by agent, class
having sum(now) + sum(before) > 0
order by agent, class
