-- extracted.sql for a recorded run: its study may have published lists of imports in place
-- of answers. A quotation mark within a text is escaped in JSON, so texts do not match.
select count(*)
from trial
where run_id = $1 and method <> 'given' and not contains(answer, '"listing":{')
