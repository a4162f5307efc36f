-- Days begin where the caller says. Time is first cut into pieces of $9
-- microseconds that no beginning divides, so that few rows are looked up.
with piece as (
    select epoch_us(happened_at) // $9 as number, type, class, count(*) as n, count(*) filter (evidence <> '') as sent,
           count(*) filter (status < 400) as read, count(*) filter (status in (401, 403, 404, 410, 429) or status between 500 and 599) as failed
    from traffic.event
    where @window and @only and @genuine and kind <> 'refund' and not @test and (type = 'touch' or $4 || $5 || $6 || $7 = '')
    group by all
),
day as (select unnest($8::bigint[]) as began),
part as (
    select day.began, type, class, sum(piece.n) as all_n, sum(case when type = 'touch' then piece.n else 0 end) as n, sum(sent) as sent,
           sum(read) as read, sum(failed) as failed
    from piece asof join day on piece.number * $9 >= day.began
    group by all
)
select began, @counts, coalesce(sum(sent) filter (type = 'touch' and @person), 0)::bigint, coalesce(sum(all_n) filter (type = 'convert'), 0)::bigint,
       coalesce(sum(read) filter (type = 'touch' and @headline), 0)::bigint, coalesce(sum(failed) filter (type = 'touch' and @asked), 0)::bigint
from part
group by began
