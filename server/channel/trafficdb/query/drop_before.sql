-- The first $3 events of those that came in before a time.
delete from traffic.event
where workspace = $1 and received_at < $2
  and seq <= (select max(seq) from (select seq from traffic.event where workspace = $1 and received_at < $2 order by seq limit $3))
