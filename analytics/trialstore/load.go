package trialstore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// A loader moves one journal into the store, batch by batch.
type loader struct {
	store *Store
	run   journal.Run
	size  int
	sum   Loaded
	// counted says that the store has a margin of the run as it is loaded.
	counted bool
	// fresh reports that the store has no trial of the run: none need be looked for.
	fresh bool

	trials, excluded [][]driver.Value
	// results holds the latest re-extraction of each trial in the batch.
	results map[string][]driver.Value
	records int
	bytes   int
}

func (l *loader) load(ctx context.Context, root string) error {
	from, err := l.offset(ctx)
	if err != nil {
		return err
	}
	end, scanErr := journal.Scan(root, l.run.ID, from, func(rec journal.Record, next journal.Offset) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.add(rec); err != nil {
			return err
		}
		if l.records < l.size && l.bytes < batchBytes {
			return nil
		}
		from = next
		return l.flush(ctx, next, false)
	})
	if end == from && l.counted || ctx.Err() != nil || storeBroken(scanErr) {
		return scanErr
	}
	return errors.Join(scanErr, l.flush(ctx, end, true))
}

// offset returns where loading goes on, and enters the run where it is new.
func (l *loader) offset(ctx context.Context) (journal.Offset, error) {
	var o journal.Offset
	err := duck.InTx(ctx, l.store.db, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, query("offset"), l.run.ID, cellsFormat)
		err := row.Scan(&o.Segment, &o.Byte, &l.counted)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		r := l.run
		if _, err := tx.ExecContext(ctx, `insert into run values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.Eval.Name, r.Eval.Category,
			micro(r.CreatedAt), r.Planned, r.Synthetic, r.Imported, r.Catalog, r.Extractor, r.Shard.String()); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `insert into loaded values (?, 0, 0)`, r.ID)
		l.fresh = err == nil
		return err
	})
	if err != nil {
		return o, storeError{l.store.fail("offset of run "+l.run.ID, err)}
	}
	return o, nil
}

func (l *loader) add(rec journal.Record) error {
	l.records++
	switch rec.Kind {
	case journal.KindResult:
		if rec.Result == nil {
			return fmt.Errorf("trial %s: a result record without a result", rec.Trial.ID)
		}
		answer, err := json.Marshal(rec.Answer)
		if err != nil {
			return err
		}
		row, err := trialRow(&l.run, rec, string(answer))
		if err != nil {
			return err
		}
		l.bytes += len(answer) + len(row[21].(string))
		l.trials = append(l.trials, row)
	case journal.KindExcluded:
		l.excluded = append(l.excluded, []driver.Value{l.run.ID, rec.Trial.ID, rec.Reason, micro(rec.At)})
	case journal.KindAttempt, journal.KindAsked, journal.KindAnswer, journal.KindManifest, journal.KindJudgement: // kept in the journal; no figure counts attempts
	case journal.KindExtraction:
		if rec.Result == nil {
			return fmt.Errorf("trial %s: an extraction record without a result", rec.Trial.ID)
		}
		head, tail, err := resultValues(*rec.Result)
		if err != nil {
			return err
		}
		l.bytes += len(tail[0].(string))
		if l.results == nil {
			l.results = map[string][]driver.Value{}
		}
		l.results[rec.Trial.ID] = slices.Concat([]driver.Value{l.run.ID, rec.Trial.ID}, head, tail, []driver.Value{detailNames(*rec.Result), installed(&l.run, rec.Trial.Agent, *rec.Result)})
	}
	return nil
}

// The values of column judges.
const judgesAgree, judgesDisagree = "agree", "disagree"

// trialRow lays a result record out as a row of table trial.
func trialRow(run *journal.Run, rec journal.Record, answer string) ([]driver.Value, error) {
	head, tail, err := resultValues(*rec.Result)
	if err != nil {
		return nil, err
	}
	var a journal.Answer
	if rec.Answer != nil {
		a = *rec.Answer
	}
	var cost driver.Value
	if a.CostUSD != nil {
		cost = *a.CostUSD
	}
	t := rec.Trial
	row := []driver.Value{run.ID, t.ID, t.Eval, t.Category, t.PromptID, t.Agent, t.Template, int32(t.Repeat)}
	row = append(row, head...)
	row = append(row, a.Model, int64(a.InTokens), int64(a.OutTokens), cost, a.WallMS, micro(rec.At), answer)
	row = append(row, tail...)
	return append(row, cmp.Or(t.Family, t.PromptID), t.Tags.Ecosystem, t.Tags.Intent, t.Tags.Persona, detailNames(*rec.Result), installed(run, t.Agent, *rec.Result), builds(rec.Answer)), nil
}

// resultValues are the columns outcome to level, and those from result on: the whole as
// JSON, and what only some results report, or null. Names are cleaned: a comma would make
// two of one.
func resultValues(r pick.Result) (head, tail []driver.Value, err error) {
	r = r.Clean()
	text, err := json.Marshal(r)
	if err != nil {
		return nil, nil, err
	}
	var unresolved, firstNamed driver.Value
	if r.ReportsUnresolved() {
		unresolved = r.Unresolved
	}
	if r.ReportsFirstNamed() {
		firstNamed = r.FirstNamed
	}
	judges := ""
	if read, agreed := r.Judged(); agreed {
		judges = judgesAgree
	} else if read {
		judges = judgesDisagree
	}
	head = []driver.Value{string(r.Kind), r.Picked, joinList(r.Shortlist), r.Mismatch(), string(r.Method), int32(r.Level)}
	return head, []driver.Value{string(text), unresolved, firstNamed, judges}, nil
}

// joinList and splitList convert a shortlist to and from its column: names joined by
// commas, which clean names do not have.
func joinList(names []string) string { return strings.Join(names, ",") }

func splitList(column string) []string {
	if column == "" {
		return nil
	}
	return strings.Split(column, ",")
}

// flush writes the batch and how far it reaches, together or not at all. What it adds
// makes the margin of the run wrong: the last batch counts the run again.
func (l *loader) flush(ctx context.Context, next journal.Offset, last bool) error {
	l.trials = distinct(l.trials)
	counted := l.counted && len(l.trials)+len(l.excluded)+len(l.results) == 0
	err := duck.InBatch(ctx, l.store.db, func(tx *duck.Tx) error {
		if err := l.write(ctx, tx); err != nil {
			return err
		}
		if !counted {
			if err := l.store.setMargin(ctx, tx, l.run, last); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `update loaded set segment = ?, byte = ? where run_id = ?`, next.Segment, next.Byte, l.run.ID)
		return err
	})
	if err != nil {
		return storeError{l.store.fail("load run "+l.run.ID, err)}
	}
	l.sum.Trials += len(l.trials)
	l.sum.Excluded += len(l.excluded)
	l.sum.Extractions += len(l.results)
	l.trials, l.excluded, l.results = l.trials[:0], l.excluded[:0], nil
	l.records, l.bytes, l.counted, l.fresh = 0, 0, counted || last, false
	return nil
}

func (l *loader) write(ctx context.Context, tx *duck.Tx) error {
	if l.fresh {
		if err := tx.Append(ctx, "trial", slices.Values(l.trials)); err != nil {
			return err
		}
	} else if len(l.trials) > 0 {
		if err := tx.AppendThrough(ctx, query("insert_trials"), "trial", nil, slices.Values(l.trials)); err != nil {
			return err
		}
	}
	if len(l.excluded) > 0 {
		if err := tx.AppendThrough(ctx, query("insert_excluded"), "excluded", nil, slices.Values(l.excluded)); err != nil {
			return err
		}
	}
	if len(l.results) == 0 {
		return nil
	}
	columns := []string{"run_id", "trial_id", "outcome", "picked", "shortlist", "mismatch", "method", "level", "result", "unresolved", "first_named", "judges", "details", "installed"}
	rows := make([][]driver.Value, 0, len(l.results))
	for _, r := range l.results {
		rows = append(rows, r)
	}
	return tx.AppendThrough(ctx, query("update_results"), "trial", columns, slices.Values(rows))
}

// distinct drops the trials that came twice: the first result of a trial
// stands.
func distinct(trials [][]driver.Value) [][]driver.Value {
	seen := make(map[string]bool, len(trials))
	return slices.DeleteFunc(trials, func(row []driver.Value) bool {
		id := row[1].(string)
		again := seen[id]
		seen[id] = true
		return again
	})
}
