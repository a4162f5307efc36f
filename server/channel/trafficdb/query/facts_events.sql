-- The first and last event, and the days with events of the seven that end with the last.
with live as (select happened_at from traffic.event where workspace = $1 and happened_at < $2 and not backfill),
span as (select min(happened_at) as first_at, max(happened_at) as last_at from live)
select first_at, last_at, (select count(distinct date_trunc('day', happened_at)) from live where happened_at >= date_trunc('day', span.last_at) - interval 6 day)
from span
