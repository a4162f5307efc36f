package sitecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

const (
	checkInterval = 24 * time.Hour  // of one site
	checkTimeout  = 2 * time.Minute // of one check
)

// A Service checks the sites of workspaces once a day and stores the results.
type Service struct {
	DB      *state.DB
	Checker *Checker
	Log     *slog.Logger
	Now     func() time.Time
}

// Step checks one site that is due. It reports whether there was one.
func (s *Service) Step(ctx context.Context) (bool, error) {
	var workspace, site string
	now := s.Now()
	err := s.DB.Write(ctx, func(tx *state.Tx) error {
		var err error
		workspace, site, err = tx.ClaimSite(ctx, now.Add(-checkInterval), now)
		return err
	})
	if errors.Is(err, state.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	checking, stop := context.WithTimeout(ctx, checkTimeout)
	defer stop()
	result, err := s.Checker.Check(checking, site)
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	if err != nil { // keep the results so far
		result.Problems = append(result.Problems, fmt.Sprintf("the check took longer than %s", checkTimeout))
	}
	body, err := json.Marshal(result)
	if err != nil {
		return true, err
	}
	return true, s.DB.Write(ctx, func(tx *state.Tx) error { return tx.SaveSite(ctx, workspace, site, body) })
}

// Run checks all due sites at each tick, until ctx ends.
func (s *Service) Run(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = s.Step(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("site check failed", "err", err)
				more = false
			}
		}
	}
}

// Result returns the result for the site of a workspace; nil before the first check.
func (s *Service) Result(ctx context.Context, workspace string) (*Result, error) {
	body, err := s.DB.Read().SiteResult(ctx, workspace)
	if err != nil || body == nil {
		return nil, err
	}
	var r Result
	return &r, json.Unmarshal(body, &r)
}
