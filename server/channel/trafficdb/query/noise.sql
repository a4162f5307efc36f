with visit as (
    select case when @spoofed then 'impostor' else class end as what, agent, host || path as page, count(*) as n, max(happened_at) as last_at
    from traffic.event
    where @window and @only and type = 'touch' and (@noise or @spoofed)
    group by all
),
by_agent as (
    select what, coalesce(array_to_string(list_slice(list(agent order by n desc, agent), 1, 5), chr(10)), '') as agents
    from (select what, agent, sum(n) as n from visit where agent <> '' group by all)
    group by what
),
by_page as (
    select what, coalesce(array_to_string(list_slice(list(page order by n desc, page), 1, 5), chr(10)), '') as pages
    from (select what, page, sum(n) as n from visit where page <> '' group by all)
    group by what
)
select what, sum(n)::bigint as touches, coalesce(any_value(agents), ''), coalesce(any_value(pages), ''), max(last_at)
from visit left join by_agent using (what) left join by_page using (what)
group by what
order by touches desc, what
