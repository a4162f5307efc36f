with visit as (
    select host, path, agent, class, count(*) as n, max(happened_at) as last_at
    from traffic.event
    where @window and @only and type = 'touch' and @headline and @genuine and status < 400
    group by all
)
select host, path, sum(n)::bigint as touches, @counts, @names, max(last_at)
from visit
group by host, path
order by touches desc, host, path
limit $8 offset $9
