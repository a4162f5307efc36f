-- All that attribution.Infer has to know to find what it infers for the visitors
-- and persons in the lists $4 and $5, which chr(31) parts. Its rule is decided here
-- as far as it is simple: a landing has a fetch and no other view of the page in
-- the half hour before. What is returned is the views and fetches of the page in
-- the half hours around such landings.
with visitors as (select unnest(string_split($4, chr(31))) as name),
identities as (select unnest(string_split($5, chr(31))) as name),
deep as materialized (
    select seq, hash(host, rtrim(replace(path, '.md', ''), '/')) as page, happened_at as seen_at, epoch_us(happened_at) // 1800000000 as slot,
           class = 'user_fetch' as fetched,
           class <> 'user_fetch' and referrer = '' and not (@evident)
             and (visitor <> '' and visitor in (from visitors) or identity <> '' and identity in (from identities)) as candidate
    from traffic.event
    where @window and type = 'touch' and @genuine and (@person or class = 'user_fetch' and family <> '') and ltrim(path, '/') like '%_/_%'
),
busy as (select page, slot from deep where candidate union select page, slot - 1 from deep where candidate),
led as (
    select page, slot, seen_at, candidate,
           max(seen_at) filter (fetched) over (partition by page order by seen_at range between interval 30 minute preceding and current row) as fetched_at,
           max(seen_at) filter (not fetched) over (partition by page order by seen_at range between interval 30 minute preceding and interval 1 microsecond preceding) as viewed_at
    from deep semi join busy using (page, slot)
),
landing as (
    select page, slot + step as slot, seen_at
    from led, (values (-1), (0), (1)) as steps (step)
    where candidate and fetched_at is not null and viewed_at is null
),
near as (
    select deep.seq
    from deep join landing using (page, slot)
    where deep.seen_at between landing.seen_at - interval 30 minute and landing.seen_at + interval 30 minute
)
select @touch
from traffic.event
where @window and type = 'touch' and seq in (from near)
limit $6
