-- Rows that reports ask for together come to lie together: those of a workspace,
-- in it those of a class, then of an agent, in the order of time.
insert into traffic.event
select * replace (true as sorted)
from traffic.event
where not sorted
order by workspace, type, class, agent, happened_at, seq
