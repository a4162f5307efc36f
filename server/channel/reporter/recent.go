package reporter

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
)

// Recent returns the traffic that alerts look at, of the time until the last live
// event; nil while the read model is behind.
func (s *Service) Recent(ctx context.Context, workspace string, last time.Time) (*change.Traffic, error) {
	return s.DB.Recent(ctx, workspace, last)
}
