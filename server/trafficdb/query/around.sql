-- Who else viewed or fetched pages in certain half hours. $4 lists them as pageKey
-- writes them, which chr(31) parts.
with wanted as (select unnest(string_split($4, chr(31))) as key)
select id, happened_at, visitor, identity, family, agent, class, evidence, host, path, referrer, @impostor
from traffic.event
where @window and type = 'touch' and (@person or class = 'user_fetch')
  and (epoch_us(happened_at) // 1800000000) || ' ' || host || rtrim(replace(path, '.md', ''), '/') in (from wanted)
limit $5
