delete from traffic.event
where workspace = $1 and seq in (select unnest(string_split($2, ','))::bigint)
