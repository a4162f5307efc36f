-- Backfilled events show only when a page was first missing.
with miss as (
    select host, path, agent,
           count(*) filter (not backfill and happened_at >= $2) as n,
           count(*) filter (not backfill and happened_at >= $4 and happened_at < $2) as before,
           min(happened_at) as first_at
    from traffic.event
    where workspace = $1 and type = 'touch' and happened_at < $3 and status in (404, 410) and @headline and @genuine
    group by all
)
select host, regexp_extract(path, '^/*[^/]*(/[^/]+)?') as folder, sum(n)::bigint as misses, count(distinct path) filter (n > 0), sum(before)::bigint,
       coalesce(array_to_string(list_slice(list_sort(list(distinct agent) filter (agent <> '' and n > 0)), 1, 20), chr(10)), ''),
       min(first_at)
from miss
group by host, folder
having misses > 0
order by misses desc, host, folder
limit $5
