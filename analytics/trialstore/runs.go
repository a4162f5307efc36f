package trialstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
)

// A RunRow is one run and its data in the store.
type RunRow struct {
	ID       string `json:"id"`
	Eval     string `json:"eval"`
	Category string `json:"category"`
	// CreatedAt is when the run was planned; for an import, when it was imported.
	CreatedAt time.Time `json:"created_at"`
	// Planned, Valid and Excluded count trials. A trial that was excluded and
	// then succeeded on a resume is valid only.
	Planned  int `json:"planned"`
	Valid    int `json:"valid"`
	Excluded int `json:"excluded"`
	// Unresolved counts the valid trials that no rule decided; nil without a trial, and
	// where one does not report it.
	Unresolved *int `json:"unresolved,omitempty"`
	// LastAt is when the last valid trial finished; zero without any.
	LastAt    time.Time `json:"last_at,omitzero"`
	Synthetic bool      `json:"synthetic"`
	Imported  bool      `json:"imported"`
	// Complete says that it has answers to at least 95 % of its planned trials, and is
	// not under way.
	Complete bool `json:"complete"`
	UnderWay bool `json:"under_way,omitempty"`
	// Latest says that it is the latest run of its eval in its category, with answers
	// or without. Current is the latest complete one or, if none is complete, the
	// latest that has an answer.
	Latest  bool `json:"latest"`
	Current bool `json:"current"`
	// Shard is the part of a plan that it is, like 2/4. A shard is neither.
	Shard string `json:"shard,omitempty"`
}

// SetUnderWay names the runs that are being written: they are not complete, however
// many answers they have.
func (s *Store) SetUnderWay(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay = ids
}

// Runs returns every run, oldest first.
func (s *Store) Runs(ctx context.Context) ([]RunRow, error) {
	rows, err := s.runRows(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	type eval struct{ name, category string }
	latest, current := map[eval]int{}, map[eval]int{}
	for i := range rows {
		r := &rows[i]
		r.UnderWay = slices.Contains(s.underWay, r.ID)
		r.Complete = !r.UnderWay && analytics.Complete(r.Valid, r.Planned)
		if r.Shard != "" { // it counts once it is merged
			continue
		}
		e := eval{r.Eval, r.Category}
		latest[e] = i
		if c, ok := current[e]; r.Valid > 0 && (r.Complete || !ok || !rows[c].Complete) {
			current[e] = i
		}
	}
	for _, i := range latest {
		rows[i].Latest = true
	}
	for _, i := range current {
		rows[i].Current = true
	}
	return rows, nil
}

// runRows returns the runs with what their margins count, or else with what is counted now.
func (s *Store) runRows(ctx context.Context) ([]RunRow, error) {
	if s.parquet != nil {
		return slices.Clone(s.parquet), nil
	}
	var uncounted []string
	all, err := collect(ctx, s, "runs", func(rows *sql.Rows) (RunRow, error) {
		var r RunRow
		var counted bool
		var f runCounts
		err := rows.Scan(&r.ID, &r.Eval, &r.Category, &r.CreatedAt, &r.Planned, &r.Synthetic, &r.Imported, &r.Shard,
			&counted, &f.Valid, &f.Excluded, &f.Unresolved, &f.LastAt)
		r.CreatedAt = micro(r.CreatedAt)
		r.set(f)
		if !counted {
			uncounted = append(uncounted, r.ID)
		}
		return r, err
	}, cellsFormat)
	if err != nil || len(uncounted) == 0 {
		return all, err
	}
	counts, err := s.countFigures(ctx, s.db, uncounted)
	for i, r := range all {
		if f, ok := counts[r.ID]; ok {
			all[i].set(f)
		}
	}
	return all, err
}

func (r *RunRow) set(f runCounts) {
	r.Valid, r.Excluded, r.Unresolved = f.Valid, f.Excluded, f.Unresolved
	if f.LastAt != nil {
		r.LastAt = micro(*f.LastAt)
	}
}

// current returns the ids of the current runs.
func (s *Store) current(ctx context.Context) (ids []string, err error) {
	rows, err := s.Runs(ctx)
	for _, r := range rows {
		if r.Current {
			ids = append(ids, r.ID)
		}
	}
	return ids, err
}

// chosen returns the wanted runs as the queries take them: the current ones
// where none is named.
func (s *Store) chosen(ctx context.Context, runs []string) (string, error) {
	if len(runs) == 0 {
		current, err := s.current(ctx)
		return strings.Join(current, ","), err
	}
	known, err := collect(ctx, s, "known", scanHead)
	if err != nil {
		return "", err
	}
	for _, id := range runs {
		if !slices.ContainsFunc(known, func(k runHead) bool { return k.id == id }) {
			return "", fmt.Errorf("run %s: %w", id, ErrNotFound)
		}
	}
	return strings.Join(runs, ","), nil
}

// A Model is one name by which a provider answered for an agent.
type Model struct {
	Eval, Category, Agent string
	// Name is the name reported by the provider, with its version; empty where it
	// reported nothing.
	Name string
}

// Models returns the distinct models behind the runs' agents, sorted. No runs
// means the current ones.
func (s *Store) Models(ctx context.Context, runs []string) ([]Model, error) {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s, "models", func(rows *sql.Rows) (Model, error) {
		var m Model
		err := rows.Scan(&m.Eval, &m.Category, &m.Agent, &m.Name)
		return m, err
	}, ids)
}

// Catalog returns the version of the catalogue by which the answers of a run were read; empty
// where none was. It is that of one trial: extracting a run again changes all.
func (s *Store) Catalog(ctx context.Context, run string) (string, error) {
	var result []byte
	err := s.db.QueryRowContext(ctx, query("catalog"), run).Scan(&result)
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(result) == 0 {
		return "", nil
	}
	var version struct {
		Catalog string `json:"catalog"`
	}
	if err == nil {
		err = json.Unmarshal(result, &version)
	}
	if err != nil {
		return "", s.fail("catalogue of run "+run, err)
	}
	return version.Catalog, nil
}
