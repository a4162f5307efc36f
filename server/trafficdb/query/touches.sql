-- The touches that may count for conversions: those of the visitors and persons
-- in the lists $4 and $5, which chr(31) parts. $2 and $3 bound the time.
with visitors as (select unnest(string_split($4, chr(31))) as name),
identities as (select unnest(string_split($5, chr(31))) as name)
select id, happened_at, visitor, identity, family, agent, class, evidence, host, path, referrer, @impostor
from traffic.event
where @window and type = 'touch' and (@person or @asked or class = 'http_library')
  and (visitor <> '' or identity <> '')
  and (visitor <> '' and visitor in (from visitors) or identity <> '' and identity in (from identities))
limit $6
