-- The touches that may count for conversions: those of the visitors and persons
-- in the lists $4 and $5, which chr(31) parts. $2 and $3 bound the time. Touches of
-- people whom no agent sent are among them only if $6.
with visitors as (select unnest(string_split($4, chr(31))) as name),
identities as (select unnest(string_split($5, chr(31))) as name)
select @touch
from traffic.event
where @window and type = 'touch' and @genuine
  and (@evident and (@person or @asked) or class = 'http_library' and evidence = 'signature' or $6 and @person)
  and (visitor <> '' and visitor in (from visitors) or identity <> '' and identity in (from identities))
limit $7
