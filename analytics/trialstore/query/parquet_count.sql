select num_rows, coalesce((
    select sum(abs(n))
    from (select any_value(row_group_num_rows) as n from parquet_metadata('@path') group by row_group_id)
), 0)::bigint
from parquet_file_metadata('@path')
