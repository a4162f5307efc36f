package publish

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/publish/gather"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
)

// writeTraces writes the trial files of all runs below dir, lists them and sets the
// conditions of the agents.
func (in Input) writeTraces(ctx context.Context, dir string, m *Manifest) error {
	for i, r := range in.Runs { // as m.Evals
		if err := in.writeRun(ctx, dir, r, m, &m.Evals[i]); err != nil {
			return fmt.Errorf("trials of run %s: %w", r.ID, err)
		}
	}
	return nil
}

func (in Input) writeRun(ctx context.Context, dir string, r journal.Run, m *Manifest, e *Eval) (err error) {
	scratch := dir + ".texts" // Prune sweeps it after a crash
	g, err := gather.Read(ctx, in.RunsRoot, r, scratch)
	if err != nil {
		return errors.Join(err, removeIfThere(scratch))
	}
	defer func() {
		g.Close()
		err = errors.Join(err, removeIfThere(scratch))
	}()
	valid := 0
	for i := range g.Trials {
		if g.Trials[i].Valid {
			valid++
		}
	}
	if valid != e.Valid {
		return fmt.Errorf("its journal has %d answers and the store %d: the run is still being written; wait until it has finished", valid, e.Valid)
	}
	place := trialset.Folder(e.Category, e.Name)
	to := filepath.Join(dir, filepath.FromSlash(place))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	public := in.policy(r.Synthetic)
	files, err := g.Write(ctx, to, public)
	if err != nil {
		return err
	}
	for _, f := range files {
		m.Files = append(m.Files, File{Path: path.Join(place, f.Path), SHA256: f.SHA256, Bytes: f.Bytes})
	}
	for i := range e.Agents {
		if a := g.Agents[e.Agents[i].Name]; a != nil {
			e.Agents[i].Conditions = conditionsOf(a, r.Imported, public)
		}
	}
	return nil
}

func openTraces(dir *os.Root, id string, m Manifest, category, eval string, decoder *zstd.Decoder) (*trialset.Set, error) {
	place := trialset.Folder(category, eval)
	p := trialset.Place{Of: "snapshot", ID: path.Join(id, place), Open: trialset.InRoot(dir, place)}
	for _, f := range m.Files {
		if name, ok := strings.CutPrefix(f.Path, place+"/"); ok {
			p.Files = append(p.Files, trialset.File{Path: name, SHA256: f.SHA256, Bytes: f.Bytes})
		}
	}
	return trialset.Open(p, decoder)
}

// eachTraces calls fn with the trials of every eval.
func eachTraces(dir *os.Root, id string, m Manifest, fn func(Eval, *trialset.Set) error) error {
	if m.SchemaVersion < 2 {
		return nil
	}
	decoder, err := trialset.NewDecoder()
	if err != nil {
		return err
	}
	defer decoder.Close()
	for _, e := range m.Evals {
		set, err := openTraces(dir, id, m, e.Category, e.Name, decoder)
		if err == nil {
			err = errors.Join(fn(e, set), set.Close())
		}
		if told := (*trialset.DamageError)(nil); errors.As(err, &told) {
			err = &DamageError{Path: strings.TrimPrefix(told.Path, id+"/"), Reason: told.Reason}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tracesOf is eachTraces of one snapshot.
func tracesOf(dir *os.Root, id string, m Manifest) func(func(Eval, *trialset.Set) error) error {
	return func(fn func(Eval, *trialset.Set) error) error { return eachTraces(dir, id, m, fn) }
}

// checkTraces checks the indexes of all trial files, without reading trials.
func checkTraces(ctx context.Context, dir *os.Root, id string, m Manifest) error {
	return eachTraces(dir, id, m, func(_ Eval, set *trialset.Set) error { return set.Check(ctx) })
}

// verifyTraces compares every trial of the trial files with its row in trials.parquet. It
// holds some 80 bytes for each.
func verifyTraces(ctx context.Context, dir *os.Root, id string, m Manifest, store *trialstore.Store) error {
	seed := maphash.MakeSeed()
	return eachTraces(dir, id, m, func(e Eval, set *trialset.Set) error {
		place := trialset.Folder(e.Category, e.Name)
		damaged := func(format string, args ...any) error {
			return &DamageError{Path: place, Reason: fmt.Sprintf(format, args...)}
		}
		sums, excluded := map[string]uint64{}, 0
		err := set.Walk(ctx, func(t *trialset.Trace) error {
			answered := t.Outcome != trialset.Excluded
			if (t.Result != nil) != answered || (t.FinishedAt != nil) != answered || (t.Answer != nil) != (answered && m.Evidence == trialset.Full) || t.Synthetic != e.Synthetic {
				return damaged("trial %s lacks its result, time, answer or mark, or has more than is published", t.ID)
			}
			if !answered {
				excluded++
				return nil
			}
			if _, ok := sums[t.ID]; ok {
				return damaged("trial %s occurs twice", t.ID)
			}
			sums[t.ID] = maphash.Comparable(seed, rowOf(t))
			return nil
		})
		if err != nil {
			return err
		}
		if n := len(sums) + excluded; n > e.Planned && !e.Imported {
			return damaged("%d trials; the manifest has %d planned", n, e.Planned)
		}
		err = store.Published(ctx, e.Category+"/"+e.Name, func(row trialstore.TrialRow) error {
			sum, ok := sums[row.TrialID]
			delete(sums, row.TrialID)
			if !ok || sum != maphash.Comparable(seed, publishedRow(row)) {
				return damaged("trial %s is not as in %s", row.TrialID, trialsName)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if left := slices.Sorted(maps.Keys(sums)); len(left) > 0 {
			return damaged("trial %s is not in %s", left[0], trialsName)
		}
		return nil
	})
}

// A compared trial is what trial files and trials.parquet both say.
type compared struct {
	prompt, agent, template, outcome, picked, shortlist, method string
	repeat                                                      int
	mismatch, unresolved                                        bool
	at                                                          int64 // in microseconds
}

func rowOf(t *trialset.Trace) compared {
	return compared{t.Prompt, t.Agent, t.Template, t.Outcome, t.Picked, strings.Join(t.Result.Shortlist, ","), t.Result.Method, t.Repeat, t.Mismatch, t.Unresolved, t.FinishedAt.UnixMicro()}
}

// publishedRow is the row of trials.parquet, with names as trial files have them.
func publishedRow(r trialstore.TrialRow) compared {
	return compared{
		r.PromptID, r.Agent, r.Template, r.Outcome, gather.Name(r.Picked), strings.Join(gather.Names(r.Shortlist), ","), r.Method,
		r.Repeat, r.Mismatch, r.Unresolved, r.FinishedAt.UnixMicro(),
	}
}
