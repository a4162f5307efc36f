-- Only the latest binding of a pair counts.
select visitor, identity, max(happened_at)
from traffic.event
where workspace = $1 and happened_at >= $2 and visitor <> '' and identity <> ''
group by visitor, identity
