// Package erasure carries out the erasure of accounts, workspaces, evals and runs: their
// rows, files and mails, the bytes that deleted rows leave in files, and the copies in read
// models. Package state says which rows those are (holdings) and keeps the requests.
//
//	request ─► erasure list ─► mails ─► rows ─► files, read models ─► scrub
//
// A request cuts the thing off at once, in the transaction of the caller. All later steps
// may run again, so that an interrupted erasure is completed by the next call of Work, also
// of another process. Files are found by marks, not by the request: every server deletes
// what the list names from its own folders, also files that were copied back from a backup.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// settle is how long after a request rows are deleted: servers accept a collector key
	// for five seconds more.
	settle = 10 * time.Second
	// scrubEvery limits how often a server rewrites the file of the store.
	scrubEvery = 10 * time.Minute
)

// A Model is a read model with events of workspaces.
type Model interface {
	// EraseWorkspaces deletes the workspaces that gone reports, with their bytes.
	EraseWorkspaces(ctx context.Context, gone func(workspace string) bool) error
}

// A Service carries out erasures. DB, List, Secrets, Log and Now are required.
type Service struct {
	DB      *state.DB
	List    List
	Folders Folders
	Models  []Model
	Secrets secret.Source
	Log     *slog.Logger
	Now     func() time.Time
	// Patient makes Work rewrite the file of a store at most every ten minutes.
	Patient bool

	applied  int // erasures whose files are deleted here; -1 after a failure
	started  bool
	scrubbed time.Time
}

// Request requests an erasure, as an operator does.
func (s *Service) Request(ctx context.Context, kind, id string) error {
	return s.DB.Write(ctx, func(tx *state.Tx) error { return tx.RequestErasure(ctx, kind, id, s.Now()) })
}

// Work carries out what was requested, and returns how many erasures still wait: for a run
// that has to stop, or for the next rewrite of the file.
func (s *Service) Work(ctx context.Context) (waiting int, err error) {
	open, err := s.DB.Read().Erasures(ctx, true)
	if err != nil {
		return 0, err
	}
	done, err := s.DB.Read().ErasuresDone(ctx)
	if err != nil || len(open) == 0 && s.started && done == s.applied {
		return 0, err
	}
	if !s.started { // the store may be older than the list: it was restored without it
		listed, err := s.List.Read()
		if err != nil {
			return 0, fmt.Errorf("erasure list: %w", err)
		}
		if len(listed) > 0 {
			_, ownerless, err := s.DB.ApplyErasures(ctx, listed, s.Now())
			if err != nil {
				return 0, err
			}
			if len(ownerless) > 0 {
				s.Log.Warn("workspaces have no owner: the account that owned them in the backup is erased, and they are not", "workspaces", ownerless)
			}
			if open, err = s.DB.Read().Erasures(ctx, true); err != nil {
				return 0, err
			}
		}
	}
	if err := s.List.Add(open); err != nil {
		return 0, fmt.Errorf("erasure list: %w", err)
	}
	var failed []error
	for _, e := range open {
		if e.ErasedAt.IsZero() {
			if err := s.eraseRows(ctx, e); err != nil {
				failed = append(failed, fmt.Errorf("erase %s: %w", e.Kind, err))
			}
		}
	}
	all, err := s.DB.Read().Erasures(ctx, false)
	if err != nil {
		return 0, errors.Join(append(failed, err)...)
	}
	if err := s.eraseFiles(ctx, all); err != nil {
		failed = append(failed, err)
	} else if err := s.scrub(ctx, all); err != nil {
		failed = append(failed, fmt.Errorf("scrub the store: %w", err))
	}
	if open, err = s.DB.Read().Erasures(ctx, true); err != nil {
		failed = append(failed, err)
	}
	return len(open), errors.Join(failed...)
}

// eraseRows deletes the mails and rows of an erasure, if no worker has one of its runs.
func (s *Service) eraseRows(ctx context.Context, e state.Erasure) error {
	now := s.Now()
	if (e.Kind == state.EraseWorkspace || e.Kind == state.EraseAccount) && now.Sub(e.RequestedAt) < settle {
		return nil
	}
	names, err := s.DB.Read().EraseNames(ctx, e.Kind, e.Subject)
	if err != nil {
		return err
	}
	if err := s.Folders.eraseMails(names); err != nil {
		return fmt.Errorf("mails: %w", err)
	}
	if e.Kind == state.EraseWorkspace {
		if err := s.DB.DropWorkspaceEvents(ctx, e.Subject); err != nil {
			return err
		}
	}
	done := false
	err = s.DB.Write(ctx, func(tx *state.Tx) error {
		done, err = tx.EraseRows(ctx, e, s.Secrets.ID("aud_"), now)
		return err
	})
	if err == nil && done {
		s.Log.Info("erased", "kind", e.Kind, "mark", e.Mark[:16])
	}
	return err
}

// eraseFiles deletes the files of all erasures whose rows are deleted, and their events from
// read models, once after the start and after each change.
func (s *Service) eraseFiles(ctx context.Context, all []state.Erasure) error {
	marks, n := map[string]bool{}, 0
	for _, e := range all {
		if !e.ErasedAt.IsZero() {
			marks[e.Mark] = true
			n++
		}
	}
	if s.started && n == s.applied {
		return nil
	}
	s.started, s.applied = true, -1
	if n == 0 {
		s.applied = 0
		return nil
	}
	if err := s.List.Add(all); err != nil {
		return fmt.Errorf("erasure list: %w", err)
	}
	// A bundle has its id by its content: a run that was pushed again has the one of before.
	used, err := s.DB.Read().Bundles(ctx)
	if err != nil {
		return err
	}
	for _, key := range used {
		delete(marks, s.DB.EraseMark(state.EraseBundle, key))
	}
	is := func(kind, id string) bool { return marks[s.DB.EraseMark(kind, id)] }
	if err := s.Folders.erase(ctx, is); err != nil {
		return err
	}
	for _, m := range s.Models {
		if err := m.EraseWorkspaces(ctx, func(w string) bool { return is(state.EraseWorkspace, w) }); err != nil {
			return err
		}
	}
	s.applied = n
	return nil
}

// scrub removes the bytes of deleted rows from the store.
func (s *Service) scrub(ctx context.Context, all []state.Erasure) error {
	now := s.Now()
	if s.Patient && now.Sub(s.scrubbed) < scrubEvery {
		return nil
	}
	var marks []string
	for _, e := range all {
		if !e.ErasedAt.IsZero() && e.ScrubbedAt.IsZero() {
			marks = append(marks, e.Mark)
		}
	}
	if len(marks) == 0 {
		return nil
	}
	if err := s.DB.Scrub(ctx); err != nil {
		return err
	}
	s.scrubbed = now
	return s.DB.Write(ctx, func(tx *state.Tx) error {
		for _, mark := range marks {
			if err := tx.Scrubbed(ctx, mark, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// Run carries out requests at each tick until ctx ends.
func (s *Service) Run(ctx context.Context, tick <-chan time.Time) {
	for {
		if _, err := s.Work(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("an erasure is not complete; it will be continued", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// Apply brings a restored store up to date with an erasure list, and returns how many
// accounts, workspaces, evals and runs of the backup are erased again, and the slugs of
// workspaces that have no owner now, as state.DB.ApplyErasures does.
func (s *Service) Apply(ctx context.Context, list List) (n int, ownerless []string, err error) {
	erasures, err := list.Read()
	if err != nil {
		return 0, nil, err
	}
	n, ownerless, err = s.DB.ApplyErasures(ctx, erasures, s.Now().Add(-settle)) // no server has the store yet
	if err != nil {
		return 0, nil, err
	}
	_, err = s.Work(ctx)
	return n, ownerless, err
}
