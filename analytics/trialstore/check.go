package trialstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/firstpick/firstpick/runner/journal"
)

// CheckMargins counts every run from its trials in the store and returns how many runs
// there are, and a line for each count that differs from what is kept. Runs that Sync has
// not read since their journals grew are checked as they are in the store.
func (s *Store) CheckMargins(ctx context.Context, runsRoot string) (runs int, differences []string, err error) {
	known, err := collect(ctx, s, "known", scanHead)
	if err != nil {
		return 0, nil, err
	}
	for _, k := range known {
		run, err := journal.ReadRun(runsRoot, k.id)
		if err != nil {
			return 0, nil, err
		}
		lines, err := s.checkMargin(ctx, run)
		if err != nil {
			return 0, nil, err
		}
		for _, line := range lines {
			differences = append(differences, "run "+run.ID+": "+line)
		}
	}
	return len(known), differences, nil
}

func (s *Store) checkMargin(ctx context.Context, run journal.Run) ([]string, error) {
	counted, err := s.recount(ctx, s.db, run)
	if err != nil {
		return nil, err
	}
	var kept tally
	var data []byte
	err = s.db.QueryRowContext(ctx, query("margin"), run.ID, cellsFormat).
		Scan(&kept.Valid, &kept.Excluded, &kept.Unresolved, &kept.LastAt, &kept.Extracted, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return []string{"it has no margin"}, nil
	}
	if err != nil {
		return nil, s.fail("margin of run "+run.ID, err)
	}
	if kept.cells, err = decodeCells(data); err != nil {
		return []string{err.Error()}, nil //nolint:nilerr // damage is what is looked for
	}
	was, err := kept.texts()
	if err != nil {
		return nil, err
	}
	is, err := counted.texts()
	if err != nil {
		return nil, err
	}
	names := maps.Clone(was)
	maps.Copy(names, is)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != is[name] {
			out = append(out, fmt.Sprintf("%s: the margin has %s, the trials %s", name, cmp.Or(was[name], "nothing"), cmp.Or(is[name], "nothing")))
		}
	}
	return out, nil
}

// texts returns the figures and the cells by name, as JSON.
func (t tally) texts() (map[string]string, error) {
	out := map[string]string{}
	var errs []error
	set := func(name string, v any) {
		data, err := json.Marshal(v)
		out[name], errs = string(data), append(errs, err)
	}
	set("figures", t)
	for _, c := range t.cells {
		set(fmt.Sprintf("prompt %s, agent %s, template %s", c.Prompt, c.Agent, c.Template), c)
	}
	return out, errors.Join(errs...)
}
