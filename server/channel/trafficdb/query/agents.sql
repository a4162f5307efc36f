-- A first grouping by plain columns makes few rows of many. Pages and statuses are of genuine visits: a spoofed one is
-- not of the agent.
with visit as (
    select agent, operator, class, host, path, verdict, status, count(*) as n, min(happened_at) as first_at, max(happened_at) as last_at
    from traffic.event
    where @window and @only and type = 'touch' and @headline
    group by all
)
select agent, operator, class, sum(n)::bigint as touches, count(distinct (host, path)) filter (status < 400 and @genuine),
       coalesce(sum(n) filter (@verified), 0)::bigint, coalesce(sum(n) filter (@spoofed), 0)::bigint,
       coalesce(sum(n) filter (verdict = 'unverifiable'), 0)::bigint, coalesce(sum(n) filter (verdict = 'stale_data'), 0)::bigint,
       coalesce(sum(n) filter (verdict = 'no_ip'), 0)::bigint,
       coalesce(sum(n) filter (status > 0 and @genuine), 0)::bigint, coalesce(sum(n) filter (status between 1 and 399 and @genuine), 0)::bigint,
       min(first_at), max(last_at)
from visit
group by agent, operator, class
order by touches desc, agent, operator, class
limit $8 offset $9
