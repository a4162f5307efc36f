with miss as (
    select case when status in (404, 410) and (path like '%.md' or path like '%/llms.txt' or path like '%/llms-full.txt') then 'missing_text'
                when status in (404, 410) then 'not_found'
                when status < 500 then 'blocked'
                else 'error' end as gap,
           status, host, path, agent, class, count(*) as n, max(happened_at) as last_at
    from traffic.event
    where @window and @only and type = 'touch' and (status in (401, 403, 404, 410, 429) or status between 500 and 599)
      and @headline and @genuine
    group by all
)
select gap, status, host, path, sum(n)::bigint as touches, coalesce(sum(n) filter (@asked), 0)::bigint as asked, @names, max(last_at)
from miss
group by gap, status, host, path
order by asked desc, touches desc, host, path, status
limit $8 offset $9
