create temp table public_name (outcome varchar, picked varchar, shortlist varchar, public_pick varchar, public_list varchar)
