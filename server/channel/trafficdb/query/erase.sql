delete from traffic.event
where workspace = $1
  and (visitor <> '' and visitor in (select unnest($2::varchar[])) or identity <> '' and identity in (select unnest($3::varchar[])))
