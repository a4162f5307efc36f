package evals

import (
	"context"
	"errors"

	"github.com/firstpick/firstpick/server/store/state"
)

// An Erased is the answer to an erasure.
type Erased struct {
	ID string `json:"id"`
	// Erased is false while a worker has a run of it, which is stopped first. Then the
	// rest is deleted without another request.
	Erased bool `json:"erased"`
}

// EraseEval deletes an eval with its versions, its runs and their results.
func (s *Service) EraseEval(ctx context.Context, a Actor, id string) (*Erased, error) {
	return s.erase(ctx, a, state.EraseEval, id, func(tx *state.Tx) error {
		_, err := tx.Eval(ctx, a.Workspace.ID, id)
		return noEval(err)
	})
}

// EraseRun deletes a run with its events, answers and results. An upload that is incomplete
// counts as the run that it would become.
func (s *Service) EraseRun(ctx context.Context, a Actor, id string) (*Erased, error) {
	return s.erase(ctx, a, state.EraseRun, id, func(tx *state.Tx) error {
		_, err := tx.Run(ctx, a.Workspace.ID, id)
		if errors.Is(err, state.ErrNotFound) {
			_, err = tx.Upload(ctx, a.Workspace.ID, id)
		}
		return noRun(err)
	})
}

// erase requests an erasure and deletes the rows at once, if no worker has a run of it. The
// server deletes the files.
func (s *Service) erase(ctx context.Context, a Actor, kind, id string, find func(tx *state.Tx) error) (*Erased, error) {
	if err := a.may(ScopeRun); err != nil {
		return nil, err
	}
	out := &Erased{ID: id}
	now, entry := s.Now(), s.Secrets.ID("aud_")
	err := s.write(ctx, func(tx *state.Tx) error {
		if err := find(tx); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, a, now, kind+".erasing", map[string]string{kind: id}); err != nil {
			return err
		}
		if err := tx.RequestErasure(ctx, kind, id, now); err != nil {
			return err
		}
		var err error
		out.Erased, err = tx.EraseRows(ctx, state.Erasure{Kind: kind, Subject: id, RequestedAt: now}, entry, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
