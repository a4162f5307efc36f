select distinct workspace from traffic.event order by workspace
