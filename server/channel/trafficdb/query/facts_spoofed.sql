select time_bucket(interval 1 hour, happened_at) as hour, count(*)
from traffic.event
where @window and type = 'touch' and not backfill and @headline and @spoofed
group by hour
order by hour
