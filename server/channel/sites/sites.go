// Package sites looks at the sites of workspaces once a day, and remembers what
// was found.
package sites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/server/channel/sitecheck"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	every  = 24 * time.Hour
	longer = 2 * time.Minute // than this no site is looked at
)

// A Service looks at sites.
type Service struct {
	DB      *state.DB
	Checker *sitecheck.Checker
	Log     *slog.Logger
	Now     func() time.Time
}

// Step looks at one site that is due; it says whether there was one.
func (s *Service) Step(ctx context.Context) (bool, error) {
	var workspace, site string
	now := s.Now()
	err := s.DB.Write(ctx, func(tx *state.Tx) error {
		var err error
		workspace, site, err = tx.TakeSite(ctx, now.Add(-every), now)
		return err
	})
	if errors.Is(err, state.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	checking, stop := context.WithTimeout(ctx, longer)
	defer stop()
	result, err := s.Checker.Check(checking, site)
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	if err != nil { // what was found until then counts
		result.Problems = append(result.Problems, fmt.Sprintf("looking at the site took longer than %s", longer))
	}
	body, err := json.Marshal(result)
	if err != nil {
		return true, err
	}
	return true, s.DB.Write(ctx, func(tx *state.Tx) error { return tx.SaveSite(ctx, workspace, site, body) })
}

// Run looks at what is due at each tick, until ctx ends.
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
				s.Log.Warn("a site was not looked at", "err", err)
				more = false
			}
		}
	}
}

// Result returns what was found at the site of a workspace; nil when nobody
// looked yet.
func (s *Service) Result(ctx context.Context, workspace string) (*sitecheck.Result, error) {
	body, err := s.DB.Read().SiteResult(ctx, workspace)
	if err != nil || body == nil {
		return nil, err
	}
	var r sitecheck.Result
	return &r, json.Unmarshal(body, &r)
}
