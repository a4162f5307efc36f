-- Which pages of the list $8, which chr(31) parts, agents got. Pages are written as
-- pageKey writes them.
with page as (select unnest(string_split($8, chr(31))) as key),
seen as (
    select distinct host, path
    from traffic.event
    where @window and @only and type = 'touch' and @headline and @genuine and status < 400
)
select distinct key
from page semi join (select host || regexp_replace(path, '(\.md)?/*$', '') as key from seen) using (key)
