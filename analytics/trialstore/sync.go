package trialstore

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/runner/journal"
)

// The limits of one transaction: large ones make a compact file, and both
// bound the memory that loading takes.
const (
	batchRecords = 20_000
	batchBytes   = 64 << 20
)

// Loaded counts the records added by a Sync.
type Loaded struct {
	// Runs is how many runs had something new.
	Runs int
	// Trials are new valid trials, Excluded new exclusions, and Extractions
	// results that replaced earlier ones.
	Trials, Excluded, Extractions int
	// Forgotten is how many runs were dropped because their journal is gone.
	Forgotten int
	// Unreadable are the runs that could not be read whole. One without a readable
	// run.json is dropped; of a damaged journal, the records before the damage are loaded.
	Unreadable []*journal.RunError
}

// Sync loads records of the journals under runsRoot that the store lacks. A run that
// cannot be read does not stop the others: it is among Loaded.Unreadable.
func (s *Store) Sync(ctx context.Context, runsRoot string) (Loaded, error) {
	return s.sync(ctx, runsRoot, batchRecords)
}

// Load loads records of the journal of one run that the store lacks.
func (s *Store) Load(ctx context.Context, runsRoot, id string) (Loaded, error) {
	r, err := journal.ReadRun(runsRoot, id)
	if err != nil {
		return Loaded{}, err
	}
	l := &loader{store: s, run: r, size: batchRecords}
	err = l.load(ctx, runsRoot)
	if l.loadedAny() {
		l.sum.Runs = 1
	}
	return l.sum, err
}

func (s *Store) sync(ctx context.Context, root string, size int) (Loaded, error) {
	var sum Loaded
	runs, unreadable, err := journal.List(root)
	if err != nil {
		return sum, err
	}
	sum.Unreadable = unreadable
	// A root that is not there at all is a wrong path or a missing disk.
	_, statErr := os.Stat(root)
	if sum.Forgotten, err = s.forget(ctx, runs, statErr == nil); err != nil {
		return sum, err
	}
	for _, r := range runs {
		l := &loader{store: s, run: r, size: size}
		if err := l.load(ctx, root); err != nil {
			if ctx.Err() != nil || storeBroken(err) {
				return sum, err
			}
			sum.Unreadable = append(sum.Unreadable, &journal.RunError{ID: r.ID, Err: err})
		}
		sum.Trials += l.sum.Trials
		sum.Excluded += l.sum.Excluded
		sum.Extractions += l.sum.Extractions
		if l.loadedAny() {
			sum.Runs++
		}
	}
	return sum, nil
}

func (l *loader) loadedAny() bool { return l.sum.Trials+l.sum.Excluded+l.sum.Extractions > 0 }

// A storeError is a failure of the store, not of one journal: going on with the
// next journal would only repeat it.
type storeError struct{ error }

// Unwrap returns the database's error.
func (e storeError) Unwrap() error { return e.error }

func storeBroken(err error) bool {
	var broken storeError
	return errors.As(err, &broken)
}

// forget drops the runs whose run.json changed, cannot be read or, where the folder of
// runs is there, is gone. Those that can be read are reloaded from their first record.
func (s *Store) forget(ctx context.Context, runs []journal.Run, whole bool) (int, error) {
	known, err := collect(ctx, s, "known", scanHead)
	if err != nil {
		return 0, err
	}
	present := make(map[string]journal.Run, len(runs))
	for _, r := range runs {
		present[r.ID] = r
	}
	n := 0
	for _, k := range known {
		now, ok := present[k.id]
		if ok && headOf(now) == k || !ok && !whole {
			continue
		}
		if !ok {
			n++
		}
		if err := s.drop(ctx, k.id); err != nil {
			return n, s.fail("forget run "+k.id, err)
		}
	}
	return n, nil
}

func (s *Store) drop(ctx context.Context, id string) error {
	return duck.InTx(ctx, s.db, func(tx *sql.Tx) error {
		for _, table := range []string{"trial", "excluded", "margin", "loaded", "run"} {
			if _, err := tx.ExecContext(ctx, "delete from "+table+" where run_id = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
}

// A runHead is the store's record of a run; it must equal run.json.
type runHead struct {
	id                  string
	createdAt           time.Time
	planned             int
	synthetic, imported bool
	catalog, extractor  string
	shard               string
}

func scanHead(rows *sql.Rows) (runHead, error) {
	var k runHead
	err := rows.Scan(&k.id, &k.createdAt, &k.planned, &k.synthetic, &k.imported, &k.catalog, &k.extractor, &k.shard)
	k.createdAt = micro(k.createdAt)
	return k, err
}

func headOf(r journal.Run) runHead {
	return runHead{r.ID, micro(r.CreatedAt), r.Planned, r.Synthetic, r.Imported, r.Catalog, r.Extractor, r.Shard.String()}
}

// micro is t as the database keeps it.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }
