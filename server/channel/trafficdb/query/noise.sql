with visit as (
    select case when @spoofed then 'impostor' else class end as what, agent, count(*) as n, max(happened_at) as last_at
    from traffic.event
    where @window and @only and type = 'touch' and (@noise or @spoofed)
    group by all
)
select what, sum(n)::bigint as touches, coalesce(array_to_string(list_slice(list(agent order by n desc, agent) filter (agent <> ''), 1, 5), chr(10)), ''), max(last_at)
from visit
group by what
order by touches desc, what
