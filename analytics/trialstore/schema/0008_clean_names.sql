-- Names of picks are cleaned when a trial is loaded, see pick.Clean. Runs that were loaded
-- before and have a pick that may need it are dropped: the next command loads them again.
delete from margin where run_id in (select run_id from trial where not regexp_full_match(picked, '[!-+.-~-]{0,200}'));
delete from loaded where run_id in (select run_id from trial where not regexp_full_match(picked, '[!-+.-~-]{0,200}'));
delete from excluded where run_id in (select run_id from trial where not regexp_full_match(picked, '[!-+.-~-]{0,200}'));
delete from run where run_id in (select run_id from trial where not regexp_full_match(picked, '[!-+.-~-]{0,200}'));
delete from trial where run_id in (select run_id from trial where not regexp_full_match(picked, '[!-+.-~-]{0,200}'));
