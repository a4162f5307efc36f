package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

const (
	chunk   = 64 // trials written at a time
	copiers = 16 // raw answers copied concurrently; they share an fsync
)

// write builds the run under another name and moves it to its place.
func write(ctx context.Context, root string, run journal.Run, trials []plan.Trial, shards []*shard) (err error) {
	if !journal.ValidID(run.ID) { // before it is part of a path to remove
		return fmt.Errorf("run id %q: use letters, digits, dots and dashes", run.ID)
	}
	staging := filepath.Join(root, ".merge-"+run.ID)
	if err := clear(staging, run.ID); err != nil {
		return err
	}
	j, err := journal.Create(staging, run)
	if err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	if err := errors.Join(fill(ctx, j, trials, shards), j.Close()); err != nil {
		return err
	}
	return journal.Move(staging, root, run.ID)
}

// clear removes the leftovers of a killed merge. A running merge holds the lock of its
// journal.
func clear(staging, id string) error {
	j, err := journal.Open(staging, id)
	switch {
	case err == nil:
		return errors.Join(j.Close(), os.RemoveAll(staging))
	case errors.Is(err, os.ErrNotExist):
		return os.RemoveAll(staging)
	default:
		return fmt.Errorf("%w; or remove %s", err, staging)
	}
}

// fill copies the records in the order of the plan, manifests first.
func fill(ctx context.Context, j *journal.Journal, trials []plan.Trial, shards []*shard) error {
	if agents := manifests(shards); len(agents) > 0 {
		if err := j.Append(ctx, agents...); err != nil {
			return err
		}
	}
	place := 0
	for part := range slices.Chunk(trials, chunk) {
		var records []journal.Record
		var from []*shard
		for range part {
			// Trial k of the plan is the next of shard k mod N.
			s := shards[place%len(shards)]
			found, err := s.load(trials[place].ID)
			if err != nil {
				return err
			}
			for range found {
				from = append(from, s)
			}
			records = append(records, found...)
			place++
		}
		if err := copyRaw(ctx, j, records, from); err != nil {
			return err
		}
		if err := j.Append(ctx, records...); err != nil {
			return err
		}
	}
	return nil
}

// manifests returns each manifest of the shards once, the oldest first.
func manifests(shards []*shard) []journal.Record {
	var out []journal.Record
	for _, s := range shards {
		for _, m := range s.manifests {
			same := func(o journal.Record) bool {
				return o.Manifest.Agent == m.Manifest.Agent && o.Manifest.ID() == m.Manifest.ID()
			}
			if !slices.ContainsFunc(out, same) {
				out = append(out, m)
			}
		}
	}
	sorting.StableFunc(out, func(a, b journal.Record) int { return a.At.Compare(b.At) })
	return out
}

// copyRaw copies the raw answers, and updates their locations in the records.
func copyRaw(ctx context.Context, j *journal.Journal, records []journal.Record, from []*shard) error {
	var group errgroup.Group
	group.SetLimit(copiers)
	for i := range records {
		refs := []**journal.RawRef{&records[i].Raw}
		if of := records[i].Judgement; of != nil {
			refs = append(refs, &of.Prompt)
		}
		for _, ref := range refs {
			if *ref == nil {
				continue
			}
			group.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				copied, err := journal.CopyRaw(j, from[i].Root, from[i].ID, **ref)
				*ref = &copied
				return err
			})
		}
	}
	return group.Wait()
}
